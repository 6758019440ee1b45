"""The typed program: what the checker proves and `lower` reads.

Every expression has a type whose dimensions are canonical `Dim`s over the
generics of its item; every call has its callee and generic arguments. No type
in it is `ErrorType` or `LiteralType` when the program has no errors: a
literal has taken the dtype of its context.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from linnet.check.intrinsics import Intrinsic
from linnet.check.types import GenericArg, OptionalType, StructType, Type
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Relation
from linnet.dtypes import AnyDType, DTypeVar
from linnet.source.files import Span
from linnet.syntax.ast import BinaryOp, Reduction


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


# --- expressions; each has `type` and `span` ---------------------------------


@dataclass(frozen=True, slots=True)
class TConst:
    """`value` is an int, a bool, or the text of a float literal (may begin with `-`)."""

    value: int | bool | str
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TDim:
    """A compile-time integer as a runtime scalar of `type`."""

    dim: Dim
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TLocal:
    local: Local
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TMember:
    """A `param`, `buffer` or `state` of the method's block."""

    kind: Literal["param", "buffer", "state"]
    name: str
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TSubMember:
    """An optional `sub`, of which a `match` asks whether it is there. `type` is an optional of
    nothing: the block itself is no value."""

    name: str
    type: OptionalType
    span: Span


@dataclass(frozen=True, slots=True)
class TUnary:
    """Of a scalar or a tensor; `+x` is `x`."""

    op: Literal["-", "!"]
    operand: TExpr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TBinary:
    """Arithmetic, bitwise, comparison (`type` is bool), and scalar `&&` `||`.

    Operands are scalars or tensors of one dtype; they broadcast right-aligned to `type`.
    """

    op: BinaryOp
    left: TExpr
    right: TExpr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TIf:
    condition: TExpr
    then: TExpr
    otherwise: TExpr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TMatchOptional:
    subject: TExpr
    local: Local
    some: TExpr
    none: TExpr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TMatchEnum:
    subject: TExpr
    arms: tuple[tuple[str, TExpr], ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TSome:
    value: TExpr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TNone:
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TTuple:
    items: tuple[TExpr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TStruct:
    """`values` in the order of the struct's fields."""

    values: tuple[TExpr, ...]
    type: StructType
    span: Span


@dataclass(frozen=True, slots=True)
class TField:
    base: TExpr
    name: str
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TVariant:
    name: str
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class SubRef:
    """Which sub block a method is called on: a member of this block (`name`), or the loop
    variable of a `static for` over a sub array (`loop`). Exactly one is given."""

    name: str | None
    loop: Local | None


@dataclass(frozen=True, slots=True)
class TCall:
    """A call of `callee` (a key of `Program.functions`). `generics` are in the order of the
    callee's own generics, written over this item's. `args` are in the order of its parameters,
    None where the default is taken. `sub` is given for a method of a sub block; a call of a
    method of the same block has `own` True. The sub block's generics come from its member."""

    callee: str
    generics: tuple[GenericArg, ...]
    args: tuple[TExpr | None, ...]
    sub: SubRef | None
    own: bool
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TIntrinsic:
    """A call of the prelude.

    `args` are the tensors and scalars among its arguments, which broadcast to `type` where it is
    elementwise; a target shape or dtype is that of `type`. `axes` are those of `permute`, or the
    one of `concat` and `cumsum`; they count shape elements, a pack being one.
    """

    name: Intrinsic
    args: tuple[TExpr, ...]
    axes: tuple[int, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class AtStatic:
    """Drops the axis at a compile-time position."""

    at: Dim


@dataclass(frozen=True, slots=True)
class AtDynamic:
    """Drops the axis at a runtime integer scalar."""

    at: TExpr


@dataclass(frozen=True, slots=True)
class AtRange:
    """Keeps the axis from `start` to `stop` (excluded) in steps."""

    start: Dim
    stop: Dim
    step: int


@dataclass(frozen=True, slots=True)
class AtAll:
    """Keeps a whole axis or pack."""


AxisIndex = AtStatic | AtDynamic | AtRange | AtAll


@dataclass(frozen=True, slots=True)
class TIndex:
    """`items` has one element per element of the base's shape."""

    base: TExpr
    items: tuple[AxisIndex, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TIndexed:
    """Index notation: the tensor (or, without `indices`, the scalar) of `body` at every point.

    Inside `body`, `TAccess` and `TReduce` occur, everything else is scalar. A subexpression
    that depends on no index may be any expression of scalar type.
    """

    indices: tuple[IndexVar, ...]
    body: TExpr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TAccess:
    """`base[positions]`, one position per element of the base's shape: an index, or a scalar
    integer expression (constant, runtime, or itself index notation). `base` depends on no index."""

    base: TExpr
    positions: tuple[IndexVar | TExpr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class TReduce:
    """`accumulator` is the dtype to accumulate in; None means the language's rule."""

    op: Reduction
    accumulator: AnyDType | None
    indices: tuple[IndexVar, ...]
    body: TExpr
    type: Type
    span: Span


TExpr = (
    TConst
    | TDim
    | TLocal
    | TMember
    | TSubMember
    | TUnary
    | TBinary
    | TIf
    | TMatchOptional
    | TMatchEnum
    | TSome
    | TNone
    | TTuple
    | TStruct
    | TField
    | TVariant
    | TCall
    | TIntrinsic
    | TIndex
    | TIndexed
    | TAccess
    | TReduce
)

# --- statements --------------------------------------------------------------


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

# --- items -------------------------------------------------------------------


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
