"""layer_norm, batch_norm and group_norm against PyTorch in f64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .compare import FLOATS, UNIT, draw, near, tensor, torch
from .conftest import Array, Run, tensor_type

F = torch.nn.functional
F32 = UNIT["f32"]
EPS = float(np.float32(1e-5))


def bound(x: Any, weight: Any, want: Any, eps: float, dtype: str) -> Any:
    """Of a normalization of the last axis, which `weight` and `want` fit.

    In f32 the input and the mean round, the mean after n sums: that moves the distance from the
    mean by `shift`. The variance is off by twice that, relative to its root, and by n + 3
    roundings; the reciprocal root takes half of both. Then there are three products and sums.
    """
    n = x.shape[-1]
    centered = x - x.mean(-1, keepdim=True)
    rate = torch.rsqrt(centered.square().mean(-1, keepdim=True) + eps)
    normed = centered * rate
    shift = (n + 3) * F32 * x.abs().amax(-1, keepdim=True) * rate
    wide = shift + normed.abs() * (shift + (n / 2 + 6) * F32)
    return 1.01 * (weight.abs() * wide + 2 * F32 * want.abs()) + UNIT[dtype] * want.abs()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 33), (0, 4), (2, 3, 5)])
@pytest.mark.parametrize("scale", [1e-3, 30.0])
@pytest.mark.parametrize("biased", [False, True])
def test_layer_norm(
    run: Run, shape: tuple[int, ...], scale: float, biased: bool, dtype: str
) -> None:
    x = (draw(0, shape, "f64", scale) + scale).astype(draw(0, (1,), dtype).dtype)
    w, b = draw(1, shape[-1:], dtype), draw(2, shape[-1:], dtype)
    inputs = {"x": x, "w": w} | ({"b": b} if biased else {})
    call = f"layer_norm(x, w{', some(b)' if biased else ''})"
    got = run("std.nn.norm::{layer_norm}", call, tensor_type(shape, dtype), **inputs)
    plain = F.layer_norm(tensor(x), shape[-1:], tensor(w), None, EPS)
    want = plain + tensor(b) if biased else plain
    near(got, want, bound(tensor(x), tensor(w), plain.abs() + want.abs(), EPS, dtype))


def test_layer_norm_takes_its_epsilon(run: Run) -> None:
    x, w = np.array([[1.0, -1.0]], np.float32), np.ones(2, np.float32)
    use, result = "std.nn.norm::{layer_norm}", "Tensor[1, 2; f32]"
    assert run(use, "layer_norm(x, w, eps = 3.0)", result, x=x, w=w).tolist() == [[0.5, -0.5]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (3, 5, 7, 2), (0, 2, 3, 3), (2, 3, 0, 1)])
def test_batch_norm(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    each = shape[1:2]
    x = draw(3, shape, dtype, 5.0)
    mean, variance, w, b = (draw(seed, each, dtype) for seed in range(4, 8))
    variance = np.abs(variance)
    inputs: dict[str, Array] = {"mean": mean, "variance": variance, "w": w, "b": b}
    for eps in (EPS, 0.25):
        call = f"batch_norm(x, mean, variance, w, b{', eps = 0.25' if eps == 0.25 else ''})"
        use, result = "std.nn.norm::{batch_norm}", tensor_type(shape, dtype)
        got = run(use, call, result, x=x, **inputs)
        wide = {name: tensor(v) for name, v in inputs.items()}
        if x.size:
            want = F.batch_norm(
                tensor(x), wide["mean"], wide["variance"], wide["w"], wide["b"], eps=eps
            )
        else:
            want = tensor(x)
        m, v, w_, b_ = (t.reshape(1, -1, 1, 1) for t in wide.values())
        rate = w_.abs() * torch.rsqrt(v + eps)
        # Two inputs and their difference round, then the reciprocal root of a sum of two rounded
        # numbers, its product with a rounded weight, one more, a rounded bias and the sum.
        distance = (tensor(x) - m).abs() * rate
        error = (tensor(x).abs() + m.abs()) * rate + 8 * distance + b_.abs() + want.abs()
        near(got, want, 1.01 * F32 * error + UNIT[dtype] * want.abs())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("shape", "groups"),
    [((2, 1, 1, 1), 1), ((3, 6, 5, 3), 3), ((2, 5, 3, 1), 5), ((2, 4, 3, 3), 1), ((0, 4, 3, 3), 2)],
)
def test_group_norm(run: Run, shape: tuple[int, ...], groups: int, dtype: str) -> None:
    b, c, h, w = shape
    x, weight, bias = draw(8, shape, dtype), draw(9, (c,), dtype), draw(10, (c,), dtype)
    call = f"group_norm<{b}, {c}, {h}, {w}, {groups}, {dtype}>(x, weight, bias)"
    use, result = "std.nn.norm::{group_norm}", tensor_type(shape, dtype)
    got = run(use, call, result, x=x, weight=weight, bias=bias)
    plain = F.group_norm(tensor(x), groups, tensor(weight), None, EPS)
    want = plain + tensor(bias).reshape(1, -1, 1, 1)
    rows = tensor(x).reshape(b, groups, c // groups * h * w)
    every = tensor(weight).reshape(1, -1, 1, 1).expand(shape).reshape(rows.shape)
    size = (plain.abs() + want.abs()).reshape(rows.shape)
    near(got, want, bound(rows, every, size, EPS, dtype).reshape(shape))
