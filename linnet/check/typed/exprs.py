"""Typed expressions; each has `type` and `span`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from linnet.check.intrinsics import Intrinsic
from linnet.check.typed.names import IndexVar, Local
from linnet.check.types import GenericArg, OptionalType, StructType, Type
from linnet.dims.dims import Dim
from linnet.dtypes import AnyDType
from linnet.source.files import Span
from linnet.syntax.ast import BinaryOp, Reduction


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
