"""Dtypes in NumPy, and `cast` between any two of them with one rounding."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from linnet.dtypes import DType

Array = NDArray[Any]

NUMPY: dict[DType, np.dtype[Any]] = {
    DType.BOOL: np.dtype(np.bool_),
    DType.I8: np.dtype(np.int8),
    DType.I16: np.dtype(np.int16),
    DType.I32: np.dtype(np.int32),
    DType.I64: np.dtype(np.int64),
    DType.U8: np.dtype(np.uint8),
    DType.U16: np.dtype(np.uint16),
    DType.U32: np.dtype(np.uint32),
    DType.U64: np.dtype(np.uint64),
    DType.F16: np.dtype(np.float16),
    DType.BF16: np.dtype(ml_dtypes.bfloat16),
    DType.F32: np.dtype(np.float32),
    DType.F64: np.dtype(np.float64),
}
OF_NUMPY: dict[np.dtype[Any], DType] = {n: d for d, n in NUMPY.items()}


def computing_dtype(dtype: DType) -> DType:
    """What the float functions and arithmetic of `dtype` are computed in."""
    return DType.F32 if dtype in (DType.F16, DType.BF16) else dtype


def cast(x: Array, target: DType) -> Array:
    """`x` in `target`: float to integer saturates, integer to integer wraps, to float nearest
    even, to bool whether it is not zero."""
    source = OF_NUMPY[x.dtype]
    if source is target:
        return x
    with np.errstate(all="ignore"):
        return _cast(x, source, target)


def _cast(x: Array, source: DType, target: DType) -> Array:
    if target is DType.BOOL:
        return np.asarray(x != 0)
    if source.is_float and target.is_integer:
        return _float_to_integer(x, target)
    if target is DType.BF16:
        return _to_bf16(x, source)
    if source is DType.BF16 and target is not DType.F32:
        x = x.astype(np.float32)
    return x.astype(NUMPY[target])


def _float_to_integer(x: Array, target: DType) -> Array:
    low, high = target.integer_range()
    wide = x.astype(np.float64)
    under, over = wide <= float(low), wide >= float(high + 1)
    inside = np.where(under | over | np.isnan(wide), 0.0, wide).astype(NUMPY[target])
    return np.where(
        over, NUMPY[target].type(high), np.where(under, NUMPY[target].type(low), inside)
    )


def _to_bf16(x: Array, source: DType) -> Array:
    """Integers and f64 reach bf16 by f32 and would be rounded twice: the first step rounds to
    odd, which the second cannot mistake for a tie."""
    if source is DType.F64 or (source.is_integer and source.bits > 16):
        x = _odd_f32(x if source is DType.F64 else _odd_f64(x))
    return x.astype(np.float32).astype(NUMPY[DType.BF16])


def _odd_f32(x: Array) -> Array:
    near = x.astype(np.float32)
    back = near.astype(np.float64)
    inexact = (back != x) & ~np.isnan(x)
    bits = near.view(np.uint32) - (inexact & (np.abs(back) > np.abs(x))).astype(np.uint32)
    return np.asarray(bits | inexact.astype(np.uint32)).view(np.float32)


def _odd_f64(x: Array) -> Array:
    """Integers as f64, the bits that do not fit kept as one sticky bit."""
    negative = x < 0
    size = np.where(negative, 0 - x.astype(np.uint64), x.astype(np.uint64)).astype(np.uint64)
    dropped = np.uint64(0xFFF)
    sticky = np.where(size & dropped, np.uint64(1), np.uint64(0)) << np.uint64(12)
    kept = np.where(size >> np.uint64(53), (size & ~dropped) | sticky, size).astype(np.float64)
    return np.where(negative, -kept, kept)


def constant(value: int | bool | str, dtype: DType) -> Array:
    """A constant as a scalar: an int, a bool, or the text of a float literal."""
    if isinstance(value, str):
        return cast(np.asarray(_text_to_f64(value, dtype)), dtype)
    if isinstance(value, bool) or not dtype.is_float:
        return integer(int(value), dtype)
    return cast(np.asarray(_exact_to_f64(Fraction(value), dtype)), dtype)


def integer(value: int, dtype: DType) -> Array:
    """An integer of any size in `dtype`, wrapped where it does not fit."""
    if dtype is DType.BOOL:
        return np.asarray(value != 0)
    if dtype.is_float:
        return cast(np.asarray(_exact_to_f64(Fraction(value), dtype)), dtype)
    low, _ = dtype.integer_range()
    return np.asarray((value - low) % (1 << dtype.bits) + low, NUMPY[dtype])


def _text_to_f64(text: str, dtype: DType) -> float:
    near = float(text)
    if near != near or abs(near) in (0.0, float("inf")) or abs(near) < 1e-300:
        return near
    return _exact_to_f64(Fraction(Decimal(text)), dtype)


def _exact_to_f64(value: Fraction, dtype: DType) -> float:
    """`value` as f64, nearest for f64 itself, else rounded to odd for the step that follows."""
    try:
        near = float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    if dtype is DType.F64 or Fraction(near) == value:
        return near
    bits = int(np.asarray(near).view(np.uint64)) - (abs(Fraction(near)) > abs(value))
    return float(np.asarray(bits | 1, np.uint64).view(np.float64))
