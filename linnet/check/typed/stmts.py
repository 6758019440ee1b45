"""Typed statements."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.check.typed.exprs import TExpr
from linnet.check.typed.names import Local
from linnet.dims.dims import Dim
from linnet.source.files import Span


@dataclass(frozen=True, slots=True)
class TLet:
    """Declares `local` (also a `var`)."""

    local: Local
    value: TExpr
    span: Span


@dataclass(frozen=True, slots=True)
class TLetTuple:
    locals: tuple[Local, ...]
    value: TExpr
    span: Span


@dataclass(frozen=True, slots=True)
class TAssign:
    """`target` is a `var` or the name of a `state` member."""

    target: Local | str
    value: TExpr
    span: Span


@dataclass(frozen=True, slots=True)
class TReturn:
    value: TExpr
    span: Span


@dataclass(frozen=True, slots=True)
class TForSubs:
    """`static for variable in member`: `variable` stands for one block of the array."""

    variable: Local
    member: str
    count: Dim
    body: tuple[TStmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TForRange:
    """`variable` is an i64 scalar."""

    variable: Local
    start: Dim
    stop: Dim
    body: tuple[TStmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TWhile:
    condition: TExpr
    body: tuple[TStmt, ...]
    span: Span


TStmt = TLet | TLetTuple | TAssign | TReturn | TForSubs | TForRange | TWhile
