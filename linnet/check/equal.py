"""Which shapes and types are provably the same."""

from __future__ import annotations

from linnet.check.mistake import equation
from linnet.check.types import (
    EnumType,
    GenericArg,
    OptionalType,
    Shape,
    StructType,
    TensorType,
    TupleType,
    Type,
)
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Facts


def same_shape(facts: Facts, a: Shape, b: Shape) -> bool:
    """Equal axis by axis, provably."""
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):
        if isinstance(x, Symbol) or isinstance(y, Symbol):
            if x is not y:
                return False
        elif not facts.equal(x, y):
            return False
    return True


def same_type(facts: Facts, a: Type, b: Type) -> bool:
    match a, b:
        case TensorType(), TensorType():
            return a.dtype == b.dtype and same_shape(facts, a.dims, b.dims)
        case OptionalType(x), OptionalType(y):
            return same_type(facts, x, y)
        case TupleType(xs), TupleType(ys):
            return len(xs) == len(ys) and all(map(lambda x, y: same_type(facts, x, y), xs, ys))
        case StructType(), StructType():
            return a.key == b.key and all(
                _same_arg(facts, x, y) for x, y in zip(a.args, b.args, strict=True)
            )
        case EnumType(), EnumType():
            return a.key == b.key
        case _:
            return a == b


def _same_arg(facts: Facts, a: GenericArg, b: GenericArg) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return same_shape(facts, a, b)
    if isinstance(a, Dim) and isinstance(b, Dim):
        return facts.equal(a, b)
    return a == b


def unequal(facts: Facts, a: Shape, b: Shape) -> object:
    """What cannot be proven equal, whichever side it is on: the same for the same mistake."""
    if len(a) != len(b):
        return None
    pairs = zip(a, b, strict=True)
    return frozenset(
        str(x) if isinstance(x, Symbol) or isinstance(y, Symbol) else equation(x, y)
        for x, y in pairs
        if not same_shape(facts, (x,), (y,))
    )


def exchanged(facts: Facts, found: Shape, wanted: Shape) -> dict[Symbol, Symbol] | None:
    """The generics of `found` by those in whose places they stand: `[S, B, H]` for `[B, S, H]`
    gives B for S and S for B. None where the shapes are not of the same generics."""
    order: dict[Symbol, Symbol] = {}
    for x, y in zip(found, wanted, strict=False):
        if not same_shape(facts, (x,), (y,)):
            told = x.as_symbol() if isinstance(x, Dim) else None
            meant = y.as_symbol() if isinstance(y, Dim) else None
            if told is None or meant is None:
                return None
            order[told] = meant
    return order if order and set(order) == set(order.values()) else None
