"""A device of PyTorch in place of its name."""

from __future__ import annotations

import numpy as np
import pytest

from linnet import nest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("backend", ["torch", "numpy"])
def test_a_device_is_as_good_as_its_name(backend: str) -> None:
    def logits(device: object) -> object:
        model = nest.load("gpt-oss-20b", backend, tiny=True, device=device, progress=False)
        return np.asarray(model([[1, 2]]))

    np.testing.assert_array_equal(logits(torch.device("cpu")), logits("cpu"))
