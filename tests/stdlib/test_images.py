"""Convolutions, pools and upsampling against PyTorch in f64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .compare import FLOATS, UNIT, draw, near, same_bits, summing, tensor, torch
from .conftest import NUMPY_DTYPES, Run, tensor_type

F = torch.nn.functional
# B, C, H, W, Out, (KH, KW), strides, padding.
Case = tuple[int, int, int, int, int, tuple[int, int], tuple[int, int], tuple[int, int]]
CASES: list[Case] = [
    (1, 1, 1, 1, 1, (1, 1), (1, 1), (0, 0)),
    (2, 3, 7, 5, 4, (3, 2), (2, 1), (1, 0)),
    (1, 2, 6, 9, 3, (3, 3), (2, 2), (1, 1)),
    (3, 1, 2, 3, 2, (5, 5), (3, 3), (2, 2)),
    (0, 2, 4, 4, 3, (3, 3), (1, 1), (1, 1)),
    (1, 1, 5, 5, 2, (1, 1), (2, 2), (0, 0)),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("biased", [False, True])
def test_convolutions(run: Run, case: Case, biased: bool, dtype: str) -> None:
    b, c, h, w, out, kernel, stride, pad = case
    x, weight = draw(0, (b, c, h, w), dtype), draw(1, (out, c, *kernel), dtype)
    bias = draw(2, (out,), dtype)
    last = ", some(bias)" if biased else ""
    more = {"bias": bias} if biased else {}

    def check(op: str, *generics: int, rank: int = 2) -> None:
        """One row of the image, or all of it."""
        image, filters = (x, weight) if rank == 2 else (x[:, :, 0].copy(), weight[:, :, 0].copy())
        torch_op = F.conv2d if rank == 2 else F.conv1d
        steps, border = (stride, pad) if rank == 2 else (stride[1], pad[1])
        plain = torch_op(tensor(image), tensor(filters), None, steps, border)
        terms = torch_op(tensor(image).abs(), tensor(filters).abs(), None, steps, border)
        moved = tensor(bias).reshape(-1, *[1] * rank) if biased else torch.zeros(1).double()
        numbers = ", ".join(map(str, generics))
        result = tensor_type(tuple(plain.shape), dtype)
        call = f"{op}<{numbers}, {dtype}>(x, weight{last})"
        got = run(f"std.nn.conv::{{{op}}}", call, result, x=image, weight=filters, **more)
        count = c * int(np.prod(filters.shape[2:]))
        want = plain + moved
        # The product rounds, then its sum with the bias; and so do the products and sums.
        rounding = 1.01 * UNIT[dtype] * (plain.abs() + biased * want.abs())
        near(got, want, rounding + 2 * count * summing(dtype) * terms)

    check("conv2d_rect", b, c, h, w, out, *kernel, *stride, *pad)
    if kernel[0] == kernel[1]:
        check("conv2d", b, c, h, w, out, kernel[0], stride[0], pad[0])
    check("conv1d", b, c, w, out, kernel[1], stride[1], pad[1], rank=1)


# B, C, H, W, K, stride, padding, dilation.
DEPTHWISE = [
    (1, 1, 1, 1, 1, 1, 0, 1),
    (2, 3, 7, 5, 3, 1, 1, 1),
    (1, 2, 9, 8, 7, 1, 3, 1),
    (2, 2, 6, 9, 3, 2, 2, 2),
    (1, 3, 8, 7, 2, 3, 0, 3),
    (0, 2, 4, 4, 3, 1, 1, 1),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("case", DEPTHWISE)
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("biased", [False, True])
def test_channel_by_channel(
    run: Run, case: tuple[int, ...], rank: int, biased: bool, dtype: str
) -> None:
    b, c, h, w, k, stride, pad, dilation = case
    sizes = (b, c, h, w) if rank == 2 else (b, c, w)
    x, weight = draw(0, sizes, dtype), draw(1, (c, 1, *[k] * rank), dtype)
    bias = draw(2, (c,), dtype)
    op = F.conv2d if rank == 2 else F.conv1d
    filters = tensor(weight)

    def summed(image: Any, kernel: Any) -> Any:
        return op(image, kernel, None, stride, pad, dilation, c)

    plain, terms = summed(tensor(x), filters), summed(tensor(x).abs(), filters.abs())
    moved = tensor(bias).reshape(-1, *[1] * rank) if biased else torch.zeros(1).double()
    numbers = ", ".join(map(str, (*sizes, k, stride, pad, dilation)))
    name = f"depthwise_conv{rank}d"
    call = f"{name}<{numbers}, {dtype}>(x, weight{', some(bias)' if biased else ''})"
    more = {"bias": bias} if biased else {}
    result = tensor_type(tuple(plain.shape), dtype)
    got = run(f"std.nn.depthwise::{{{name}}}", call, result, x=x, weight=weight, **more)
    # As of other convolutions.
    rounding = 1.01 * UNIT[dtype] * (plain.abs() + biased * (plain + moved).abs())
    near(got, plain + moved, rounding + 2 * k**rank * summing(dtype) * terms)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 4, 5), (0, 1, 2, 3)])
def test_bits_that_only_move(run: Run, shape: tuple[int, int, int, int], dtype: str) -> None:
    x = draw(3, shape, dtype)
    sizes = ", ".join(map(str, shape))
    for high, wide in ((0, 0), (1, 2), (3, 0)):
        want = F.pad(tensor(x, dtype), (wide, wide, high, high))
        call = f"zero_pad<{sizes}, {high}, {wide}, {dtype}>(x)"
        result = tensor_type(tuple(want.shape), dtype)
        same_bits(run("std.nn.conv::{zero_pad}", call, result, x=x), want)
    for scale in (1, 2, 3):
        want = tensor(x, dtype).repeat_interleave(scale, 2).repeat_interleave(scale, 3)
        if x.size:
            again = F.interpolate(tensor(x), scale_factor=scale, mode="nearest")
            assert torch.equal(again, want.double())
        call = f"upsample_nearest2d<{sizes}, {scale}, {dtype}>(x)"
        result = tensor_type(tuple(want.shape), dtype)
        same_bits(run("std.nn.resize::{upsample_nearest2d}", call, result, x=x), want)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1, 2, 2), (2, 3, 7, 5), (1, 2, 6, 9)])
@pytest.mark.parametrize(("k", "stride", "pad"), [(1, 1, 0), (2, 2, 0), (2, 1, 1), (3, 2, 1)])
def test_pools(
    run: Run, shape: tuple[int, int, int, int], k: int, stride: int, pad: int, dtype: str
) -> None:
    x = draw(4, shape, dtype) - NUMPY_DTYPES[dtype].type(2)
    numbers = ", ".join(map(str, (*shape, k, stride, pad)))
    want = F.max_pool2d(tensor(x), k, stride, pad)
    result = tensor_type(tuple(want.shape), dtype)
    got = run("std.nn.pool::{max_pool2d}", f"max_pool2d<{numbers}, {dtype}>(x)", result, x=x)
    same_bits(got, want)
    use = "std.nn.pool::{average_pool2d}"
    got = run(use, f"average_pool2d<{numbers}, {dtype}>(x)", result, x=x)
    want = F.avg_pool2d(tensor(x), k, stride, pad)
    # The input rounds to f32, the sums of a window, and the quotient.
    terms = F.avg_pool2d(tensor(x).abs(), k, stride, pad)
    near(got, want, UNIT[dtype] * want.abs() + (k * k + 2) * UNIT["f32"] * terms)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 7, 5), (0, 2, 3, 3)])
def test_global_average(run: Run, shape: tuple[int, int, int, int], dtype: str) -> None:
    x = draw(5, shape, dtype)
    use, result = "std.nn.pool::{global_average_pool2d}", tensor_type(shape[:2], dtype)
    got = run(use, "global_average_pool2d(x)", result, x=x)
    want, terms = tensor(x).mean((2, 3)), tensor(x).abs().mean((2, 3))
    near(got, want, UNIT[dtype] * want.abs() + (shape[2] * shape[3] + 2) * UNIT["f32"] * terms)


def test_max_pool_keeps_nan(run: Run) -> None:
    x = np.array([[[[1.0, np.nan, 2.0, 3.0]]]], np.float32).repeat(2, axis=2)
    call, result = "max_pool2d<1, 1, 2, 4, 2, 2, 0, f32>(x)", "Tensor[1, 1, 1, 2; f32]"
    got = run("std.nn.pool::{max_pool2d}", call, result, x=x)
    np.testing.assert_array_equal(got.ravel(), [np.nan, 3.0])
