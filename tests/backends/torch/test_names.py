"""Generated source in which a package has names of functions that the source calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linnet import nest
from linnet.source.errors import LinnetError

SOURCE = """\
module clash

use std.nn.decoding::{argmax}

pub fn model(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return x + 1.0
}

pub fn first_greatest(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return x + 2.0
}

pub block M<T: Float = f32> {
    param w: Tensor[3; f32]
    param table: Tensor[5; f32]

    pub entry forward<B: Dim>(x: Tensor[B, 3; f32]) -> (Tensor[B; i32], Tensor[3; f32]) {
        return (argmax(x), first_greatest(model(w)))
    }

    pub entry pick<B: Dim>(position: Tensor[B; i64]) -> Tensor[B; f32] {
        let picked[b] = table[position[b]]
        return picked
    }
}
"""
CARD = """\
[model]
name = "clash"
title = "t"
summary = "s"
license = "Apache-2.0"
family = "f"
tags = []
parameters = 8

[links]
huggingface = "https://huggingface.co/a/b"

[source]
path = "clash.linnet"
root = "M"
entry = "forward"

[generics]
T = "f32"

[weights]
repo = "a/b"
revision = "6cee5e81ee83917806bbde320786a8fb61efebee"
files = ["model.safetensors"]
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Any:
    """The card on torch."""
    folder = tmp_path / "clash"
    folder.mkdir()
    (folder / "clash.linnet").write_text(SOURCE, "utf-8")
    (folder / "nest.toml").write_text(CARD, "utf-8")
    return nest.load(folder, "torch", weights="random")


def test_functions_of_a_package_hide_none_that_the_source_calls(loaded: Any) -> None:
    x = np.array([[0, 2, 1], [5, 4, 3]], np.float32)
    greatest, moved = loaded(x)
    assert greatest.tolist() == [1, 0]
    # `w + 1` rounds before `+ 2` does.
    assert torch.equal(moved, (loaded.w + 1.0) + 2.0)


def test_a_variable_hides_none_that_its_function_calls(loaded: Any) -> None:
    """`position` is a parameter here, and what refuses a negative one."""
    assert torch.equal(loaded.pick([4, 0]), loaded.table[[4, 0]])
    with pytest.raises(LinnetError) as refused:
        loaded.pick([-1])
    assert "E2209" in str(refused.value)
