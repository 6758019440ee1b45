"""Which library op a function is a body of, and how that op is called there.

A function has operands alone; the generics that it was lowered for, and which of the op's
optional parameters are passed, stand here under the names that the op declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from linnet.dims.dims import Dim
from linnet.dtypes import AnyDType

T = TypeVar("T")

GenericArg = Dim | tuple[Dim, ...] | AnyDType
"""A dimension, the extents of a shape pack, or a dtype."""


@dataclass(frozen=True, slots=True)
class Absent:
    """An optional that is not passed."""


@dataclass(frozen=True, slots=True)
class Known:
    """An enum whose variant is known: no operand stands for it."""

    variant: str


@dataclass(frozen=True, slots=True)
class Parts:
    """A struct by the names of its fields, or a tuple by `0`, `1`, ..."""

    items: tuple[tuple[str, Argument], ...]


Argument = int | Absent | Known | Parts
"""What is passed for a parameter of an op. A number is the function's parameter that it is."""


@dataclass(frozen=True, slots=True)
class LibraryOp:
    """`name` is the identity of the op, `std.nn.linear::linear`."""

    name: str
    generics: tuple[tuple[str, GenericArg], ...] = ()
    params: tuple[tuple[str, Argument], ...] = ()

    def generic(self, name: str) -> GenericArg:
        """What the generic called `name` is here; a `LookupError` if the op has none."""
        return _named(self.generics, name, f"generic of `{self.name}`")

    def argument(self, name: str) -> Argument:
        """What is passed for the parameter called `name`; `pair.first` is a part of one. A
        `LookupError` if the op has none, or a holder of that part is absent."""
        first, *rest = name.split(".")
        found = _named(self.params, first, f"parameter of `{self.name}`")
        for part in rest:
            items = found.items if isinstance(found, Parts) else ()
            found = _named(items, part, f"part in `{name}` of `{self.name}`")
        return found


def positions(argument: Argument) -> Iterator[int]:
    """The function's parameters that are in an argument, in order."""
    match argument:
        case int():
            yield argument
        case Parts():
            for _, part in argument.items:
                yield from positions(part)
        case Absent() | Known():
            pass


def _named(items: tuple[tuple[str, T], ...], name: str, what: str) -> T:
    for key, value in items:
        if key == name:
            return value
    known = ", ".join(key for key, _ in items) or "none"
    raise LookupError(f"`{name}` is no {what}; there is {known}")
