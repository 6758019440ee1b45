"""Every pair of telling values of every dtype, against whole numbers and fractions of Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from linnet.backends.numpy.dtypes import NUMPY
from linnet.dtypes import DType
from linnet.ir.types import Type
from tests.backends.numpy.harness import FLOAT_LIST, SIGNED, UNSIGNED, apply, type_of

Number = int | float


def telling(dtype: DType) -> list[Any]:
    """The values at which an operation is most easily wrong, and a few others."""
    random = np.random.default_rng(dtype.bits)
    if dtype is DType.BOOL:
        return [False, True]
    if dtype.is_integer:
        low, high = dtype.integer_range()
        near = {0, 1, 2, 3, 7, dtype.bits - 1, dtype.bits, dtype.bits + 1, high, high - 1}
        near |= {low, low + 1, max(low, -1), max(low, -2), max(low, -7)}
        more = random.integers(low, high, 6, NUMPY[dtype], endpoint=True)
        return [*sorted(near), *more.tolist()]
    limits = ml_dtypes.finfo(NUMPY[dtype])
    large = [math.inf, float(limits.max), 65520.0, 1.5, float(limits.eps), float(limits.tiny)]
    with np.errstate(over="ignore"):
        spread = random.standard_normal(6) * 2.0 ** random.integers(-30, 70, 6)
        both = [*large, float(limits.smallest_subnormal), 0.0, 7.25, 3.0, *spread]
        signed = np.asarray([*both, *(-x for x in both), math.nan])
        return signed.astype(NUMPY[dtype]).astype(np.float64).tolist()


def wrapped(value: int, dtype: DType) -> int:
    low, _ = dtype.integer_range()
    return (value - low) % (1 << dtype.bits) + low


FLOAT_BITS = {
    DType.F16: (11, -14), DType.BF16: (8, -126), DType.F32: (24, -126), DType.F64: (53, -1022),
}  # fmt: skip


def nearest(value: Fraction, dtype: DType) -> float:
    """The value of `dtype` nearest to `value`, of two the even one."""
    digits, least = FLOAT_BITS[dtype]
    size = abs(value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent = max(exponent - (size < Fraction(2) ** exponent), least)
    step = Fraction(2) ** (exponent - digits + 1)
    rounded = round(size / step) * step
    if rounded >= Fraction(2) ** (2 - least):
        rounded = math.inf
    return -float(rounded) if value < 0 else float(rounded)


def alike(found: Any, wanted: Number) -> bool:
    """The same number, and the same zero."""
    if isinstance(wanted, float):
        signs = math.copysign(1, found) == math.copysign(1, wanted)
        return found == wanted and signs if wanted == wanted else found != found
    return found == wanted


def check(name: str, dtype: DType, wanted: Callable[[Any, Any], Number | None]) -> None:
    """A binary operation on every pair; None stands for a result that the page leaves open."""
    pairs = list(product(telling(dtype), repeat=2))
    a, b = (np.asarray([p[side] for p in pairs], NUMPY[dtype]) for side in (0, 1))
    found = apply(name, [a, b], type_of(a)).tolist()
    for (x, y), z in zip(pairs, found, strict=True):
        expected = wanted(x, y)
        assert expected is None or alike(z, expected), (name, dtype, x, y, z, expected)


def quotient(a: int, b: int) -> int:
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGER: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": quotient,
    "rem": lambda a, b: a - quotient(a, b) * b,
    "min": min,
    "max": max,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
@pytest.mark.parametrize("name", INTEGER)
def test_integers(name: str, dtype: DType) -> None:
    check(name, dtype, lambda a, b: wrapped(INTEGER[name](a, b), dtype))


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_shifts(dtype: DType) -> None:
    def left(a: int, b: int) -> int:
        return wrapped(a << b, dtype) if 0 <= b < dtype.bits else 0

    def right(a: int, b: int) -> int:
        return a >> b if 0 <= b < dtype.bits else -(a < 0)

    check("shl", dtype, left)
    check("shr", dtype, right)


def arithmetic(name: str, a: float, b: float, dtype: DType) -> float | None:
    """The exact result rounded once; what has no exact result follows IEEE 754."""
    x, y = np.float64(a), np.float64(b)
    special = {
        "add": x + y, "sub": x - y, "mul": x * y, "div": np.divide(x, y), "rem": np.fmod(x, y),
        "min": np.minimum(x, y), "max": np.maximum(x, y),
    }  # fmt: skip
    if name in ("min", "max") and a == b == 0:
        return None
    if name in ("min", "max", "rem") or not (math.isfinite(a) and math.isfinite(b)) or b == 0:
        return float(special[name])
    p, q = Fraction(a), Fraction(b)
    exact = {"add": p + q, "sub": p - q, "mul": p * q, "div": p / q}[name]
    return nearest(exact, dtype) if exact else math.copysign(0.0, special[name])


@pytest.mark.parametrize("dtype", FLOAT_LIST)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "rem", "min", "max"])
def test_floats(name: str, dtype: DType) -> None:
    with np.errstate(all="ignore"):
        check(name, dtype, lambda a, b: arithmetic(name, a, b, dtype))


def converted(value: Any, source: DType, target: DType) -> Number:
    if target is DType.BOOL:
        return value != 0
    if target.is_float:
        finite = not source.is_float or (math.isfinite(value) and value)
        return nearest(Fraction(value), target) if finite else value
    if not source.is_float:
        return wrapped(value, target)
    low, high = target.integer_range()
    if value != value:
        return 0
    return low if value <= low else high if value >= high else int(value)


@pytest.mark.parametrize("source", list(DType))
@pytest.mark.parametrize("target", list(DType))
def test_casts(source: DType, target: DType) -> None:
    values = telling(source)
    x = np.asarray(values, NUMPY[source])
    found = apply("cast", [x], Type(target, type_of(x).dims)).tolist()
    for value, z in zip(values, found, strict=True):
        wanted = converted(value, source, target)
        assert alike(z, wanted), (source, target, value, z, wanted)
