"""Items, their parts, and the module that holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from linnet.source.files import Span
from linnet.syntax.ast.exprs import Expr
from linnet.syntax.ast.names import ModulePath, Name
from linnet.syntax.ast.stmts import Stmt
from linnet.syntax.ast.types import TypeExpr


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
    doc: str | None
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
    doc: str | None
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
class EnumVariant:
    name: Name
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class EnumDecl:
    public: bool
    name: Name
    variants: tuple[EnumVariant, ...]
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
