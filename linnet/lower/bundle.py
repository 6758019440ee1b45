"""What an expression lowers to: a tree whose leaves are IR values.

Tuples, structs, optionals and enums exist only here. An optional is known to be there or not, or
it is a bool and what it holds; an enum is either known or an i64 number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from linnet.check.types import OptionalType, ScalarType, StructType, TupleType
from linnet.check.types import Type as CheckType
from linnet.dtypes import DType
from linnet.ir.core import Fields, Value
from linnet.ir.types import BOOL, I64, Type


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
class Maybe:
    """An optional of which only a run tells whether it is there. Where it is not, what it holds
    is zeros."""

    there: Value
    inner: Bundle


@dataclass(frozen=True, slots=True)
class Variant:
    """A known variant of an enum, and its number."""

    name: str
    number: int


Leaf = Value | Variant
Bundle = Leaf | Group | Some | Absent | Maybe

ENUM_TYPE = I64
_FLAG = ScalarType(DType.BOOL)


class Constants(Protocol):
    """Makes values out of nothing, where they are needed."""

    def constant(self, value: int | bool, type_: Type) -> Value: ...
    def zeros(self, type_: Type) -> Value: ...


def mapped(bundle: Bundle, leaf: Callable[[Leaf], Leaf]) -> Bundle:
    """The bundle with each of its leaves replaced, in order."""
    match bundle:
        case Value() | Variant():
            return leaf(bundle)
        case Group(items):
            return Group(tuple(mapped(item, leaf) for item in items))
        case Some(inner):
            return Some(mapped(inner, leaf))
        case Maybe(there, inner):
            return Maybe(_flag(leaf(there)), mapped(inner, leaf))
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
            return Some(map_typed(inner, inner_type(type_), leaf))
        case Maybe(there, inner):
            return Maybe(_flag(leaf(there, _FLAG)), map_typed(inner, inner_type(type_), leaf))
        case Absent():
            return bundle


def _flag(leaf: Leaf) -> Value:
    assert isinstance(leaf, Value), leaf
    return leaf


def part_types(type_: CheckType) -> tuple[CheckType, ...]:
    """The types of the parts of a tuple or struct."""
    if isinstance(type_, StructType):
        return tuple(t for _, t in type_.fields)
    assert isinstance(type_, TupleType), type_
    return type_.items


def part_names(type_: CheckType) -> tuple[str, ...]:
    """The names of the parts of a struct; those of a tuple are `0`, `1`, ..."""
    if isinstance(type_, StructType):
        return tuple(name for name, _ in type_.fields)
    return tuple(map(str, range(len(part_types(type_)))))


def inner_type(type_: CheckType) -> CheckType:
    """The type of what an optional holds."""
    assert isinstance(type_, OptionalType), type_
    return type_.inner


def value_names(bundle: Bundle, type_: CheckType, name: str) -> list[str]:
    """A name for each IR value of a bundle of `type_`, in order: `name`, and of what."""
    match bundle:
        case Value():
            return [name]
        case Group(items):
            parts = zip(part_names(type_), items, part_types(type_), strict=True)
            return [n for part, x, of in parts for n in value_names(x, of, f"{name}_{part}")]
        case Some(inner):
            return value_names(inner, inner_type(type_), name)
        case Maybe(_, inner):
            return [f"{name}_there", *value_names(inner, inner_type(type_), name)]
        case Absent() | Variant():
            return []


def leaves(bundle: Bundle) -> list[Value]:
    """The IR values of a bundle, in order."""
    match bundle:
        case Value():
            return [bundle]
        case Group(items):
            return [v for item in items for v in leaves(item)]
        case Some(inner):
            return leaves(inner)
        case Maybe(there, inner):
            return [there, *leaves(inner)]
        case Absent() | Variant():
            return []


def structs_of(bundles: Iterable[Bundle], types: Iterable[CheckType]) -> tuple[Fields, ...]:
    """Which of the IR values of bundles are a struct's fields, each a value of its own."""
    found: list[Fields] = []
    first = 0
    for bundle, type_ in zip(bundles, types, strict=True):
        for fields in _structs_in(bundle, type_):
            found.append(replace(fields, first=first + fields.first))
        first += len(leaves(bundle))
    return tuple(found)


def _structs_in(bundle: Bundle, type_: CheckType) -> tuple[Fields, ...]:
    match bundle, type_:
        case Group(items), StructType(key) if all(isinstance(x, Value) for x in items):
            return (Fields(key, part_names(type_), 0),)
        case Group(items), _:
            return structs_of(items, part_types(type_))
        case Some(inner), _:
            return _structs_in(inner, inner_type(type_))
        case Maybe(_, inner), _:
            within = _structs_in(inner, inner_type(type_))
            return tuple(replace(f, first=f.first + 1) for f in within)
        case _:
            return ()


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
    """The skeleton that both bundles fit, of the types that `a` has."""
    match a, b:
        case Group(), Group():
            pairs = zip(a.items, b.items, strict=True)
            return Group(tuple(merged(x, y) for x, y in pairs))
        case Some(), Some():
            return Some(merged(a.inner, b.inner))
        case Absent(), Absent():
            return a
        case Some(x) | Maybe(_, x), Some(y) | Maybe(_, y):
            return Maybe(Value(0, BOOL), merged(x, y))
        case (Some(x) | Maybe(_, x), Absent()) | (Absent(), Some(x) | Maybe(_, x)):
            return Maybe(Value(0, BOOL), skeleton(x))
        case Value(), Value():
            return Value(0, a.type)
        case _:
            return a if a == b else Value(0, ENUM_TYPE)


def fitted(bundle: Bundle, to: Bundle, make: Constants) -> list[Value]:
    """The values of `bundle` for the leaves of the skeleton `to`, which it fits."""
    match bundle, to:
        case Value(), Value():
            return [bundle]
        case Variant(), Value():
            return [make.constant(bundle.number, ENUM_TYPE)]
        case Group(), Group():
            pairs = zip(bundle.items, to.items, strict=True)
            return [v for x, y in pairs for v in fitted(x, y, make)]
        case Some(), Some():
            return fitted(bundle.inner, to.inner, make)
        case Some(), Maybe():
            there = make.constant(True, BOOL)
            return [there, *fitted(bundle.inner, to.inner, make)]
        case Maybe(), Maybe():
            return [bundle.there, *fitted(bundle.inner, to.inner, make)]
        case Absent(), Maybe():
            return [make.zeros(v.type) for v in leaves(to)]
        case _:
            assert bundle == to, (bundle, to)
            return []


def resolved(bundle: Bundle, question: Maybe, there: bool) -> Bundle:
    """The bundle in which `question` is known to be there or not."""
    match bundle:
        case Maybe():
            if bundle is question:
                return Some(bundle.inner) if there else Absent()
            return Maybe(bundle.there, resolved(bundle.inner, question, there))
        case Group(items):
            return Group(tuple(resolved(item, question, there) for item in items))
        case Some(inner):
            return Some(resolved(inner, question, there))
        case Value() | Variant() | Absent():
            return bundle


def question(bundle: Bundle) -> Maybe | None:
    """The first optional in the bundle of which only a run tells whether it is there."""
    match bundle:
        case Maybe():
            return bundle
        case Group(items):
            return next((q for q in map(question, items) if q is not None), None)
        case Some(inner):
            return question(inner)
        case Value() | Variant() | Absent():
            return None
