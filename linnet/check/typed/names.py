"""What names stand for in the typed program."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.check.types import GenericArg, Type
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DTypeVar
from linnet.source.files import Span


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A parameter, `let`, `var`, pattern or loop variable; equal only to itself."""

    name: str
    type: Type
    mutable: bool
    span: Span


@dataclass(slots=True, eq=False)
class IndexVar:
    """An index of index notation. `extent` is a `Dim`, or for a pack index `*s` the pack
    `Symbol` it walks over. The checker learns it from the first access."""

    name: str
    pack: bool
    extent: Dim | Symbol


@dataclass(frozen=True, slots=True)
class TGeneric:
    """`binder` stands for the generic inside its item. `kind` is `Dim`, `Shape` or a dtype kind."""

    name: str
    kind: str
    binder: Symbol | DTypeVar
    default: GenericArg | None
    span: Span
    owner: str  # the key of its item
