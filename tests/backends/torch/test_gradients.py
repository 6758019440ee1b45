"""Gradients of a trainable model agree with central differences of the reference in f64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linnet.backends.base import Compiled, get_backend
from linnet.backends.contract import Given, Sources
from linnet.ir.core import Module
from linnet.lower.module import lower_entry, lower_entry_as_written
from linnet.lower.outline import outline_of
from linnet.pipeline import check_paths

SOURCE = """module m

use std.nn.activations::{silu}
use std.nn.linear::{linear}
use std.nn.norm::{rms_norm}

pub block Model {
    param norm: Tensor[4; f64]
    param up: Tensor[5, 4; f64]
    param down: Tensor[3, 5; f64]
    param bias: Tensor[3; f64]

    pub entry forward<B: Dim>(x: Tensor[B, 4; f64]) -> Tensor[B, 3; f64] {
        return linear(silu(linear(rms_norm(x, norm, 0.00001), up)), down, some(bias))
    }
}
"""
SHAPES = {"norm": (4,), "up": (5, 4), "down": (3, 5), "bias": (3,)}
STEP = 2.0**-17
"""Near the third root of the unit roundoff of f64: the error of a central difference is then at
most about its square, some 1e-10, times the third derivative."""


def compiled(folder: Path, weights: dict[str, Any]) -> Compiled:
    path = folder / "m.linnet"
    path.write_text(SOURCE, "utf-8")
    result = check_paths([path])
    assert not list(result.sink)
    program = result.program

    def lower(entry: str, given: Given) -> Module:
        return lower_entry(program, "m::Model", {}, entry, lambda _: True, dict(given))

    sources = Sources(
        lambda entry, given: lower_entry_as_written(
            program, "m::Model", {}, entry, lambda _: True, dict(given)
        ),
        lambda: outline_of(program, "m::Model", {}, lambda _: True),
    )
    return Compiled("m", ("forward",), lower, weights, (), sources)


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize("generate", [False, True])
def test_of_two_layers_behind_a_norm(tmp_path: Path, numerics: Any, generate: bool) -> None:
    draw = np.random.default_rng(0).standard_normal
    weights = {path: draw(shape) for path, shape in SHAPES.items()}
    x, aim = draw((2, 4)), draw((2, 3))
    options = {"compile": generate, "trainable": True}
    model = get_backend("torch").load(
        compiled(tmp_path, weights), numerics=numerics, device=None, **options
    )
    (found,) = model.call("forward", [x])
    ((found - torch.from_numpy(aim)) ** 2).sum().backward()
    got = {path: p.grad.numpy() for path, p in model.module.named_parameters()}
    assert got.keys() == weights.keys()

    reference = get_backend("numpy").load(
        compiled(tmp_path, weights), numerics="exact", device=None
    )

    def loss() -> float:
        (value,) = reference.call("forward", [x])
        return float(((value - aim) ** 2).sum())

    for path, array in weights.items():
        wanted = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            kept = array[at]
            array[at] = kept + STEP
            above = loss()
            array[at] = kept - STEP
            wanted[at] = (above - loss()) / (2 * STEP)
            array[at] = kept
        assert np.abs(wanted).max() > 0.01
        np.testing.assert_allclose(got[path], wanted, rtol=1e-6, atol=1e-7)
