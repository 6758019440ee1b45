"""What an expression lowers to: a tree whose leaves are IR values.

Tuples, structs, optionals and enums exist only here. Which of its cases an
optional is, is always known; an enum is either known or an i64 number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from linnet.check.typed import TSub
from linnet.dtypes import DType
from linnet.ir.core import Value
from linnet.ir.types import Type


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


@dataclass(frozen=True, slots=True)
class BlockRef:
    """A sub block: where it is, seen from this block, and its declaration."""

    at: tuple[str, ...]
    sub: TSub


Bundle = Value | Group | Some | Absent | Variant | BlockRef

ENUM_TYPE = Type(DType.I64)


class MismatchError(Exception):
    """Two bundles cannot be one at run time: an optional is there in one of them only."""


def leaves(bundle: Bundle) -> list[Value]:
    """The IR values of a bundle, in order."""
    match bundle:
        case Value():
            return [bundle]
        case Group(items):
            return [v for item in items for v in leaves(item)]
        case Some(inner):
            return leaves(inner)
        case _:
            return []


def rebuild(bundle: Bundle, make: Callable[[Value], Value]) -> Bundle:
    """The bundle with each value replaced, in the order of `leaves`."""
    match bundle:
        case Value():
            return make(bundle)
        case Group(items):
            return Group(tuple(rebuild(item, make) for item in items))
        case Some(inner):
            return Some(rebuild(inner, make))
        case _:
            return bundle


def fill(bundle: Bundle, values: Iterator[Value]) -> Bundle:
    """The bundle with its values taken from `values`."""
    return rebuild(bundle, lambda _: next(values))


def skeleton(bundle: Bundle) -> Bundle:
    """The bundle with only the types of its values: equal skeletons are lowered alike."""
    return rebuild(bundle, lambda v: Value(0, v.type))


def loosened(bundle: Bundle) -> Bundle:
    """The skeleton with known enums made runtime numbers."""
    match bundle:
        case Variant():
            return Value(0, ENUM_TYPE)
        case Value():
            return Value(0, bundle.type)
        case Group(items):
            return Group(tuple(loosened(item) for item in items))
        case Some(inner):
            return Some(loosened(inner))
        case _:
            return bundle


def merged(a: Bundle, b: Bundle) -> Bundle:
    """The skeleton that both bundles fit."""
    match a, b:
        case (Value(), Value()):
            return Value(0, a.type)
        case (Variant(), Variant()) if a == b:
            return a
        case (Variant() | Value(), Variant() | Value()):
            return Value(0, ENUM_TYPE)
        case (Group(), Group()):
            return Group(tuple(merged(x, y) for x, y in zip(a.items, b.items, strict=True)))
        case (Some(), Some()):
            return Some(merged(a.inner, b.inner))
        case (Absent(), Absent()):
            return a
        case _:
            raise MismatchError


def fitted(bundle: Bundle, to: Bundle, number: Callable[[int], Value]) -> list[Value]:
    """The values of `bundle` for the leaves of the skeleton `to`; `number` makes a constant."""
    match bundle, to:
        case (Value(), Value()):
            return [bundle]
        case (Variant(), Value()):
            return [number(bundle.number)]
        case (Variant(), Variant()) if bundle == to:
            return []
        case (Group(), Group()):
            pairs = zip(bundle.items, to.items, strict=True)
            return [v for x, y in pairs for v in fitted(x, y, number)]
        case (Some(), Some()):
            return fitted(bundle.inner, to.inner, number)
        case (Absent(), Absent()):
            return []
        case _:
            raise MismatchError
