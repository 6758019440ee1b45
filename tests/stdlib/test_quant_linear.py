"""Formats per row and per group: weights bit for bit, products against PyTorch in f64.

The packed numbers are made here from plain ones, as each format says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from linnet.backends.base import RuntimeFault

from .compare import FLOATS, TORCH, UNIT, draw, near, same_bits, summing, tensor, torch
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


@dataclass
class Weights:
    """The inputs of an op, its generics, and the weights `[Out, In]` as they should come out."""

    generics: str
    inputs: dict[str, Array]
    want: Any


def scales(out: int) -> Array:
    return np.random.default_rng(1).uniform(0.01, 2.0, out).astype(np.float32)


def by_row(codes: Array, numbers: Any, dtype: str, generics: str) -> Weights:
    """`numbers [Out, In]` in f32, each row of which has a scale."""
    scale = scales(codes.shape[0])
    want = (numbers * torch.from_numpy(scale)[:, None]).to(TORCH[dtype])
    return Weights(generics, {"weight": codes, "scale": scale}, want)


def int8(out: int, width: int, dtype: str) -> Weights:
    q = np.random.default_rng(2).integers(-128, 128, (out, width)).astype(np.int8)
    return by_row(q, torch.from_numpy(q).float(), dtype, f"[{out}], {width}, {dtype}")


def int4(out: int, width: int, dtype: str) -> Weights:
    q = np.random.default_rng(3).integers(-8, 8, (out, width * 2))
    packed = ((q[:, 0::2] & 15) | ((q[:, 1::2] & 15) << 4)).astype(np.uint8)
    return by_row(packed, torch.from_numpy(q).float(), dtype, f"[{out}], {width}, {dtype}")


def fp8(out: int, width: int, dtype: str) -> Weights:
    q = np.random.default_rng(4).integers(0, 256, (out, width)).astype(np.uint8)
    q[(q & 127) == 127] = 5
    numbers = torch.from_numpy(q).view(torch.float8_e4m3fn).float()
    return by_row(q, numbers, dtype, f"[{out}], {width}, {dtype}")


def word(nibbles: Array) -> Array:
    """Eight numbers of the last axis in one, the lowest bits first."""
    places = np.arange(8, dtype=np.int64) * 4
    return (nibbles.astype(np.int64) << places).sum(-1).astype(np.uint32).view(np.int32)


def gptq(out: int, width: int, dtype: str) -> Weights:
    """`out` and `width` in eights, three groups in no order."""
    rng = np.random.default_rng(5)
    code = rng.integers(0, 16, (width * 8, out * 8))
    zero, groups = rng.integers(1, 17, (3, out * 8)), rng.integers(0, 3, width * 8)
    scale = rng.uniform(0.01, 2.0, (3, out * 8)).astype(NUMPY_DTYPES[dtype])
    inputs = {
        "weight": word(code.reshape(width, 8, out * 8).swapaxes(1, 2)),
        "zeros": word((zero - 1).reshape(3, out, 8)),
        "scales": scale,
        "groups": groups.astype(np.int32),
    }
    numbers = tensor(code - zero[groups], dtype) * tensor(scale, dtype)[torch.from_numpy(groups)]
    return Weights(f"{width}, {out}, 3, {dtype}", inputs, numbers.T)


def awq(out: int, width: int, dtype: str) -> Weights:
    """`out` in eights, two groups of `width`."""
    rng = np.random.default_rng(6)
    code, zero = rng.integers(0, 16, (2 * width, out * 8)), rng.integers(0, 16, (2, out * 8))
    scale = rng.uniform(0.01, 2.0, (2, out * 8)).astype(NUMPY_DTYPES[dtype])
    inputs = {
        "weight": word(code.reshape(2 * width, out, 8)[..., AWQ_ORDER]),
        "zeros": word(zero.reshape(2, out, 8)[..., AWQ_ORDER]),
        "scales": scale,
    }
    each = tensor(scale, dtype).repeat_interleave(width, 0)
    numbers = tensor(code - zero.repeat(width, 0), dtype) * each
    return Weights(f"{2 * width}, 2, {out}, {dtype}", inputs, numbers.T)


FORMATS = {"int8": int8, "int4": int4, "fp8": fp8, "gptq": gptq, "awq": awq}
SIZES = [(1, 1), (3, 7), (2, 5), (0, 3), (4, 0)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("out", "width"), SIZES)
@pytest.mark.parametrize("name", FORMATS)
def test_weights(run: Run, name: str, out: int, width: int, dtype: str) -> None:
    it = FORMATS[name](out, width, dtype)
    call = f"dequantize_{name}<{it.generics}>({', '.join(it.inputs)})"
    result = tensor_type(tuple(it.want.shape), dtype)
    got = run(f"std.quant::{{dequantize_{name}}}", call, result, **it.inputs)
    assert got.dtype == NUMPY_DTYPES[dtype] and got.shape == tuple(it.want.shape)
    same_bits(got, it.want)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("leading", [(), (3,), (2, 0)])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_products(run: Run, name: str, biased: bool, leading: tuple[int, ...], dtype: str) -> None:
    it = FORMATS[name](2, 3, dtype)
    out, n = it.want.shape
    x, bias = draw(7, (*leading, n), dtype), draw(8, (out,), dtype)
    more = it.inputs | ({"bias": bias} if biased else {})
    last = ", some(bias)" if biased else ""
    call, result = (
        f"linear_{name}(x, {', '.join(it.inputs)}{last})",
        tensor_type((*leading, out), dtype),
    )
    got = run(f"std.quant::{{linear_{name}}}", call, result, x=x, **more)
    weight = it.want.double()
    product = torch.nn.functional.linear(tensor(x), weight)
    terms = torch.nn.functional.linear(tensor(x).abs(), weight.abs())
    want = product + tensor(bias) if biased else product
    # As linear: the weights are rounded to the dtype already.
    rounding = 1.01 * UNIT[dtype] * (product.abs() + want.abs())
    near(got, want, rounding + 2 * n * summing(dtype) * terms)


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_code_of_fp8(run: Run, dtype: str) -> None:
    codes = np.arange(256, dtype=np.uint8).reshape(1, 256)
    want = torch.from_numpy(codes).view(torch.float8_e4m3fn).float().to(TORCH[dtype]).double()
    call, result = f"dequantize_fp8<[1], 256, {dtype}>(q, s)", tensor_type((1, 256), dtype)
    one = np.ones(1, np.float32)
    got = run("std.quant::{dequantize_fp8}", call, result, q=codes, s=one).astype(np.float64)
    assert np.isnan(got).nonzero()[1].tolist() == [127, 255]
    np.testing.assert_array_equal(got, want.numpy())
    assert (np.signbit(got[:, 128:255])).all()


def test_a_group_that_does_not_exist_is_an_error(run: Run) -> None:
    it = gptq(1, 1, "f32")
    it.inputs["groups"][3] = 3
    call, result = f"dequantize_gptq<{it.generics}>({', '.join(it.inputs)})", "Tensor[8, 8; f32]"
    with pytest.raises(RuntimeFault, match="index 3 is out of range"):
        run("std.quant::{dequantize_gptq}", call, result, **it.inputs)
