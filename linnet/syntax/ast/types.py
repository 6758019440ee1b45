"""Types as they are written."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.source.files import Span
from linnet.syntax.ast.exprs import Expr
from linnet.syntax.ast.names import Name


@dataclass(frozen=True, slots=True)
class TensorTypeExpr:
    """`Tensor[B, *S, H / 2; T]`: `dims` are dimension expressions and `PackExpr`s."""

    dims: tuple[Expr, ...]
    dtype: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class NamedTypeExpr:
    """A scalar dtype, a dtype generic, a struct, an enum, an alias or a block: `KV<B, H>`."""

    path: tuple[Name, ...]
    args: tuple[Expr, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class OptionalTypeExpr:
    inner: TypeExpr
    span: Span


@dataclass(frozen=True, slots=True)
class TupleTypeExpr:
    items: tuple[TypeExpr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ArrayTypeExpr:
    """`[Layer<H, T>; Layers]`."""

    element: TypeExpr
    count: Expr
    span: Span


TypeExpr = TensorTypeExpr | NamedTypeExpr | OptionalTypeExpr | TupleTypeExpr | ArrayTypeExpr
