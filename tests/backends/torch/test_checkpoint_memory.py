"""Parameters that are the memory of a checkpoint's file: a model may write its own, the file and
other models stay as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from linnet import nest

CHECKPOINT = Path(nest.__file__).parents[2] / "models" / "gpt-oss-tiny" / "model.safetensors"


def loaded() -> Any:
    return nest.load("gpt-oss-tiny", "torch", progress=False)


def test_a_state_dict_is_loaded_and_a_parameter_written() -> None:
    before = CHECKPOINT.read_bytes()
    source, target, other = loaded(), loaded(), loaded()
    with torch.no_grad():
        source.norm.weight.mul_(2)
    wanted = source([[1, 2, 3]])
    plain = other([[1, 2, 3]])
    assert not torch.equal(wanted, plain)
    target.load_state_dict(source.state_dict())
    assert torch.equal(target([[1, 2, 3]]), wanted)
    assert torch.equal(other([[1, 2, 3]]), plain)
    assert CHECKPOINT.read_bytes() == before
