"""Expressions, dimensions and generic arguments among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from linnet.source.files import Span
from linnet.syntax.ast.names import Name


@dataclass(frozen=True, slots=True)
class IntLit:
    value: int
    span: Span


@dataclass(frozen=True, slots=True)
class FloatLit:
    """`text` is what was written, without underscores, so that it rounds once to its dtype."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class BoolLit:
    value: bool
    span: Span


@dataclass(frozen=True, slots=True)
class StringLit:
    value: str
    span: Span


@dataclass(frozen=True, slots=True)
class NoneLit:
    span: Span


@dataclass(frozen=True, slots=True)
class SomeExpr:
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class NameExpr:
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class PackExpr:
    """`*S` in a shape, a generic argument list or an index list."""

    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class ShapeExpr:
    """`[A, B]`, also `[]`: a generic argument, or an argument of reshape, permute, fill."""

    items: tuple[Expr, ...]
    span: Span


Comparison = Literal["==", "!=", "<", "<=", ">", ">="]
Logical = Literal["&&", "||"]
Bitwise = Literal["|", "^", "&"]
Arithmetic = Literal["+", "-", "*", "/", "%"]
BinaryOp = Comparison | Logical | Bitwise | Arithmetic
UnaryOp = Literal["!", "-", "+"]
Reduction = Literal["sum", "prod", "max", "min", "any", "all"]

COMPARISONS: frozenset[Comparison] = frozenset(get_args(Comparison))
LOGICAL: frozenset[Logical] = frozenset(get_args(Logical))
BITWISE: frozenset[Bitwise] = frozenset(get_args(Bitwise))
ARITHMETIC: frozenset[Arithmetic] = frozenset(get_args(Arithmetic))


@dataclass(frozen=True, slots=True)
class UnaryExpr:
    op: UnaryOp
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class BinaryExpr:
    """`op_span` is the operator's."""

    op: BinaryOp
    left: Expr
    right: Expr
    op_span: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Argument:
    """`name` is None for a positional argument."""

    name: Name | None
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class CallExpr:
    """`callee` is a `NameExpr` or a `FieldExpr` (`sub.method`, `module.item`)."""

    callee: Expr
    generics: tuple[Expr, ...] | None
    args: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FieldExpr:
    base: Expr
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class SliceExpr:
    """`a:b:step` as an index; absent parts are None, `:` alone has none."""

    start: Expr | None
    stop: Expr | None
    step: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class EllipsisExpr:
    span: Span


@dataclass(frozen=True, slots=True)
class IndexExpr:
    """`base[i, j]`; an item may also be a `SliceExpr`, `EllipsisExpr` or `PackExpr`."""

    base: Expr
    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class IndexName:
    """An index of index notation; `pack` for `*s`."""

    name: str
    pack: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ReduceExpr:
    """`sum<f32>[i, j] body`; `body` reaches as far right as it can."""

    op: Reduction
    accumulator: Expr | None
    indices: tuple[IndexName, ...]
    body: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class IfExpr:
    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class SomePattern:
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class NonePattern:
    span: Span


@dataclass(frozen=True, slots=True)
class VariantPattern:
    """A bare variant name."""

    name: Name
    span: Span


Pattern = SomePattern | NonePattern | VariantPattern


@dataclass(frozen=True, slots=True)
class MatchArm:
    pattern: Pattern
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class MatchExpr:
    subject: Expr
    arms: tuple[MatchArm, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FieldValue:
    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class StructExpr:
    """`KV<..> { key: k, value: v }`."""

    path: tuple[Name, ...]
    generics: tuple[Expr, ...] | None
    fields: tuple[FieldValue, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class TupleExpr:
    """At least two items; `(x)` is `x` alone."""

    items: tuple[Expr, ...]
    span: Span


Expr = (
    IntLit
    | FloatLit
    | BoolLit
    | StringLit
    | NoneLit
    | SomeExpr
    | NameExpr
    | PackExpr
    | ShapeExpr
    | UnaryExpr
    | BinaryExpr
    | CallExpr
    | FieldExpr
    | SliceExpr
    | EllipsisExpr
    | IndexExpr
    | ReduceExpr
    | IfExpr
    | MatchExpr
    | StructExpr
    | TupleExpr
)
