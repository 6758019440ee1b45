"""The meaning of `indexed`, point by point in plain Python numbers."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from linnet.backends.numpy.dtypes import NUMPY
from linnet.dims.dims import Symbol
from linnet.dims.evaluate import evaluate as number_of
from linnet.dtypes import AnyDType, DType
from linnet.ir.core import Operation
from linnet.ir.scalar import (
    Access,
    Apply,
    Const,
    DimValue,
    Index,
    Operand,
    Reduce,
    Scalar,
    children,
    inside_out,
    walk,
)

Number = int | bool | float


class OutOfRangeError(Exception):
    """A position that is not within its axis."""


def evaluate(
    op: Operation, operands: Sequence[np.ndarray[Any, Any]], symbols: Mapping[Symbol, int]
) -> np.ndarray[Any, Any]:
    """What the `indexed` operation gives."""
    extents = [number_of(d, symbols) for d in op.attrs["indices"]]
    result = np.empty(extents, NUMPY[concrete(op.results[0].type.dtype)])
    point = Point(operands, symbols)
    check_positions(op.attrs["expr"], extents, point)
    for at in np.ndindex(*extents):
        result[at] = point.value(op.attrs["expr"], dict(enumerate(at)))
    return result


def assert_same(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> None:
    """One dtype, one shape and the same elements, NaN where NaN is wanted.

    NumPy's own comparison does not know the NaN of bfloat16, so that is widened, exactly.
    """
    assert found.dtype == wanted.dtype
    if wanted.dtype == NUMPY[DType.BF16]:
        found, wanted = found.astype(np.float32), wanted.astype(np.float32)
    np.testing.assert_array_equal(found, wanted, strict=True)


def concrete(dtype: AnyDType) -> DType:
    assert isinstance(dtype, DType)
    return dtype


def rounded(value: Number, dtype: DType) -> Number:
    """`value` in `dtype`: floats nearest, integers wrapped."""
    if dtype is DType.BOOL:
        return bool(value)
    if dtype.is_integer:
        low, high = dtype.integer_range()
        return (int(value) - low) % (high - low + 1) + low
    with np.errstate(all="ignore"):
        return float(np.float64(value).astype(NUMPY[dtype]))


def check_positions(expr: Scalar, extents: Sequence[int], point: Point) -> None:
    """Every position is within its axis at all values of the indices that it depends on."""
    known = dict(enumerate(extents))
    for e in walk(expr):
        if isinstance(e, Reduce):
            known.update((i, number_of(d, point.symbols)) for i, d in e.indices)
    for e in inside_out(expr):
        if isinstance(e, Access):
            shape = point.operands[e.operand].shape
            for position, extent in zip(e.positions, shape, strict=True):
                depends = sorted(free(position))
                for values in itertools.product(*(range(known[i]) for i in depends)):
                    place = point.value(position, dict(zip(depends, values, strict=True)))
                    if not 0 <= place < extent:
                        raise OutOfRangeError(place)


def free(expr: Scalar) -> set[int]:
    """The indices that an expression depends on."""
    if isinstance(expr, Index):
        return {expr.index}
    found = {i for c in children(expr) for i in free(c)}
    return found - {i for i, _ in expr.indices} if isinstance(expr, Reduce) else found


class Point:
    """Evaluates expressions with the indices at given numbers."""

    def __init__(
        self, operands: Sequence[np.ndarray[Any, Any]], symbols: Mapping[Symbol, int]
    ) -> None:
        self.operands = operands
        self.symbols = symbols

    def value(self, expr: Scalar, at: Mapping[int, int]) -> Number:
        dtype = concrete(expr.dtype)
        match expr:
            case Const():
                return rounded(
                    float(expr.value) if isinstance(expr.value, str) else expr.value, dtype
                )
            case DimValue():
                return rounded(number_of(expr.dim, self.symbols), dtype)
            case Operand():
                return number(self.operands[expr.operand][()])
            case Index():
                return rounded(at[expr.index], dtype)
            case Access():
                return self.element(expr, at)
            case Apply():
                args = [self.value(a, at) for a in expr.args]
                return apply(expr.fn, args, concrete(expr.args[0].dtype), dtype)
            case Reduce():
                return self.reduce(expr, at)

    def element(self, expr: Access, at: Mapping[int, int]) -> Number:
        place = tuple(int(self.value(p, at)) for p in expr.positions)
        return number(self.operands[expr.operand][place])

    def reduce(self, expr: Reduce, at: Mapping[int, int]) -> Number:
        kept = concrete(expr.accumulator)
        total = IDENTITY[expr.op](kept)
        for places in itertools.product(
            *(range(number_of(d, self.symbols)) for _, d in expr.indices)
        ):
            inner = {**at, **dict(zip((i for i, _ in expr.indices), places, strict=True))}
            factors = [rounded(self.value(f, inner), kept) for f in expr.factors]
            summand = reduce(lambda a, b: apply("mul", [a, b], kept, kept), factors)
            total = apply(FOLD[expr.op], [total, summand], kept, kept)
        return rounded(total, concrete(expr.dtype))


def number(value: Any) -> Number:
    return value.item() if not isinstance(value, int | float) else value


def extreme(sign: int) -> Callable[[DType], Number]:
    def identity(dtype: DType) -> Number:
        if dtype.is_float:
            return sign * math.inf
        return dtype.integer_range()[sign > 0]

    return identity


IDENTITY: dict[str, Callable[[DType], Number]] = {
    "sum": lambda _: 0,
    "prod": lambda _: 1,
    "max": extreme(-1),
    "min": extreme(1),
    "any": lambda _: False,
    "all": lambda _: True,
}
FOLD = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and"}


def largest(a: Number, b: Number) -> Number:
    return max(a, b) if a == a and b == b else math.nan


def least(a: Number, b: Number) -> Number:
    return min(a, b) if a == a and b == b else math.nan


def both(a: int, b: int) -> int:
    return a & b


def either(a: int, b: int) -> int:
    return a | b


def differing(a: int, b: int) -> int:
    return a ^ b


PLAIN: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "abs": abs,
    "not": operator.not_,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "max": largest,
    "min": least,
    "and": both,
    "or": either,
    "xor": differing,
    **{fn: getattr(operator, fn) for fn in ("eq", "ne", "lt", "le", "gt", "ge")},
}


def apply(fn: str, args: Sequence[Number], source: DType, dtype: DType) -> Number:
    """An elementwise operation; integer `div` and `rem` truncate toward zero."""
    if fn == "cast":
        return cast(args[0], source, dtype)
    if fn == "select":
        return args[1] if args[0] else args[2]
    if fn in ("div", "rem"):
        a, b = (int(x) for x in args)
        quotient = 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return rounded(quotient if fn == "div" else a - quotient * b, dtype)
    return rounded(PLAIN[fn](*args), dtype)


def cast(value: Number, source: DType, target: DType) -> Number:
    if source.is_float and target.is_integer:
        if value != value:
            return 0
        low, high = target.integer_range()
        return int(min(max(value, low), high))
    return rounded(value, target)
