"""Tensors of PyTorch as inputs of a model: on torch they are taken as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from linnet import nest
from tests.cards import card_folder
from tests.nest.small import refused

SOURCE = """\
module m

pub block M<T: Float> {
    param w: Tensor[3, 4; T]
    state seen: Tensor[4; T]

    pub entry forward<B: Dim>(x: Tensor[B, 4; T]) -> Tensor[B, 3; T] {
        let y[b, o] = sum[i] x[b, i] * w[o, i]
        return y
    }

    pub entry same<B: Dim>(x: Tensor[B, 4; T]) -> Tensor[B, 4; T] {
        return x
    }

    pub entry keep(x: Tensor[4; T]) -> Tensor[4; T] {
        seen = x
        return seen + seen
    }

    pub entry more(x: Tensor[4; T]) -> Tensor[4; T] {
        seen = seen + x
        return seen
    }

    pub entry count(n: Tensor[2; i32]) -> Tensor[2; i32] {
        return n + n
    }
}
"""
TOML = """\
[model]
name = "m"
title = "M"
summary = "A product."
license = "MIT"
family = "m"
parameters = 12

[source]
path = "src/lib.linnet"
root = "M"
entry = "forward"

[generics]
T = "{}"

[weights]
files = ["model.safetensors"]
"""
GENERATE = pytest.mark.parametrize("generate", [False, True])


def load(parent: Path, dtype: str = "f32", backend: str = "torch", **options: Any) -> Any:
    card = card_folder(parent, "m", SOURCE, TOML.format(dtype))
    return nest.load(card, backend, weights="random", **options)


@GENERATE
def test_a_gradient_flows_to_an_input(tmp_path: Path, generate: bool) -> None:
    model = load(tmp_path, compile=generate, trainable=True)
    x = torch.randn(2, 4, generator=torch.Generator().manual_seed(1), requires_grad=True)
    model(x).sum().backward()
    # Of the sum of x w^T it is, in each row, the sum of the rows of w.
    expected = model.w.detach().double().sum(0).expand(2, 4)
    assert x.grad is not None
    # Sums of three numbers in f32.
    within = 3 * 2.0**-24 * 3 * float(model.w.detach().abs().max())
    torch.testing.assert_close(x.grad.double(), expected, rtol=0, atol=within)
    with torch.no_grad():
        assert not model(x).requires_grad


@GENERATE
def test_a_model_behind_other_modules(tmp_path: Path, generate: bool) -> None:
    before = torch.nn.Linear(5, 4)
    model = load(tmp_path, compile=generate, trainable=True)
    x = torch.randn(2, 5)
    net = torch.nn.Sequential(before, model)
    found = net(x)
    # Sums of four products in f32, in whatever order.
    sizes = before(x).detach().abs() @ model.w.detach().abs().T
    within = 2 * 4 * 2.0**-24 * float(sizes.max())
    torch.testing.assert_close(found, before(x) @ model.w.T, rtol=0, atol=within)
    found.sum().backward()
    assert before.bias.grad is not None and before.bias.grad.any()


@GENERATE
def test_a_model_that_is_not_trained_detaches_its_inputs(tmp_path: Path, generate: bool) -> None:
    model = load(tmp_path, compile=generate)
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    assert not model.keep(x).requires_grad
    assert not model.same(x[None]).requires_grad
    assert not model.state["seen"].requires_grad


@GENERATE
@pytest.mark.parametrize("trainable", [False, True])
def test_a_tensor_stays_that_of_the_caller(tmp_path: Path, generate: bool, trainable: bool) -> None:
    """What a model keeps of it is a copy, and so is what it gives back."""
    model = load(tmp_path, compile=generate, trainable=trainable)
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    model.keep(x)
    same = model.same(x[None])
    model.more(torch.ones(4))
    assert x.tolist() == [1, 2, 3, 4]
    x.zero_()
    assert model.state["seen"].tolist() == [2, 3, 4, 5]
    assert same.tolist() == [[1, 2, 3, 4]]


@GENERATE
def test_bf16(tmp_path: Path, generate: bool) -> None:
    model = load(tmp_path, "bf16", compile=generate)
    x = torch.tensor([[0.5, -1.5, 2.0, 3.0]], dtype=torch.bfloat16)
    found = model.same(x)
    assert found.dtype == torch.bfloat16 and torch.equal(found, x)
    array = x.float().numpy().astype(ml_dtypes.bfloat16)
    assert torch.equal(model(x), model(array))
    text = refused("E2103", model.same, x.float())
    assert "`x` is float32, bfloat16 is asked for" in text
    assert "help: convert it: `.to(torch.bfloat16)`" in text


def test_what_does_not_fit_is_told_as_of_arrays(tmp_path: Path) -> None:
    model = load(tmp_path)
    for dtype in (torch.bfloat16, torch.float64):
        given = torch.ones(2, 4, dtype=dtype, requires_grad=True)
        text = refused("E2103", model, given)
        assert f"`x` is {str(dtype)[6:]}, float32 is asked for" in text
        assert "help: convert it: `.to(torch.float32)`" in text
    assert "axis 1 is 5, it must be 4" in refused("E2202", model, torch.ones(2, 5))
    text = refused("E2202", model, torch.ones(4, requires_grad=True))
    assert "`x` has 1 dimension [4]" in text
    refused("E2103", model.count, torch.ones(2))
    refused("E2105", model.count, torch.tensor([1, 2**31]))
    assert model.count(torch.tensor([1, 2])).tolist() == [2, 4]
    refused("E2101", model, torch.ones(2, 4).to_sparse())
    refused("E2101", model, torch.ones(2, 4, device="meta"))
    refused("E2101", model, torch.ones(2, 4, dtype=torch.float8_e5m2))


def test_any_strides(tmp_path: Path) -> None:
    model = load(tmp_path)
    x = torch.arange(8.0).reshape(4, 2).T
    assert model.same(x).tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert model.same(torch.ones(1).expand(2, 4)).tolist() == [[1] * 4] * 2


def test_on_numpy_a_gradient_is_refused(tmp_path: Path) -> None:
    model = load(tmp_path, backend="numpy")
    text = refused("E2101", model, torch.ones(2, 4, requires_grad=True))
    assert "detach" in text
    found = model.same(torch.ones(2, 4))
    assert isinstance(found, np.ndarray) and found.tolist() == [[1] * 4] * 2
