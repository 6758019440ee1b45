"""Statements."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.source.files import Span
from linnet.syntax.ast.exprs import Expr, IndexName
from linnet.syntax.ast.names import Name
from linnet.syntax.ast.types import TypeExpr


@dataclass(frozen=True, slots=True)
class LetStmt:
    """`let x: Type = value`, `var x = value`; `let y[i, j] = value` has `indices`."""

    mutable: bool
    name: Name
    type: TypeExpr | None
    indices: tuple[IndexName, ...] | None
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class LetTupleStmt:
    """`let (a, b) = value`."""

    names: tuple[Name, ...]
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class AssignStmt:
    """`x = value`, or `x[i, j] = value` in index notation (`indices`)."""

    target: Name
    indices: tuple[IndexName, ...] | None
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class ReturnStmt:
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class StaticForStmt:
    """`static for v in subs { }` (`stop` None) or `static for i in start..stop { }`."""

    variable: Name
    start: Expr
    stop: Expr | None
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class WhileStmt:
    condition: Expr
    body: tuple[Stmt, ...]
    span: Span


Stmt = LetStmt | LetTupleStmt | AssignStmt | ReturnStmt | StaticForStmt | WhileStmt
