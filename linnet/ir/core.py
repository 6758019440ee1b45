"""The shape of the IR: modules of functions of operations in SSA form.

An operation is one record whatever it does; what a name means, its operands,
attributes and typing rule, stands in the table of `ops.py`, which the
verifier, the printer and the interpreter read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from linnet.dims.dims import Symbol
from linnet.ir.library import LibraryOp
from linnet.ir.places import Place
from linnet.ir.types import Type

NO_ATTRS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Value:
    """Defined once in a function; `id` is unique there."""

    id: int
    type: Type
    hint: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Region:
    """A body inside an operation: `params` are defined by it, `yields` are what it gives."""

    params: tuple[Value, ...]
    body: tuple[Operation, ...]
    yields: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """`place` is where it comes from, not compared."""

    name: str
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    attrs: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRS)
    regions: tuple[Region, ...] = ()
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Fields:
    """Parameters or results, from the one at `first` on, that are the `fields` of a `struct` in the
    source."""

    struct: str
    fields: tuple[str, ...]
    first: int

    @property
    def stop(self) -> int:
        """Where the next one is."""
        return self.first + len(self.fields)


@dataclass(frozen=True, slots=True)
class Function:
    """`op` is the library op that this is a body of, if it is one.

    A method's `param`, `state_read` and `state_write` name paths relative to the block it is
    called on; `call` says which block that is. `takes` and `gives` say which parameters and which
    results belong together; nothing depends on it, as on the hint of a value.
    """

    name: str
    op: LibraryOp | None
    params: tuple[Value, ...]
    body: tuple[Operation, ...]
    results: tuple[Value, ...]
    takes: tuple[Fields, ...] = field(default=(), compare=False)
    gives: tuple[Fields, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Module:
    """`entry` is the name of the function that is run; `symbols` are the dimensions left
    open, in the order in which the entry declares them, shared by every function."""

    entry: str
    symbols: tuple[Symbol, ...]
    functions: Mapping[str, Function]
