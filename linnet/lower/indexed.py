"""Lowering index notation: one `indexed` operation with a scalar expression.

What depends on no index is lowered outside the operation and becomes an operand of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linnet.check.dims import Dim, Symbol
from linnet.check.dtypes import AnyDType, DType
from linnet.check.typed import (
    IndexVar,
    Local,
    TAccess,
    TBinary,
    TCall,
    TConst,
    TDim,
    TExpr,
    TForRange,
    TForSubs,
    TFunction,
    TIf,
    TIntrinsic,
    TLet,
    TLetTuple,
    TLocal,
    TMatchEnum,
    TMatchOptional,
    TReduce,
    TReturn,
    TUnary,
    TWhile,
)
from linnet.check.types import ScalarType, TensorType
from linnet.check.types import Type as CheckType
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
from linnet.lower.bindings import Bound, arguments
from linnet.lower.bundle import Some, Variant
from linnet.lower.context import Context
from linnet.lower.fail import refuse_at_points, refuse_unguarded
from linnet.lower.names import BINARY, ELEMENTWISE, UNARY
from linnet.lower.sizes import Sizes
from linnet.source.files import Span

_NARROW = (DType.F16, DType.BF16)
# A function of elements is put in place of its call; what it names and uses twice is there twice.
_LARGEST = 1000


def lower_indexed(
    at: Context, indices: Sequence[IndexVar], body: TExpr, type_: CheckType, span: Span
) -> Value:
    """Lower the tensor, or the scalar, of `body` at every point of `indices`."""
    whole = isinstance(body, TAccess | TReduce)
    if not indices and not whole:
        return at.value(body)
    notation = _Notation(at)
    extents = [extent for var in indices for _, extent in notation.bind(var, span)]
    expr = notation.inside(body) if whole else notation.scalar(body)
    wanted = at.type(type_, span)
    result = at.out.one(
        "indexed",
        notation.operands,
        wanted.with_dims(tuple(extents) or None),
        indices=tuple(extents),
        expr=expr,
    )
    return at.out.coerce(result, wanted)


def accumulator(op: str, written: AnyDType | None, summand: AnyDType) -> AnyDType:
    """What a reduction is kept in: sums of 16-bit floats never in less than f32."""
    dtype = written or summand
    if op in ("sum", "prod") and dtype in _NARROW:
        return DType.F32
    return dtype


class _Notation:
    """One `indexed` operation in the making."""

    def __init__(self, at: Context) -> None:
        self.at = at
        self.operands: list[Value] = []
        self.numbers: dict[IndexVar, tuple[int, ...]] = {}
        self.locals: dict[Local, Scalar] = {}
        self.count = 0
        self.sizes = Sizes()

    def bind(self, var: IndexVar, span: Span) -> list[tuple[int, Dim]]:
        """Number an index; a pack index becomes one for every axis."""
        extents = self._extents(var.extent, span)
        numbers = tuple(range(self.count, self.count + len(extents)))
        self.count += len(extents)
        self.numbers[var] = numbers
        return list(zip(numbers, extents, strict=True))

    def _extents(
        self, extent: Dim | Symbol | tuple[Dim | Symbol, ...], span: Span
    ) -> tuple[Dim, ...]:
        if isinstance(extent, tuple):
            return tuple(d for e in extent for d in self._extents(e, span))
        return (
            self.at.pack(extent) if isinstance(extent, Symbol) else (self.at.extent(extent, span),)
        )

    def operand(self, value: Value) -> int:
        """The number of `value` among the operands."""
        if value not in self.operands:
            self.operands.append(value)
        return self.operands.index(value)

    def depends(self, expr: TExpr) -> bool:
        """Whether `expr` has to be evaluated at every point."""
        uses = self.at.functions.uses.of(expr)
        return any(u in self.numbers or u in self.locals for u in uses)

    def scalar(self, expr: TExpr) -> Scalar:
        """The scalar expression of `expr`."""
        if not self.depends(expr):
            return self._outside(expr)
        return self.inside(expr)

    def inside(self, expr: TExpr) -> Scalar:
        """The scalar expression of `expr`, evaluated at every point."""
        match expr:
            case TLocal():
                return self.locals[expr.local]
            case TAccess():
                return self._access(expr)
            case TReduce():
                return self._reduce(expr)
            case TUnary():
                operand = self.scalar(expr.operand)
                return Apply(UNARY[expr.op], (operand,), self._dtype(expr.type))
            case TBinary():
                if expr.op in ("&&", "||") and self.at.functions.faults.of(expr.right):
                    refuse_unguarded(expr.right.span, f"the right side of `{expr.op}`")
                args = self.scalar(expr.left), self.scalar(expr.right)
                return Apply(BINARY[expr.op], args, self._dtype(expr.type))
            case TIf():
                return self._select(expr)
            case TIntrinsic():
                return self._intrinsic(expr)
            case TMatchOptional() | TMatchEnum():
                return self._match(expr)
            case TCall():
                return self._inline(expr)
            case _:
                return refuse_at_points(expr.span)

    def _dtype(self, type_: CheckType) -> AnyDType:
        assert isinstance(type_, ScalarType | TensorType), type_
        return self.at.dtype(type_.dtype)

    def _outside(self, expr: TExpr) -> Scalar:
        if isinstance(expr, TConst):
            dtype = self._dtype(expr.type)
            return Const(self.at.number(expr.value, dtype, expr.span), dtype)
        if isinstance(expr, TDim):
            dtype, dim = self._dtype(expr.type), self.at.integer(expr.dim)
            number = dim.as_int()
            if number is None:
                return DimValue(dim, dtype)
            return Const(self.at.number(number, dtype, expr.span), dtype)
        value = self.at.value(expr)
        return Operand(self.operand(value), value.type.dtype)

    def _access(self, expr: TAccess) -> Scalar:
        if self.depends(expr.base):
            refuse_at_points(expr.base.span)
        base = self.at.value(expr.base)
        positions = tuple(p for position in expr.positions for p in self._position(position))
        if base.type.dims is None:
            return Operand(self.operand(base), base.type.dtype)
        return Access(self.operand(base), positions, base.type.dtype)

    def _position(self, position: IndexVar | TExpr) -> Iterable[Scalar]:
        if isinstance(position, IndexVar):
            return [Index(number, DType.I64) for number in self.numbers[position]]
        scalar = self.scalar(position)
        if scalar.dtype == DType.I64:
            return [scalar]
        if isinstance(scalar, Const):
            return [Const(scalar.value, DType.I64)]
        if isinstance(scalar, DimValue):
            return [DimValue(scalar.dim, DType.I64)]
        return [Apply("cast", (scalar,), DType.I64)]

    def _reduce(self, expr: TReduce) -> Scalar:
        pairs = [pair for var in expr.indices for pair in self.bind(var, expr.span)]
        body = self.scalar(expr.body)
        if not pairs:
            return body
        written = None if expr.accumulator is None else self.at.dtype(expr.accumulator)
        kept = accumulator(expr.op, written, body.dtype)
        return Reduce(expr.op, kept, tuple(pairs), body, self._dtype(expr.type))

    def _select(self, expr: TIf) -> Scalar:
        known = self.at.known(expr.condition)
        if known is not None:
            return self.scalar(expr.then if known else expr.otherwise)
        for branch in (expr.then, expr.otherwise):
            if self.at.functions.faults.of(branch):
                refuse_unguarded(branch.span, "a branch of `if`")
        parts = (expr.condition, expr.then, expr.otherwise)
        return Apply("select", tuple(map(self.scalar, parts)), self._dtype(expr.type))

    def _intrinsic(self, expr: TIntrinsic) -> Scalar:
        dtype = self._dtype(expr.type)
        if expr.name == "cast":
            operand = self.scalar(expr.args[0])
            return operand if operand.dtype == dtype else Apply("cast", (operand,), dtype)
        if expr.name in ELEMENTWISE or expr.name == "select":
            return Apply(expr.name, tuple(map(self.scalar, expr.args)), dtype)
        return refuse_at_points(expr.span)

    def _match(self, expr: TMatchOptional | TMatchEnum) -> Scalar:
        if self.depends(expr.subject):
            refuse_at_points(expr.subject.span)
        subject = self.at.expr(expr.subject)
        if isinstance(expr, TMatchEnum):
            if not isinstance(subject, Variant):
                refuse_at_points(expr.subject.span)
            return self.scalar(dict(expr.arms)[subject.name])
        if not isinstance(subject, Some):
            return self.scalar(expr.none)
        self.at.env[expr.local] = subject.inner
        return self.scalar(expr.some)

    def _inline(self, expr: TCall) -> Scalar:
        """A call on elements: the callee's body in place of the call."""
        callee = self.at.program.functions[expr.callee]
        if expr.sub is not None:
            refuse_at_points(expr.span)
        scope = arguments(callee.generics, expr.generics, self.at.scope)
        if expr.own:
            scope = self.at.scope | scope
        outer, self.locals = self.locals, self._arguments(expr, callee, scope)
        try:
            with self.at.within(scope):
                return self._body(callee, expr.span)
        finally:
            self.locals = outer

    def _arguments(self, expr: TCall, callee: TFunction, scope: Bound) -> dict[Local, Scalar]:
        inner = dict(self.locals)
        for param, given in zip(callee.params, expr.args, strict=True):
            arg = given or param.default
            assert arg is not None, callee.key
            with self.at.within(self.at.scope if given else scope):
                if isinstance(arg.type, ScalarType):
                    inner[param.local] = self.scalar(arg)
                elif self.depends(arg):
                    refuse_at_points(arg.span)
                else:
                    self.at.env[param.local] = self.at.expr(arg)
        return inner

    def _body(self, callee: TFunction, call: Span) -> Scalar:
        for stmt in callee.body:
            if isinstance(stmt, TForSubs | TForRange | TWhile | TLetTuple):
                break
            if not isinstance(stmt.value.type, ScalarType):
                break
            value = self.scalar(stmt.value)
            if self.sizes.of(value) > _LARGEST:
                break
            if isinstance(stmt, TReturn):
                return value
            target = stmt.local if isinstance(stmt, TLet) else stmt.target
            if isinstance(target, str):
                break
            self.locals[target] = value
        return refuse_at_points(call)
