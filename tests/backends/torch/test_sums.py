"""Reductions, running sums and contractions in PyTorch against the reference.

Numbers are small integers, so that every sum is exact whatever its order, unless a test says
otherwise.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.numpy.interpreter import run
from linnet.dtypes import FLOATS, INTEGERS, DType
from linnet.ir.types import Type
from tests.backends.numpy.harness import tensor, type_of
from tests.backends.numpy.test_exhaustive import telling
from tests.backends.torch.harness import both, in_torch, operation

NUMBERS = sorted(INTEGERS | FLOATS, key=str)
PAIRS = [*product(sorted(INTEGERS, key=str), repeat=2), *product(sorted(FLOATS, key=str), repeat=2)]


def small(shape: tuple[int, ...], dtype: DType, seed: int = 0) -> Any:
    low = -3 if dtype.is_float or dtype.is_signed else 0
    return np.random.default_rng(seed).integers(low, 4, shape).astype(NUMPY[dtype])


def without(shape: tuple[int, ...], axes: tuple[int, ...], dtype: DType) -> Type:
    rest = [n for a, n in enumerate(shape) if a not in axes]
    return tensor(rest, dtype) if rest else Type(dtype)


@pytest.mark.parametrize(("dtype", "accumulator"), PAIRS)
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_reduce(op: str, dtype: DType, accumulator: DType) -> None:
    for shape, axes in [
        ((2, 3, 5), (2,)), ((2, 3, 5), (0,)), ((2, 3, 2), (0, 2)), ((2, 3), (0, 1)),
        ((0, 3), (0,)), ((0, 3), (1,)), ((3, 0), (0, 1)), ((7,), (0,)),
    ]:  # fmt: skip
        attrs = {"op": op, "axes": axes, "accumulator": accumulator}
        both("reduce", [small(shape, dtype)], without(shape, axes, dtype), **attrs)


@pytest.mark.parametrize(("dtype", "accumulator"), PAIRS)
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_reduce_telling_values(op: str, dtype: DType, accumulator: DType) -> None:
    """Integers wrap; of floats no sum of more than two, whose order would matter."""
    values = np.asarray(telling(dtype), NUMPY[dtype])
    if dtype.is_float and op in ("max", "min"):
        values = values[values != 0]
    for count in (1, 2) if dtype.is_float and op in ("sum", "prod") else (1, 2, values.size):
        rows = np.stack([np.roll(values, k) for k in range(count)], axis=-1)
        attrs = {"op": op, "axes": (1,), "accumulator": accumulator}
        both("reduce", [rows], tensor([values.size], dtype), **attrs)


@pytest.mark.parametrize("op", ["any", "all"])
@pytest.mark.parametrize(
    ("shape", "axes"), [((2, 3), (1,)), ((2, 3), (0, 1)), ((0, 3), (0,)), ((2, 0, 3), (1, 2))]
)
def test_reduce_bool(op: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).integers(0, 2, shape).astype(np.bool_)
    attrs = {"op": op, "axes": axes, "accumulator": DType.BOOL}
    both("reduce", [x], without(shape, axes, DType.BOOL), **attrs)


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=str))
def test_nan_is_the_extreme(dtype: DType) -> None:
    x = np.asarray([[np.nan, 1, 2], [1, 2, np.nan], [1, 2, 3], [-np.inf, np.inf, 1]], NUMPY[dtype])
    for op in ("max", "min"):
        attrs = {"op": op, "axes": (1,), "accumulator": dtype}
        both("reduce", [x], tensor([4], dtype), **attrs)


@pytest.mark.parametrize(("dtype", "accumulator"), PAIRS)
def test_cumsum(dtype: DType, accumulator: DType) -> None:
    for shape, axis in [((2, 5), 1), ((5, 2), 0), ((2, 3, 2), 1), ((0, 3), 0), ((3, 0), 0)]:
        x = small(shape, dtype)
        both("cumsum", [x], type_of(x), axis=axis, accumulator=accumulator)
    if dtype.is_integer:
        x = np.asarray(telling(dtype), NUMPY[dtype])
        both("cumsum", [x], type_of(x), axis=0, accumulator=accumulator)


CONTRACTIONS: list[tuple[list[tuple[int, ...]], tuple[int, ...]]] = [
    ([(0, 1, 2), (3, 2)], (0, 1, 3)),
    ([(0, 1), (1, 2)], (0, 2)),
    ([(0, 1), (1, 2)], (2, 0)),
    ([(1, 0), (1, 2)], (0, 2)),
    ([(0, 1, 2, 3), (0, 1, 4, 3)], (0, 1, 2, 4)),
    ([(0, 1, 2, 3), (0, 1, 3, 4)], (0, 1, 2, 4)),
    ([(0, 1, 2, 3), (0, 2, 4, 3)], (0, 1, 2, 4)),
    ([(0,), (0,)], ()),
    ([(0,), (1, 0)], (1,)),
    ([(0, 1), (1,)], (0,)),
    ([(0,), (1,)], (0, 1)),
    ([(0, 1), (0, 1)], (0, 1)),
    ([(0, 1)], (0,)),
    ([(0, 1)], (1, 0)),
    ([(0, 1)], ()),
    ([(0,), (1,)], (0,)),
    ([(0, 1), (2,)], (0,)),
    ([(), (0, 1), (1, 2)], (0, 2)),
    ([(), ()], ()),
    ([(), (0,)], ()),
    ([(0, 1), (1, 2), (2, 3)], (0, 3)),
    ([(0, 1), (1,), (1, 2)], (0, 2)),
    ([(0, 1), (0, 1), (0, 1)], (0,)),
    ([(0,), (1,), (2,)], (0, 2)),
    ([(0, 1, 2), (0, 2, 3), (0, 1)], (0, 3)),
]
EXTENTS = [(2, 3, 4, 5, 2), (1, 1, 1, 1, 1), (0, 3, 2, 2, 2), (3, 0, 2, 2, 2), (2, 3, 0, 0, 2)]


@pytest.mark.parametrize(("dtype", "accumulator"), PAIRS)
def test_contract(dtype: DType, accumulator: DType) -> None:
    for (inputs, output), extents in product(CONTRACTIONS, EXTENTS):
        contract(inputs, output, extents, dtype, accumulator, dtype)


@pytest.mark.parametrize("result", [DType.F16, DType.BF16, DType.F32, DType.F64])
@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16, DType.F32])
def test_contract_into_another_dtype(dtype: DType, result: DType) -> None:
    for inputs, output in CONTRACTIONS:
        contract(inputs, output, EXTENTS[0], dtype, DType.F32, result)


def contract(
    inputs: Any, output: Any, extents: Any, dtype: DType, accumulator: DType, result: DType
) -> None:
    shapes = [tuple(extents[i] for i in ix) for ix in inputs]
    args = [small(s, dtype, seed) for seed, s in enumerate(shapes)]
    shape = [extents[i] for i in output]
    type_ = tensor(shape, result) if shape else Type(result)
    attrs = {"inputs": tuple(inputs), "output": output, "accumulator": accumulator}
    both("contract", args, type_, **attrs)


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=str))
@pytest.mark.parametrize(("inputs", "output"), CONTRACTIONS)
def test_nothing_is_0_whatever_the_operands_are(inputs: Any, output: Any, dtype: DType) -> None:
    for empty in range(5):
        extents = [0 if i == empty else 2 for i in range(5)]
        args = [np.full([extents[i] for i in ix], np.inf, NUMPY[dtype]) for ix in inputs]
        shape = [extents[i] for i in output]
        type_ = tensor(shape, dtype) if shape else Type(dtype)
        attrs = {"inputs": tuple(inputs), "output": output, "accumulator": dtype}
        both("contract", args, type_, **attrs)


def test_products_are_summed_and_not_sums_multiplied() -> None:
    a, b = np.asarray([np.inf, 0.1], np.float32), np.asarray([3, -1, 3e38, 3e38], np.float32)
    attrs = {"inputs": ((0,), (1,)), "output": (0,), "accumulator": DType.F32}
    found = both("contract", [a, b], tensor([2], DType.F32), ulps=2, **attrs)
    assert np.isnan(found[0]) and np.isfinite(found[1])


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
def test_half_sums_are_kept_in_f32(dtype: DType) -> None:
    """4096 ones and 4096 halves of a unit: in the dtype itself, the sum would stop growing."""
    x = np.ones((1, 8192), NUMPY[dtype])
    x[0, ::2] = 2.0**-7
    attrs: dict[str, Any] = {"accumulator": DType.F32}
    one = both("reduce", [x], tensor([1], dtype), op="sum", axes=(1,), **attrs)
    inputs = {"inputs": ((0, 1), (2, 1)), "output": (0, 2)}
    two = both("contract", [x, np.ones_like(x)], tensor([1, 1], dtype), **inputs, **attrs)
    assert float(one[0]) == float(two[0, 0]) == float(np.asarray(4128, NUMPY[dtype]))


@pytest.mark.parametrize("dtype", [DType.F32, DType.F64])
def test_float_sums_in_any_order(dtype: DType) -> None:
    """Two sums of n terms differ by at most 2 n units of the sum of their sizes."""
    random = np.random.default_rng(0)
    x, y = (random.standard_normal((7, 501)).astype(NUMPY[dtype]) for _ in range(2))
    bound = 2 * 501 * float(np.finfo(NUMPY[dtype]).eps) * np.abs(x.astype(np.float64)) @ np.abs(y.T)
    attrs = {"inputs": ((0, 1), (2, 1)), "output": (0, 2), "accumulator": dtype}
    whole = operation("contract", [type_of(x), type_of(y)], tensor([7, 7], dtype), **attrs)
    (found,), (wanted,) = in_torch(whole, [x, y]), run(whole, [x, y])
    assert (np.abs(found.astype(np.float64) - wanted) <= bound).all()
