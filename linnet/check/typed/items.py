"""Typed items, and the program of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from linnet.check.typed.exprs import TExpr
from linnet.check.typed.names import Local, TGeneric
from linnet.check.typed.stmts import TStmt
from linnet.check.types import GenericArg, Type
from linnet.dims.dims import Dim
from linnet.dims.prover import Relation
from linnet.source.files import Span


@dataclass(frozen=True, slots=True)
class TParam:
    local: Local
    default: TExpr | None


@dataclass(slots=True)
class TFunction:
    """`key`: `std.nn.linear::linear`, a method `gpt_oss::Model.forward`. `block` is the key of
    the method's block. `facts` are its own `where`, the block's not repeated. `body` ends in a
    `TReturn`; it is empty where the function had errors."""

    key: str
    kind: Literal["fn", "op", "entry"]
    public: bool
    block: str | None
    generics: tuple[TGeneric, ...]
    params: tuple[TParam, ...]
    result: Type
    facts: tuple[Relation, ...]
    doc: str | None
    span: Span
    body: tuple[TStmt, ...] = ()


@dataclass(frozen=True, slots=True)
class TMemberDecl:
    """`type` of a `param` is a tensor or scalar; `optional` where it may be absent."""

    kind: Literal["param", "buffer", "state"]
    name: str
    type: Type
    optional: bool
    span: Span


@dataclass(frozen=True, slots=True)
class TSub:
    """`count` is None for a single sub, else the length of the array. `args` bind the generics
    of `block`, written over the enclosing block's."""

    name: str
    block: str
    args: tuple[GenericArg, ...]
    count: Dim | None
    optional: bool
    span: Span


@dataclass(slots=True)
class TBlock:
    key: str
    generics: tuple[TGeneric, ...]
    facts: tuple[Relation, ...]
    members: dict[str, TMemberDecl]
    subs: dict[str, TSub]
    methods: dict[str, str]  # name -> key in Program.functions
    doc: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class TQuotient:
    """`num / den` of compile-time integers; a `TDim` or `TConst` keeps only what comes of it.
    `sign` is where the `/` stands."""

    num: Dim
    den: Dim
    sign: Span


@dataclass(slots=True)
class Program:
    """Everything checked. `roots` are the keys of the modules that were asked for. `quotients` are
    those that stand in values, by their places."""

    functions: dict[str, TFunction] = field(default_factory=dict[str, TFunction])
    blocks: dict[str, TBlock] = field(default_factory=dict[str, TBlock])
    quotients: dict[Span, TQuotient] = field(default_factory=dict[Span, TQuotient])
    roots: tuple[str, ...] = ()
