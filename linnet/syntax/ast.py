"""The syntax tree: what was written, nothing resolved.

Nodes are immutable; every node has the `span` it was read from. A `Name` is an
identifier at a place. Generic arguments and dimensions are ordinary expressions
(`Expr`), with `PackExpr` for `*S` and `ShapeExpr` for a shape literal `[A, B]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from linnet.source.files import Span

# --- names and paths ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class ModulePath:
    """`std.nn.linear`; `parts` has at least one name."""

    parts: tuple[Name, ...]
    span: Span

    def dotted(self) -> str:
        return ".".join(p.text for p in self.parts)


# --- types -------------------------------------------------------------------


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

# --- expressions -------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class UnaryExpr:
    op: Literal["!", "-", "+"]
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class BinaryExpr:
    """`op` is one of `|| && == != < <= > >= | ^ & + - * / %`; `op_span` is the operator's."""

    op: str
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

    op: Literal["sum", "prod", "max", "min", "any", "all"]
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

# --- statements --------------------------------------------------------------


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

# --- items -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Generic:
    """`N: Dim`, `*S: Shape`, `T: Float = bf16`; `kind` is what was written after the colon."""

    name: Name
    pack: bool
    kind: Name
    default: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class Param:
    name: Name
    type: TypeExpr
    default: Expr | None
    span: Span


@dataclass(frozen=True, slots=True)
class FunctionDecl:
    """A `fn`, `op` or `entry`, also as a block's method. `head` spans the signature.

    `where` holds relations: `BinaryExpr`s with a comparison.
    """

    kind: Literal["fn", "op", "entry"]
    public: bool
    name: Name
    generics: tuple[Generic, ...]
    params: tuple[Param, ...]
    result: TypeExpr
    where: tuple[Expr, ...]
    body: tuple[Stmt, ...]
    doc: str | None
    head: Span
    end: Span  # the closing brace
    span: Span


@dataclass(frozen=True, slots=True)
class Member:
    """`param w: T = none`, `buffer`, `state`, `sub`."""

    kind: Literal["param", "buffer", "state", "sub"]
    name: Name
    type: TypeExpr
    default: Expr | None
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class BlockDecl:
    public: bool
    name: Name
    generics: tuple[Generic, ...]
    where: tuple[Expr, ...]
    members: tuple[Member, ...]
    methods: tuple[FunctionDecl, ...]
    doc: str | None
    head: Span
    span: Span


@dataclass(frozen=True, slots=True)
class StructField:
    name: Name
    type: TypeExpr
    span: Span


@dataclass(frozen=True, slots=True)
class StructDecl:
    public: bool
    name: Name
    generics: tuple[Generic, ...]
    where: tuple[Expr, ...]
    fields: tuple[StructField, ...]
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class EnumDecl:
    public: bool
    name: Name
    variants: tuple[Name, ...]
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class AliasDecl:
    public: bool
    name: Name
    generics: tuple[Generic, ...]
    type: TypeExpr
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class ConstDecl:
    public: bool
    name: Name
    type: TypeExpr | None
    value: Expr
    doc: str | None
    span: Span


Item = FunctionDecl | BlockDecl | StructDecl | EnumDecl | AliasDecl | ConstDecl


@dataclass(frozen=True, slots=True)
class UseName:
    """`name as renamed`; `alias` is None where it keeps its name."""

    name: Name
    alias: Name | None


@dataclass(frozen=True, slots=True)
class UseDecl:
    """`use p.q::{a, b as c}` (`names`), or `use p.q` (`names` is None): the module itself."""

    path: ModulePath
    names: tuple[UseName, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Module:
    """A file. `complete` is False where the parser had to leave something out; `lost` are the
    names that it declares, as far as they are known."""

    path: ModulePath
    uses: tuple[UseDecl, ...]
    items: tuple[Item, ...]
    doc: str | None
    complete: bool
    lost: frozenset[str]
    span: Span
