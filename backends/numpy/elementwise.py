"""The elementwise operations: one function a name, over arrays of one shape.

f16 and bf16 are computed in f32 and rounded once; integers wrap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linnet.backends.numpy.dtypes import NUMPY, OF_NUMPY, Array, cast, computing_dtype
from linnet.dtypes import DType


def _rounded_once(function: Callable[..., Any]) -> Callable[..., Array]:
    """`function` of f16 or bf16 operands in f32."""

    def run(*operands: Array) -> Array:
        dtype = OF_NUMPY[operands[0].dtype]
        wide = computing_dtype(dtype)
        if wide is dtype:
            return np.asarray(function(*operands))
        return cast(np.asarray(function(*(cast(x, wide) for x in operands))), dtype)

    return run


def _rsqrt(x: Array) -> Any:
    return x.dtype.type(1) / np.sqrt(x)


def _div(a: Array, b: Array) -> Any:
    return a / b if OF_NUMPY[a.dtype].is_float else _truncated(a, b)


def _truncated(a: Array, b: Array) -> Array:
    """The integer quotient, toward zero; 0 where the divisor is 0."""
    one = a.dtype.type(1)
    divisor = np.where(b == 0, one, b)
    quotient: Array = np.floor_divide(a, divisor)
    inexact = quotient * divisor != a
    short: Array = inexact & ((a < 0) != (divisor < 0))
    nearer: Array = quotient + short.astype(a.dtype)
    return np.where(b == 0, np.zeros((), a.dtype), nearer)


def _rem(a: Array, b: Array) -> Any:
    return np.fmod(a, b) if OF_NUMPY[a.dtype].is_float else a - _truncated(a, b) * b


def _shl(a: Array, count: Array) -> Array:
    inside = _shift_inside(a, count)
    shifted = np.left_shift(a, np.where(inside, count, 0).astype(a.dtype))
    return np.where(inside, shifted, 0).astype(a.dtype)


def _shr(a: Array, count: Array) -> Array:
    inside = _shift_inside(a, count)
    shifted = np.right_shift(a, np.where(inside, count, 0).astype(a.dtype))
    # In the dtype throughout: NumPy takes u64 and i64 together to f64.
    return np.where(inside, shifted, np.where(a < 0, -1, 0).astype(a.dtype))


def _shift_inside(a: Array, count: Array) -> Array:
    bits = OF_NUMPY[a.dtype].bits
    return np.asarray((count >= 0) & (count < bits))


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "neg": np.negative,
    "not": np.logical_not,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _div,
    "rem": _rem,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shl": _shl,
    "shr": _shr,
}


def _comparison(function: Callable[[Array, Array], Any]) -> Callable[..., Array]:
    def run(a: Array, b: Array) -> Array:
        wide = computing_dtype(OF_NUMPY[a.dtype])
        return np.asarray(function(cast(a, wide), cast(b, wide)))

    return run


_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _select(condition: Array, a: Array, b: Array) -> Array:
    return np.asarray(np.where(condition, a, b))


ELEMENTWISE: dict[str, Callable[..., Array]] = {
    **{name: _rounded_once(function) for name, function in _ARITHMETIC.items()},
    **{name: _comparison(function) for name, function in _COMPARISONS.items()},
    "select": _select,
}


def fold_identity(op: str, dtype: DType) -> Array:
    """What an empty reduction gives."""
    if op in ("any", "all"):
        return np.asarray(op == "all")
    if op in ("sum", "prod"):
        return np.asarray(op == "prod", NUMPY[dtype])
    sign = 1 if op == "min" else -1
    if dtype.is_float:
        return np.asarray(sign * np.inf, NUMPY[dtype])
    low, high = (0, 1) if dtype is DType.BOOL else dtype.integer_range()
    return np.asarray(high if op == "min" else low, NUMPY[dtype])
