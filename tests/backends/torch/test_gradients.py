"""Gradients of a trainable model agree with central differences of the reference in f64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linnet.backends.base import Compiled, get_backend
from linnet.backends.contract import Given, Sources
from linnet.backends.torch.kernels.functions.decoding import top_k
from linnet.backends.torch.semantics import rounded
from linnet.ir.core import Module
from linnet.lower.module import lower_entry, lower_entry_as_written
from linnet.lower.outline import outline_of
from linnet.pipeline import check_paths
from tests.backends.torch.layered import load, write_card

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


# --- through states --------------------------------------------------------------

PROMPT, NEXT = [3, 7, 1], 5


def grads(model: Any, loss: Any) -> dict[str, Any]:
    """The gradients of the sum of `loss`, which the model does not keep."""
    loss.sum().backward()
    found = {path: p.grad.clone() for path, p in model.named_parameters()}
    model.zero_grad()
    return found


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_of_a_number_that_is_rounded_once(dtype: torch.dtype) -> None:
    """By way of f32 it would be a tie that is not there: its bits are put together, and what is
    rounded moves as what it is rounded to."""
    tie = {torch.bfloat16: 1 + 2.0**-8, torch.float16: 1 + 2.0**-11}[dtype]
    numbers = [tie + 2.0**-40, tie - 2.0**-40, -tie, 0.1, 0.0, -0.0, 2.0**-140, 1e300, -np.inf]
    x = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
    y = rounded(x, dtype)
    assert torch.equal(y.view(torch.int16), rounded(x.detach(), dtype).view(torch.int16))
    (found,) = torch.autograd.grad(y[:7].sum(), x)
    assert found.tolist() == [1.0] * 7 + [0.0] * 2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_of_the_greatest_numbers(dtype: torch.dtype) -> None:
    x = torch.tensor([[3.0, 1.0, 4.0, 1.5]], dtype=dtype, requires_grad=True)
    values, places = top_k(x, 2)
    assert values.tolist() == [[4.0, 3.0]] and places.tolist() == [[2, 0]]
    (found,) = torch.autograd.grad((values * torch.tensor([2.0, 5.0], dtype=dtype)).sum(), x)
    assert found.tolist() == [[5.0, 0.0, 2.0, 0.0]]


@pytest.mark.parametrize("generate", [False, True])
def test_a_state_at_zero_has_no_past(tmp_path: Path, generate: bool) -> None:
    """Each step of a training begins with `reset_state`."""
    model = load(write_card(tmp_path), generate, trainable=True)
    steps: list[dict[str, Any]] = []
    results: list[Any] = []
    for _ in range(3):
        model.reset_state()
        assert not any(s.requires_grad or s.any() for s in model.state.values())
        results.append(model.prefill(PROMPT, 0))
        steps.append(grads(model, results[-1]))
    for path, first in steps[0].items():
        assert first.any()
        assert all(torch.equal(first, step[path]) for step in steps)
    # What is reset while a run's results are there still leaves their gradients as they are.
    model.reset_state()
    kept = model.prefill(PROMPT, 0)
    model.reset_state()
    model.prefill([NEXT], 0)
    for path, found in grads(model, kept).items():
        assert torch.equal(found, steps[0][path])


@pytest.mark.parametrize("generate", [False, True])
def test_runs_that_read_what_one_before_kept(tmp_path: Path, generate: bool) -> None:
    """The gradients of a step after a prompt are those of the whole text at once, and a write into
    a state leaves what earlier results were computed with as it is."""
    model = load(write_card(tmp_path), generate, trainable=True)
    whole = grads(model, model.prefill([*PROMPT, NEXT], 0))
    model.reset_state()
    first = grads(model, model.prefill(PROMPT, 0))
    model.reset_state()
    prompt = model.prefill(PROMPT, 0)
    step = model.decode([NEXT], len(PROMPT))
    both = grads(model, prompt + step)
    for path, found in both.items():
        wanted = whole[path] + first[path]
        # Sums in f32, of fewer than a hundred numbers one after the other.
        within = 100 * 2.0**-24 * float(wanted.abs().max())
        torch.testing.assert_close(found, wanted, rtol=0, atol=within)


@pytest.mark.parametrize("generate", [False, True])
def test_no_grad_is_respected(tmp_path: Path, generate: bool) -> None:
    """Results of a model that is trained are measured, and its text made, without a past."""
    model = load(write_card(tmp_path), generate, trainable=True)
    with torch.no_grad():
        assert not model.prefill(PROMPT, 0).requires_grad
    assert not any(s.requires_grad for s in model.state.values())
    assert model.decode([NEXT], len(PROMPT)).requires_grad
