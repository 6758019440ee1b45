"""What an expression lowers to: a tree whose leaves are IR values.

Tuples, structs, optionals and enums exist only here. Which of its cases an
optional is, is always known; an enum is either known or an i64 number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from linnet.check.types import OptionalType, StructType, TupleType
from linnet.check.types import Type as CheckType
from linnet.ir.core import Value
from linnet.ir.types import I64


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple, or the fields of a struct in order."""

    items: tuple[Bundle, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """An optional that is there."""

    inner: Bundle


@dataclass(frozen=True, slots=True)
class Absent:
    """An optional that is not."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A known variant of an enum, and its number."""

    name: str
    number: int


Leaf = Value | Variant
Bundle = Leaf | Group | Some | Absent

ENUM_TYPE = I64


class MismatchError(Exception):
    """Two bundles cannot be one at run time: an optional is there in one of them only."""


def mapped(bundle: Bundle, leaf: Callable[[Leaf], Leaf]) -> Bundle:
    """The bundle with each of its leaves replaced, in order."""
    match bundle:
        case Value() | Variant():
            return leaf(bundle)
        case Group(items):
            return Group(tuple(mapped(item, leaf) for item in items))
        case Some(inner):
            return Some(mapped(inner, leaf))
        case Absent():
            return bundle


def map_typed(bundle: Bundle, type_: CheckType, leaf: Callable[[Leaf, CheckType], Leaf]) -> Bundle:
    """The bundle of `type_` with each of its leaves replaced, in order, by what `leaf` makes of
    it and its type."""
    match bundle:
        case Value() | Variant():
            return leaf(bundle, type_)
        case Group(items):
            types = part_types(type_)
            return Group(tuple(map_typed(x, t, leaf) for x, t in zip(items, types, strict=True)))
        case Some(inner):
            assert isinstance(type_, OptionalType), type_
            return Some(map_typed(inner, type_.inner, leaf))
        case Absent():
            return bundle


def part_types(type_: CheckType) -> tuple[CheckType, ...]:
    """The types of the parts of a tuple or struct."""
    if isinstance(type_, StructType):
        return tuple(t for _, t in type_.fields)
    assert isinstance(type_, TupleType), type_
    return type_.items


def zipped(a: Bundle, b: Bundle, leaf: Callable[[Leaf, Leaf], Leaf]) -> Bundle:
    """Two bundles that are alike as one, in which `leaf` is made of each two leaves."""
    match a, b:
        case (Value() | Variant(), Value() | Variant()):
            return leaf(a, b)
        case (Group(), Group()):
            pairs = zip(a.items, b.items, strict=True)
            return Group(tuple(zipped(x, y, leaf) for x, y in pairs))
        case (Some(), Some()):
            return Some(zipped(a.inner, b.inner, leaf))
        case (Absent(), Absent()):
            return a
        case _:
            raise MismatchError


def leaves(bundle: Bundle) -> list[Value]:
    """The IR values of a bundle, in order."""
    match bundle:
        case Value():
            return [bundle]
        case Group(items):
            return [v for item in items for v in leaves(item)]
        case Some(inner):
            return leaves(inner)
        case Absent() | Variant():
            return []


def fill(bundle: Bundle, values: Iterator[Value]) -> Bundle:
    """The bundle with its values taken from `values`."""
    return mapped(bundle, lambda x: next(values) if isinstance(x, Value) else x)


def skeleton(bundle: Bundle) -> Bundle:
    """The bundle with only the types of its values: equal skeletons are lowered alike."""
    return mapped(bundle, lambda x: Value(0, x.type) if isinstance(x, Value) else x)


def loosened(bundle: Bundle) -> Bundle:
    """The skeleton with known enums made runtime numbers."""
    return mapped(bundle, lambda x: Value(0, x.type if isinstance(x, Value) else ENUM_TYPE))


def merged(a: Bundle, b: Bundle) -> Bundle:
    """The skeleton that both bundles fit."""

    def both(x: Leaf, y: Leaf) -> Leaf:
        if isinstance(x, Value) and isinstance(y, Value):
            return Value(0, x.type)
        return x if x == y else Value(0, ENUM_TYPE)

    return zipped(a, b, both)


def fitted(bundle: Bundle, to: Bundle, number: Callable[[int], Value]) -> list[Value]:
    """The values of `bundle` for the leaves of the skeleton `to`; `number` makes a constant."""

    def fit(x: Leaf, y: Leaf) -> Leaf:
        if isinstance(x, Variant) and isinstance(y, Value):
            return number(x.number)
        if type(x) is not type(y) or (isinstance(x, Variant) and x != y):
            raise MismatchError
        return x

    return leaves(zipped(bundle, to, fit))
