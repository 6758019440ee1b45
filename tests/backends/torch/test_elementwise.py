"""Elementwise operations in PyTorch against the reference, on every pair of telling values."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.numpy.interpreter import run
from linnet.backends.torch.arrays import of_numpy
from linnet.dtypes import FLOATS, INTEGERS, DType
from linnet.ir.ops import BINARY_NUMBER, BITWISE, COMPARE, SHIFT, UNARY_FLOAT
from linnet.ir.types import Type
from tests.backends.numpy.harness import tensor, type_of
from tests.backends.numpy.test_exhaustive import telling
from tests.backends.torch.harness import both, expression, operation, same

NUMBERS = sorted(INTEGERS | FLOATS, key=str)
# Each library is within one unit of the last place of the exact value, or two in single precision:
# so are they within three of each other, which a rounding to half precision makes one.
APART = {"exp": 3, "log": 3, "sin": 3, "cos": 3, "tanh": 3}


def pairs(dtype: DType) -> tuple[Any, Any]:
    values = np.asarray(list(product(telling(dtype), repeat=2)), NUMPY[dtype])
    return values[:, 0].copy(), values[:, 1].copy()


def check(name: str, dtype: DType, result: DType) -> None:
    a, b = pairs(dtype)
    found = both(name, [a, b], tensor([a.size], result))
    # Alone, as scalars and as Python numbers: the same.
    for k in range(0, a.size, 7):
        one = both(name, [a[k], b[k]], Type(result))
        assert one.tobytes() == found[k].tobytes() or one != one
    both(name, [a[:0], b[:0]], tensor([0], result))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", BINARY_NUMBER)
def test_arithmetic(name: str, dtype: DType) -> None:
    if name in ("min", "max"):
        check_extreme(name, dtype)
    else:
        check(name, dtype, dtype)


def check_extreme(name: str, dtype: DType) -> None:
    """Of two zeros either."""
    a, b = pairs(dtype)
    keep = ~((a == 0) & (b == 0))
    both(name, [a[keep], b[keep]], tensor([int(keep.sum())], dtype))


@pytest.mark.parametrize("dtype", [*sorted(INTEGERS, key=str), DType.BOOL])
@pytest.mark.parametrize("name", [*BITWISE, *SHIFT])
def test_bits(name: str, dtype: DType) -> None:
    if name not in SHIFT or dtype is not DType.BOOL:
        check(name, dtype, dtype)


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("name", COMPARE)
def test_comparisons(name: str, dtype: DType) -> None:
    if dtype is not DType.BOOL or name in ("eq", "ne"):
        check(name, dtype, DType.BOOL)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", BINARY_NUMBER + SHIFT + tuple(COMPARE))
def test_a_python_number_on_either_side(name: str, dtype: DType) -> None:
    if name in SHIFT and not dtype.is_integer:
        return
    values = np.asarray(telling(dtype), NUMPY[dtype])
    result = tensor([values.size], DType.BOOL if name in COMPARE else dtype)
    for value in values:
        if name in ("min", "max") and value == 0:
            continue
        both_of(name, values, value, result)


def both_of(name: str, values: Any, value: Any, result: Type) -> None:
    types = [type_of(values)] * 2
    whole = operation(name, types, result)
    (op,) = whole.functions["f"].body
    full, scalar = np.full_like(values, value), np.asarray(value)
    same(expression(op, [of_numpy(values), scalar]), run(whole, [values, full])[0])
    same(expression(op, [scalar, of_numpy(values)]), run(whole, [full, values])[0])


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["neg", "abs"])
def test_signs(name: str, dtype: DType) -> None:
    x = np.asarray(telling(dtype), NUMPY[dtype])
    both(name, [x], type_of(x))
    both(name, [x[3]], Type(dtype))


def test_not() -> None:
    both("not", [np.asarray([True, False])], tensor([2], DType.BOOL))
    both("not", [np.asarray(True)], Type(DType.BOOL))


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
@pytest.mark.parametrize("name", UNARY_FLOAT)
def test_functions_of_every_half(name: str, dtype: DType) -> None:
    x = np.arange(65536).astype(np.uint16).view(NUMPY[dtype])
    ulps = 1 if name in APART else 0
    both(name, [x], type_of(x), ulps=ulps)


@pytest.mark.parametrize("dtype", [DType.F32, DType.F64])
@pytest.mark.parametrize("name", UNARY_FLOAT)
def test_functions(name: str, dtype: DType) -> None:
    random = np.random.default_rng(0)
    x = np.concatenate([telling(dtype), random.uniform(-90, 90, 1001), random.standard_normal(500)])
    x = x.astype(NUMPY[dtype])
    both(name, [x], type_of(x), ulps=APART.get(name, 0))
    both(name, [x[:0]], tensor([0], dtype))
    both(name, [x[4]], Type(dtype), ulps=APART.get(name, 0))


@pytest.mark.parametrize("target", list(DType))
@pytest.mark.parametrize("source", list(DType))
def test_casts(source: DType, target: DType) -> None:
    x = np.asarray(telling(source), NUMPY[source])
    both("cast", [x], tensor([x.size], target))
    for value in x:
        both("cast", [value], Type(target))


@pytest.mark.parametrize("target", list(DType))
@pytest.mark.parametrize("source", list(DType))
def test_casts_of_random_bits(source: DType, target: DType) -> None:
    width = np.dtype(NUMPY[source]).itemsize
    raw = np.random.default_rng(1).integers(0, 256, 4099 * width, dtype=np.uint8)
    x = (raw & 1).view(np.bool_) if source is DType.BOOL else raw.view(NUMPY[source])
    both("cast", [x], tensor([x.size], target))


@pytest.mark.parametrize("dtype", list(DType))
def test_select(dtype: DType) -> None:
    a, b = pairs(dtype)
    c = np.random.default_rng(0).integers(0, 2, a.size).astype(np.bool_)
    both("select", [c, a, b], type_of(a))
    for k in range(0, a.size, 11):
        both("select", [c[k], a[k], b[k]], Type(dtype))
