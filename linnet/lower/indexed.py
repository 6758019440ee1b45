"""Lowering index notation: one `indexed` operation with a scalar expression.

What depends on no index is lowered outside the operation and becomes an operand of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from linnet.check.intrinsics import TABLE
from linnet.check.typed import (
    AtDynamic,
    AtStatic,
    IndexVar,
    Local,
    TAccess,
    TBinary,
    TCall,
    TConst,
    TDim,
    TExpr,
    TIf,
    TIndex,
    TIntrinsic,
    TLocal,
    TMatchEnum,
    TMatchOptional,
    TReduce,
    TUnary,
)
from linnet.check.types import EnumType, ScalarType, TensorType
from linnet.check.types import Type as CheckType
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import AnyDType, DType
from linnet.ir.core import Value
from linnet.ir.scalar import (
    Access,
    Apply,
    Const,
    DimValue,
    Index,
    Operand,
    Reduce,
    Scalar,
)
from linnet.lower.bundle import Absent, Maybe, Some, Variant
from linnet.lower.context import Context
from linnet.lower.inline import inline_call
from linnet.lower.names import BINARY, UNARY
from linnet.lower.points import grid, one_by_one, where, writes_at_points
from linnet.lower.sizes import Sizes
from linnet.source.files import Span

_NARROW = (DType.F16, DType.BF16)


def lower_indexed(
    at: Context, indices: Sequence[IndexVar], body: TExpr, type_: CheckType, span: Span
) -> Value:
    """Lower the tensor, or the scalar, of `body` at every point of `indices`."""
    whole = isinstance(body, TAccess | TReduce)
    if not indices and not whole:
        return at.value(body)
    notation = Notation(at)
    extents = [extent for var in indices for _, extent in notation.bind(var, span)]
    if indices and writes_at_points(notation, body):
        expr = one_by_one(notation, body)
    else:
        expr = notation.inside(body) if whole else notation.scalar(body)
    result = grid(notation, expr, tuple(range(len(extents))))
    return at.out.coerce(result, at.type(type_, span))


def accumulator(op: str, written: AnyDType | None, summand: AnyDType) -> AnyDType:
    """What a reduction is kept in: sums of 16-bit floats never in less than f32."""
    dtype = written or summand
    if op in ("sum", "prod") and dtype in _NARROW:
        return DType.F32
    return dtype


def factors(body: TExpr) -> list[TExpr]:
    """The factors of a product as it is written directly under a sum; else the body itself."""
    found: list[TExpr] = []
    waiting = [body]
    while waiting:
        expr = waiting.pop()
        if isinstance(expr, TBinary) and expr.op == "*":
            waiting += [expr.right, expr.left]
        else:
            found.append(expr)
    return found


def cast(scalar: Scalar, dtype: AnyDType) -> Scalar:
    """`scalar` in `dtype`."""
    return scalar if scalar.dtype == dtype else Apply("cast", (scalar,), dtype)


@dataclass(frozen=True, slots=True)
class Position:
    """Where an element is read along an axis, or along those of a pack. It is `safe` if it is
    within them wherever it is evaluated."""

    scalars: Sequence[Scalar]
    safe: bool = True


class Notation:
    """One `indexed` operation in the making."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.operands: list[Value] = []
        self.numbers: dict[IndexVar, tuple[int, ...]] = {}
        self.locals: dict[Local, Scalar] = {}
        self.extents: list[Dim] = []
        self.sizes = Sizes()
        self.guard: Scalar | None = None
        self.depth = 0

    def bind(self, var: IndexVar, span: Span) -> list[tuple[int, Dim]]:
        """Number an index; a pack index becomes one for every axis."""
        extent = var.extent
        whole = isinstance(extent, Symbol)
        extents = self.at.pack(extent) if whole else (self.at.extent(extent, span),)
        numbers = tuple(range(len(self.extents), len(self.extents) + len(extents)))
        self.extents += extents
        self.numbers[var] = numbers
        return list(zip(numbers, extents, strict=True))

    def operand(self, value: Value) -> int:
        """The number of `value` among the operands."""
        if value not in self.operands:
            self.operands.append(value)
        return self.operands.index(value)

    def depends(self, expr: TExpr) -> bool:
        """Whether `expr` has to be evaluated at every point."""
        uses = self.at.functions.uses.of(expr)
        return any(u in self.numbers or u in self.locals for u in uses)

    def fixed(self, expr: TExpr) -> bool:
        """Whether `expr` may be evaluated once, before all points."""
        unguarded = self.guard is None or not self.at.functions.faults.of(expr)
        return unguarded and not self.depends(expr)

    def scalar(self, expr: TExpr) -> Scalar:
        """The scalar expression of `expr`."""
        return self._outside(expr) if self.fixed(expr) else self.inside(expr)

    def inside(self, expr: TExpr) -> Scalar:
        """The scalar expression of `expr`, evaluated at every point."""
        match expr:
            case TLocal():
                return self.locals[expr.local]
            case TAccess():
                return self._access(expr)
            case TIndex():
                return self._element(expr)
            case TReduce():
                return self._reduce(expr)
            case TUnary():
                operand = self.scalar(expr.operand)
                return Apply(UNARY[expr.op], (operand,), self._dtype(expr.type))
            case TBinary():
                return self._binary(expr)
            case TIf():
                return self._select(expr)
            case TIntrinsic() if expr.name == "cast" or TABLE[expr.name].elementwise:
                return self._intrinsic(expr)
            case TMatchOptional() | TMatchEnum():
                return self._match(expr)
            case TCall():
                return inline_call(self, expr)
            case _:
                return one_by_one(self, expr)

    def _dtype(self, type_: CheckType) -> AnyDType:
        assert isinstance(type_, ScalarType | TensorType), type_
        return self.at.dtype(type_.dtype)

    def _outside(self, expr: TExpr) -> Scalar:
        if isinstance(expr, TConst):
            dtype = self._dtype(expr.type)
            return Const(self.at.number(expr.value, dtype, expr.span), dtype)
        if isinstance(expr, TDim):
            dtype, dim = self._dtype(expr.type), self.at.integer(expr.dim)
            if (number := dim.as_int()) is not None:
                self.at.number(number, dtype, expr.span)
            return self._dim(dim, dtype)
        value = self.at.value(expr)
        return Operand(self.operand(value), value.type.dtype)

    def _dim(self, dim: Dim, dtype: AnyDType) -> Scalar:
        number = dim.as_int()
        return DimValue(dim, dtype) if number is None else Const(number, dtype)

    def _binary(self, expr: TBinary) -> Scalar:
        left = self.scalar(expr.left)
        if expr.op in ("&&", "||"):
            right = self._where(left, expr.op == "&&", expr.right)
        else:
            right = self.scalar(expr.right)
        return Apply(BINARY[expr.op], (left, right), self._dtype(expr.type))

    def _where(self, condition: Scalar, holds: bool, expr: TExpr) -> Scalar:
        """`expr`, whose value counts only where `condition` is `holds`."""
        return self._under(condition, holds, [expr], lambda: self.scalar(expr))

    def _under(
        self, condition: Scalar, holds: bool, parts: Sequence[TExpr], lower: Callable[[], Scalar]
    ) -> Scalar:
        """What `lower` makes of `parts`, none of which counts unless `condition` is `holds`."""
        if not any(map(self.at.functions.faults.of, parts)):
            return lower()
        outer = self.guard
        here = condition if holds else Apply("not", (condition,), DType.BOOL)
        self.guard = here if outer is None else Apply("and", (outer, here), DType.BOOL)
        try:
            return lower()
        finally:
            self.guard = outer

    def _access(self, expr: TAccess) -> Scalar:
        if not self.fixed(expr.base):
            return one_by_one(self, expr)
        return self._element_of(expr.base, expr.positions, expr.span)

    def _element(self, expr: TIndex) -> Scalar:
        """`table[k]` of a function on elements, or `table[k, 0]`: all axes are dropped."""
        if not self.fixed(expr.base):
            return one_by_one(self, expr)
        positions: list[TExpr] = []
        for item in expr.items:
            if isinstance(item, AtDynamic):
                positions.append(item.at)
            elif isinstance(item, AtStatic):
                positions.append(TDim(item.at, ScalarType(DType.I64), expr.span))
            else:
                return one_by_one(self, expr)
        return self._element_of(expr.base, positions, expr.span)

    def _element_of(self, base: TExpr, positions: Sequence[IndexVar | TExpr], span: Span) -> Scalar:
        assert isinstance(base.type, TensorType)
        value = self.at.value(base)
        pairs = zip(positions, base.type.dims, strict=True)
        found = [self._position(at, extent) for at, extent in pairs]
        scalars = [p for position in found for p in position.scalars]
        if value.type.dims is None:
            return Operand(self.operand(value), value.type.dtype)
        read = Access(self.operand(value), tuple(scalars), value.type.dtype, span)
        if all(position.safe for position in found):
            return read
        assert self.guard is not None
        return where(self, self.guard, read)

    def _position(self, position: IndexVar | TExpr, extent: Dim | Symbol) -> Position:
        if isinstance(position, IndexVar):
            if position in self.numbers:
                return Position([Index(number, DType.I64) for number in self.numbers[position]])
            here = self.at.points[position]
            return Position([Operand(self.operand(value), DType.I64) for value in here])
        scalar = self.scalar(position)
        if isinstance(scalar, Const):
            return Position([Const(scalar.value, DType.I64)])
        if isinstance(scalar, DimValue):
            return Position([DimValue(scalar.dim, DType.I64)])
        scalar = cast(scalar, DType.I64)
        if self.guard is None:
            return Position([scalar])
        # Every point is evaluated; where this one does not count, the first element is read.
        assert isinstance(extent, Dim), extent
        first = Const(0, DType.I64)
        chosen = Apply("select", (self.guard, scalar, first), DType.I64)
        return Position([chosen], self.at.not_empty(extent))

    def _reduce(self, expr: TReduce) -> Scalar:
        pairs = [pair for var in expr.indices for pair in self.bind(var, expr.span)]
        dtype = self._dtype(expr.type)
        parts = factors(expr.body) if expr.op == "sum" else [expr.body]
        scalars = tuple(map(self.scalar, parts))
        written = None if expr.accumulator is None else self.at.dtype(expr.accumulator)
        kept = accumulator(expr.op, written, dtype)
        if pairs:
            return Reduce(expr.op, kept, tuple(pairs), scalars, dtype)
        if len(scalars) == 1:
            return scalars[0]
        wide = [cast(s, kept) for s in scalars]
        return cast(reduce(lambda a, b: Apply("mul", (a, b), kept), wide), dtype)

    def _select(self, expr: TIf) -> Scalar:
        known = self.at.known(expr.condition)
        if known is not None:
            return self.scalar(expr.then if known else expr.otherwise)
        return self._choice(self.scalar(expr.condition), expr.then, expr.otherwise)

    def _choice(self, condition: Scalar, then: TExpr, otherwise: TExpr) -> Scalar:
        a = self._where(condition, True, then)
        b = self._where(condition, False, otherwise)
        return Apply("select", (condition, a, b), a.dtype)

    def _intrinsic(self, expr: TIntrinsic) -> Scalar:
        dtype = self._dtype(expr.type)
        if expr.name == "cast":
            return cast(self.scalar(expr.args[0]), dtype)
        return Apply(expr.name, tuple(map(self.scalar, expr.args)), dtype)

    def _match(self, expr: TMatchOptional | TMatchEnum) -> Scalar:
        if not self.fixed(expr.subject):
            return one_by_one(self, expr)
        subject = self.at.expr(expr.subject)
        if isinstance(expr, TMatchEnum):
            if isinstance(subject, Variant):
                return self.scalar(dict(expr.arms)[subject.name])
            assert isinstance(subject, Value) and isinstance(expr.subject.type, EnumType)
            return self._cases(self.operand(subject), expr.subject.type, expr.arms)
        if isinstance(subject, Absent):
            return self.scalar(expr.none)
        assert isinstance(subject, Some | Maybe), subject
        self.at.env[expr.local] = subject.inner
        if isinstance(subject, Some):
            return self.scalar(expr.some)
        there = Operand(self.operand(subject.there), DType.BOOL)
        return self._choice(there, expr.some, expr.none)

    def _cases(self, subject: int, enum: EnumType, arms: tuple[tuple[str, TExpr], ...]) -> Scalar:
        """`match` on an enum that only a run tells, which is the operand `subject`."""
        name, arm = arms[0]
        if len(arms) == 1:
            return self.scalar(arm)
        number = Const(enum.variants.index(name), DType.I64)
        same = Apply("eq", (Operand(subject, DType.I64), number), DType.BOOL)
        first = self._where(same, True, arm)
        rest = [other for _, other in arms[1:]]
        second = self._under(same, False, rest, lambda: self._cases(subject, enum, arms[1:]))
        return Apply("select", (same, first, second), first.dtype)
