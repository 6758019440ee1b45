"""Convolutions and pooling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends.torch.kernels.harness import (
    FLOATS,
    NUMPY_DTYPES,
    UNIT,
    Call,
    call,
    draw,
    near,
    product_bound,
    same,
    wide,
)

# B, C, H, W, Out, KH, KW, StrideH, StrideW, PadH, PadW.
RECT = [
    (1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0),
    (2, 3, 7, 5, 4, 3, 2, 2, 1, 1, 0),
    (1, 2, 4, 9, 3, 4, 3, 1, 3, 0, 2),
    (0, 2, 3, 3, 2, 2, 2, 1, 1, 0, 0),
]
NAMES = ("B", "C", "H", "W", "Out", "KH", "KW", "StrideH", "StrideW", "PadH", "PadW")


def convolve(op: str, size: tuple[int, ...], biased: bool, dtype: str) -> Call:
    g: dict[str, Any] = dict(zip(NAMES, size, strict=True)) | {"T": dtype}
    image, kernel = (g["B"], g["C"], g["H"], g["W"]), (g["Out"], g["C"], g["KH"], g["KW"])
    if op == "conv2d":
        g |= {"K": g["KH"], "Stride": g["StrideH"], "Pad": g["PadH"]}
        kernel = (g["Out"], g["C"], g["K"], g["K"])
        g = {
            n: v
            for n, v in g.items()
            if (n[:2] not in ("KH", "KW") and n[-1:] not in "HW") or n in "HW"
        }
        g = {n: g[n] for n in ("B", "C", "H", "W", "Out", "K", "Stride", "Pad", "T")}
    elif op == "conv1d":
        g = {n: g[n] for n in ("B", "C", "Out", "T")} | {
            "L": g["W"],
            "K": g["KW"],
            "Stride": g["StrideW"],
            "Pad": g["PadW"],
        }
        image, kernel = (*image[:2], g["L"]), (*kernel[:2], g["K"])
    arrays = {"x": draw(0, image, dtype), "weight": draw(1, kernel, dtype)}
    if biased:
        arrays["bias"] = draw(2, (g["Out"],), dtype)
    return call(f"std.nn.conv::{op}", g, **arrays)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", RECT)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("op", ["conv2d_rect", "conv2d", "conv1d"])
def test_convolutions(op: str, size: tuple[int, ...], biased: bool, dtype: str) -> None:
    made = convolve(op, size, biased, dtype)
    (want,) = made.body()
    # Of the terms without a sign, in f64.
    arrays = {n: abs(wide(a)) for n, a in made.arrays.items()}
    f64 = dict(made.site.signature.generics)
    generics = {n: v.as_int() for n, v in f64.items() if n != "T"} | {"T": "f64"}
    (terms,) = call(made.site.op, generics, **arrays).body()
    count = int(np.prod(made.arrays["weight"].shape[1:])) + 1
    # The product may round before the bias, whose size is within that of the terms.
    bias = np.abs(wide(made.arrays["bias"])).max() if biased else 0.0
    limit = product_bound(dtype, 2 * abs(wide(want)) + bias, terms, count)
    for numerics in ("equivalent", "fast"):
        named = made.chosen(numerics)
        assert named == f"torch.{op}" + ("_then_bias" if numerics == "equivalent" else "")
        near(made.run(named)[0], want, limit)


@pytest.mark.parametrize(("dtype", "large"), [("bf16", 256.0), ("f16", 2048.0)])
def test_the_sum_rounds_before_the_bias_where_that_is_asked_for(dtype: str, large: float) -> None:
    numbers = {"x": [[[large, 1.0]]], "weight": [[[1.0, 1.0]]], "bias": [1.0]}
    arrays = {n: np.array(v, NUMPY_DTYPES[dtype]) for n, v in numbers.items()}
    generics = {"B": 1, "C": 1, "L": 2, "Out": 1, "K": 2, "Stride": 1, "Pad": 0, "T": dtype}
    made = call("std.nn.conv::conv1d", generics, **arrays)
    same(made.run("torch.conv1d_then_bias")[0], made.body()[0])
    assert wide(made.body()[0]).item() == large


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_sums_of_16_bits_are_wider(dtype: str) -> None:
    """Ones: in the dtype itself a sum would stop at 2048, or 256."""
    x, weight = (
        np.ones((1, 3000, 3), NUMPY_DTYPES[dtype]),
        np.ones((2, 3000, 1), NUMPY_DTYPES[dtype]),
    )
    generics = {"B": 1, "C": 3000, "L": 3, "Out": 2, "K": 1, "Stride": 1, "Pad": 0, "T": dtype}
    made = call("std.nn.conv::conv1d", generics, x=x, weight=weight)
    same(made.run("torch.conv1d_then_bias")[0], made.body()[0])


def test_what_no_convolution_is_for() -> None:
    made = convolve("conv1d", RECT[1], True, "f32")
    assert made.chosen("equivalent", "cuda") == "body"
    assert str(made.refused("torch.conv1d_then_bias", "cuda")).startswith(
        "the device is cuda: it may"
    )
    empty = convolve("conv1d", (1, 0, 1, 3, 2, 1, 2, 1, 1, 0, 0), False, "f32")
    assert (empty.chosen("fast"), empty.refused("torch.conv1d")) == ("body", "`C` is 0")


# B, C, H, W, K, Stride, Pad.
POOLS = [(1, 1, 1, 1, 1, 1, 0), (2, 3, 7, 5, 3, 2, 1), (1, 2, 4, 6, 2, 3, 1), (0, 2, 3, 3, 2, 1, 0)]


def pool(op: str, size: tuple[int, ...], x: Any, dtype: str) -> Call:
    generics = dict(zip(("B", "C", "H", "W", "K", "Stride", "Pad"), size, strict=True))
    if op == "global_average_pool2d":
        generics = {n: generics[n] for n in "BCHW"}
    return call(f"std.nn.pool::{op}", generics | {"T": dtype}, x=x)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", POOLS)
def test_pools(size: tuple[int, ...], dtype: str) -> None:
    x = draw(3, size[:4], dtype)
    x.reshape(-1)[1:4] = [np.nan, -np.inf, np.inf][: max(0, min(3, x.size - 1))]
    made = pool("max_pool2d", size, x, dtype)
    assert made.chosen("equivalent") == "torch.max_pool2d"
    near(made.run("torch.max_pool2d")[0], made.body()[0], 0.0)
    x = draw(4, size[:4], dtype)
    for op, count in (
        ("average_pool2d", size[4] ** 2),
        ("global_average_pool2d", size[2] * size[3]),
    ):
        made = pool(op, size, x, dtype)
        assert made.chosen("equivalent") == f"torch.{op}"
        (got,), (want,) = made.run(f"torch.{op}"), made.body()
        top = float(abs(wide(x)).max(initial=0))
        near(got, want, 2.02 * UNIT[dtype] * abs(wide(want)) + 2 * (count + 2) * UNIT["f32"] * top)


def test_padding_that_the_framework_refuses() -> None:
    made = pool("average_pool2d", (1, 1, 2, 2, 3, 1, 2), draw(5, (1, 1, 2, 2), "f32"), "f32")
    assert made.chosen("fast") == "body"
    assert made.refused("torch.average_pool2d") == "`Pad` is 2, more than half of `K`, 3"
