"""CUDA graphs on a GPU: replays give the bits of runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.backends.torch.layered import load, write_card

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_replays_give_what_runs_give(tmp_path: Path) -> None:
    card = write_card(tmp_path)
    model = load(card, "reduce-overhead", device="cuda")
    plain = load(card, True, device="cuda")
    tokens = np.random.default_rng(0).integers(0, 32, 64)
    for count in (5, 6, 5):
        model.reset_state()
        plain.reset_state()
        assert torch.equal(model.prefill(tokens[:count], 0), plain.prefill(tokens[:count], 0))
        for at in range(count, count + 8):
            step = tokens[at : at + 1], at
            assert torch.equal(model.decode(*step), plain.decode(*step))
        for path, state in plain.state.items():
            assert torch.equal(model.state[path], state)
    assert [int(model.count()) for _ in range(3)] == [1, 2, 3]
    assert model.variants == {"prefill": 2, "decode": 1, "count": 1}
