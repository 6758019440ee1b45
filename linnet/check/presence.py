"""What is known before a run of values that have no form of their own then: whether an optional is
there, and which variant an enum is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from linnet.check.types import EnumType, OptionalType, StructType, TupleType, Type

_numbers = count()


@dataclass(frozen=True, slots=True)
class Given:
    """What decides about an optional or enum when the program is lowered; equal only to itself."""

    number: int = field(default_factory=lambda: next(_numbers))


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar or tensor."""


@dataclass(frozen=True, slots=True)
class Optional:
    """`there` is whether it is there."""

    there: bool | Given
    inner: Form


@dataclass(frozen=True, slots=True)
class Enum:
    """`variant` is its name; None if only a run tells."""

    variant: str | Given | None


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple or a struct."""

    items: tuple[Form, ...]


Form = Value | Optional | Enum | Group
VALUE = Value()


class MismatchError(Exception):
    """An optional would be there or not depending on what only a run tells."""


def form_of(type_: Type, at_run_time: bool = False) -> Form:
    """The form of a value from outside, whose enums may be known only `at_run_time`."""
    match type_:
        case OptionalType(inner):
            return Optional(Given(), form_of(inner, at_run_time))
        case EnumType():
            return Enum(None if at_run_time else Given())
        case TupleType(items):
            return Group(tuple(form_of(t, at_run_time) for t in items))
        case StructType(fields=fields):
            return Group(tuple(form_of(t, at_run_time) for _, t in fields))
        case _:
            return VALUE


def merged(a: Form, b: Form) -> Form:
    """What is either of two, as a run decides."""
    match a, b:
        case Optional(), Optional():
            if a.there != b.there:
                raise MismatchError
            return a if a.there is False else Optional(a.there, merged(a.inner, b.inner))
        case Enum(), Enum():
            return a if a == b else Enum(None)
        case Group(), Group():
            return Group(tuple(merged(x, y) for x, y in zip(a.items, b.items, strict=True)))
        case _:
            return a


def chosen(a: Form, b: Form) -> Form:
    """What is either of two, as is decided before a run."""
    match a, b:
        case Optional(), Optional():
            there = a.there if a.there == b.there else Given()
            if a.there is False or b.there is False:
                return Optional(there, a.inner if b.there is False else b.inner)
            return Optional(there, chosen(a.inner, b.inner))
        case Enum(), Enum():
            if a == b:
                return a
            return Enum(None if a.variant is None or b.variant is None else Given())
        case Group(), Group():
            return Group(tuple(chosen(x, y) for x, y in zip(a.items, b.items, strict=True)))
        case _:
            return a


def loosened(form: Form) -> Form:
    """What a loop carries: the variant of an enum may change in it."""
    match form:
        case Enum():
            return Enum(None)
        case Optional(there, inner):
            return Optional(there, loosened(inner))
        case Group(items):
            return Group(tuple(map(loosened, items)))
        case Value():
            return form


def renamed(form: Form, new: Callable[[Given], Given]) -> Form:
    """`form` with what decides about it replaced."""
    match form:
        case Enum(variant):
            return Enum(new(variant)) if isinstance(variant, Given) else form
        case Optional(there, inner):
            known = new(there) if isinstance(there, Given) else there
            return Optional(known, renamed(inner, new))
        case Group(items):
            return Group(tuple(renamed(item, new) for item in items))
        case Value():
            return form
