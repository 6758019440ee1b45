"""The scalar expression that an `indexed` operation holds.

Operands are numbered: `Operand(2)` is the third operand of the operation, a
scalar; `Access(2, ...)` reads an element of it, a tensor. Index variables are
numbered as the operation lists them: outputs first, then those that
`Reduce` binds, each with its extent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from linnet.dims.dims import Dim
from linnet.dtypes import AnyDType
from linnet.ir.places import Place


@dataclass(frozen=True, slots=True)
class Const:
    """An int, a bool, or the text of a float literal."""

    value: int | bool | str
    dtype: AnyDType


@dataclass(frozen=True, slots=True)
class DimValue:
    dim: Dim
    dtype: AnyDType


@dataclass(frozen=True, slots=True)
class Operand:
    operand: int
    dtype: AnyDType


@dataclass(frozen=True, slots=True)
class Index:
    """The value of index variable `index`, in a position or as a number (i64)."""

    index: int
    dtype: AnyDType


@dataclass(frozen=True, slots=True)
class Access:
    """`place` is where it is written, not compared."""

    operand: int
    positions: tuple[Scalar, ...]
    dtype: AnyDType
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Apply:
    """`fn` is any elementwise operation of the IR: `neg`, `exp`, `add`, `lt`, `select`, `cast`,
    `and`, ... with the operands and dtype it has there."""

    fn: str
    args: tuple[Scalar, ...]
    dtype: AnyDType


@dataclass(frozen=True, slots=True)
class Reduce:
    """`accumulator` is the dtype that the reduction is kept in; the result is rounded to `dtype`
    once. Only a sum has several `factors`: it is of their product, which is not rounded to their
    dtype but multiplied in the accumulator. A `mul` as a factor is a value like any other."""

    op: Literal["sum", "prod", "max", "min", "any", "all"]
    accumulator: AnyDType
    indices: tuple[tuple[int, Dim], ...]
    factors: tuple[Scalar, ...]
    dtype: AnyDType


Scalar = Const | DimValue | Operand | Index | Access | Apply | Reduce


def children(expr: Scalar) -> tuple[Scalar, ...]:
    """The expressions directly inside."""
    match expr:
        case Access(positions=inner) | Apply(args=inner) | Reduce(factors=inner):
            return inner
        case Const() | DimValue() | Operand() | Index():
            return ()


def walk(expr: Scalar) -> Iterator[Scalar]:
    """The expression and all inside it, each before what it holds, and each object once."""
    seen: set[int] = set()
    waiting = [expr]
    while waiting:
        found = waiting.pop()
        if id(found) not in seen:
            seen.add(id(found))
            yield found
            waiting.extend(reversed(children(found)))


def inside_out(expr: Scalar) -> Iterator[Scalar]:
    """The expression and all inside it, each after what it holds, and each object once."""
    seen: set[int] = set()
    waiting = [(expr, False)]
    while waiting:
        found, ready = waiting.pop()
        if ready:
            yield found
        elif id(found) not in seen:
            seen.add(id(found))
            waiting.append((found, True))
            waiting.extend((child, False) for child in reversed(children(found)))


class Numbers:
    """Numbers expressions, equal ones alike, without looking into one object twice."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[object, ...], int] = {}
        # The expressions are held, so that no other comes to have the identity of one.
        self._by_id: dict[int, tuple[Scalar, int]] = {}

    def of(self, expr: Scalar) -> int:
        """The number of `expr`."""
        if id(expr) not in self._by_id:
            for found in inside_out(expr):
                number = self._by_key.setdefault(self._key(found), len(self._by_key))
                self._by_id[id(found)] = (found, number)
        return self._by_id[id(expr)][1]

    def _key(self, expr: Scalar) -> tuple[object, ...]:
        inner = tuple(self._by_id[id(c)][1] for c in children(expr))
        match expr:
            case Access():
                return (Access, expr.operand, expr.dtype, inner)
            case Apply():
                return (Apply, expr.fn, expr.dtype, inner)
            case Reduce():
                return (Reduce, expr.op, expr.accumulator, expr.indices, expr.dtype, inner)
            case Const():
                # `True == 1 == 1.0` in Python, and they are different constants.
                return (Const, type(expr.value), expr.value, expr.dtype)
            case DimValue() | Operand() | Index():
                return (expr,)
