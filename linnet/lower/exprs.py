"""Lowering expressions."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.check.typed import (
    TAccess,
    TBinary,
    TCall,
    TConst,
    TDim,
    TExpr,
    TField,
    TIf,
    TIndex,
    TIndexed,
    TIntrinsic,
    TLocal,
    TMatchEnum,
    TMatchOptional,
    TMember,
    TNone,
    TReduce,
    TSome,
    TStruct,
    TSubMember,
    TTuple,
    TUnary,
    TVariant,
)
from linnet.check.types import EnumType, OptionalType, StructType
from linnet.check.types import Type as CheckType
from linnet.check.walk import as_written
from linnet.dims.dims import DimError
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Region, Value
from linnet.ir.types import BOOL, Type
from linnet.lower.bundle import (
    ENUM_TYPE,
    Absent,
    Bundle,
    Group,
    Leaf,
    Maybe,
    Some,
    Variant,
    fill,
    fitted,
    leaves,
    map_typed,
    merged,
)
from linnet.lower.calls import lower_call
from linnet.lower.context import Context, Thunk
from linnet.lower.fail import fail
from linnet.lower.indexed import lower_indexed
from linnet.lower.intrinsics import lower_index, lower_intrinsic
from linnet.lower.names import BINARY, UNARY
from linnet.lower.presence import is_present
from linnet.source.files import Span
from linnet.syntax.ast import COMPARISONS

Made = TSome | TNone | TTuple | TStruct | TField | TVariant


class ExprLowerer(Context):
    """Lowers the expressions of one function."""

    def expr(self, expr: TExpr) -> Bundle:
        if id(expr) in self.ready:
            return self.ready[id(expr)]
        outer = self.out.place
        self.out.place = expr.span
        try:
            return self._expr(expr)
        except DimError as error:
            fail("E2205", str(error), expr.span, label="with these generics")
        finally:
            self.out.place = outer

    def _expr(self, expr: TExpr) -> Bundle:
        match expr:
            case TConst():
                return self._constant(expr.value, self.type(expr.type, expr.span), expr.span)
            case TDim():
                return self._dim(expr)
            case TLocal():
                return self.env[expr.local]
            case TMember():
                return self._member(expr)
            case TSubMember():
                return Some(Group(())) if is_present(self.presence, expr.name) else Absent()
            case TUnary():
                operand = self.value(expr.operand)
                return self.out.one(UNARY[expr.op], [operand], operand.type)
            case TBinary():
                return self._binary(expr)
            case TIf():
                return self._if(expr)
            case TMatchOptional() | TMatchEnum():
                return self._match(expr)
            case TAccess() | TReduce():
                # Outside index notation, or hoisted out of it: it depends on no index.
                return lower_indexed(self, (), expr, expr.type, expr.span)
            case TIndexed():
                return lower_indexed(self, expr.indices, expr.body, expr.type, expr.span)
            case TIndex():
                return lower_index(self, expr)
            case TIntrinsic():
                return lower_intrinsic(self, expr)
            case TCall():
                return lower_call(self, expr)
            case TSome() | TNone() | TTuple() | TStruct() | TField() | TVariant():
                return self._made(expr)

    def _made(self, expr: Made) -> Bundle:
        """Tuples, structs, optionals and enums: no operation of their own."""
        match expr:
            case TSome():
                return Some(self.expr(expr.value))
            case TTuple():
                return Group(tuple(self.expr(item) for item in expr.items))
            case TStruct():
                fields = {i: self.expr(expr.values[i]) for i in as_written(expr.values)}
                return Group(tuple(fields[i] for i in range(len(expr.values))))
            case TField():
                base, type_ = self.expr(expr.base), expr.base.type
                assert isinstance(base, Group) and isinstance(type_, StructType)
                return base.items[[name for name, _ in type_.fields].index(expr.name)]
            case TVariant():
                assert isinstance(expr.type, EnumType)
                return Variant(expr.name, expr.type.variants.index(expr.name))
            case TNone():
                return Absent()

    def _constant(self, value: int | bool | str, type_: Type, span: Span) -> Value:
        value = self.number(value, type_.dtype, span)
        scalar = self.out.one("constant", [], Type(type_.dtype), value=value)
        return self.out.broadcast(scalar, type_.shape)

    def _dim(self, expr: TDim) -> Value:
        dim, type_ = self.integer(expr.dim), self.type(expr.type, expr.span)
        number = dim.as_int()
        if number is None:
            return self.out.one("dim", [], type_, dim=dim)
        return self._constant(number, type_, expr.span)

    def _member(self, expr: TMember) -> Bundle:
        type_ = expr.type
        if isinstance(type_, OptionalType):
            if not is_present(self.presence, expr.name):
                return Absent()
            return Some(self._read(expr, type_.inner))
        return self._read(expr, type_)

    def _read(self, expr: TMember, type_: CheckType) -> Value:
        ir_type, path = self.type(type_, expr.span), (expr.name,)
        if expr.kind == "state":
            return self.out.one("state_read", [], ir_type, path=path)
        if expr.name not in self.members:
            self.members[expr.name] = self.out.first("param", ir_type, expr.name, path=path)
        return self.members[expr.name]

    def _binary(self, expr: TBinary) -> Value:
        if expr.op in ("&&", "||") and self.functions.faults.of(expr.right):
            return self._short_circuit(expr)
        left, right = self.value(expr.left), self.value(expr.right)
        type_ = self.type(expr.type, expr.span)
        left = self.out.broadcast(left, type_.shape)
        right = self.out.broadcast(right, type_.shape)
        operand = DType.BOOL if expr.op in COMPARISONS else left.type.dtype
        return self.out.one(BINARY[expr.op], [left, right], left.type.with_dtype(operand))

    def _short_circuit(self, expr: TBinary) -> Value:
        left = self.value(expr.left)
        self.out.open()
        right = self.out.close_with([self.value(expr.right)])
        self.out.open()
        known = self.out.one("constant", [], BOOL, value=expr.op == "||")
        other = self.out.close_with([known])
        regions = (right, other) if expr.op == "&&" else (other, right)
        return self.out.emit("if", [left], [BOOL], regions=regions)[0]

    def _if(self, expr: TIf) -> Bundle:
        known = self.known(expr.condition)
        if known is not None:
            return self.expr(expr.then if known else expr.otherwise)
        condition = self.value(expr.condition)
        return self.branch(
            condition, lambda: self.expr(expr.then), lambda: self.expr(expr.otherwise)
        )

    def branch(self, condition: Value, then: Thunk, otherwise: Thunk) -> Bundle:
        """An `if` operation whose regions give what `then` and `otherwise` lower."""
        self.out.open()
        first = then()
        first_body = self.out.close()
        self.out.open()
        second = otherwise()
        second_body = self.out.close()
        common = merged(first, second)
        types = [v.type for v in leaves(common)]
        regions = [
            self._yielding(body, bundle, common, types)
            for body, bundle in ((first_body, first), (second_body, second))
        ]
        return fill(common, iter(self.out.emit("if", [condition], types, regions=regions)))

    def _yielding(
        self, body: Builder, bundle: Bundle, common: Bundle, types: Sequence[Type]
    ) -> Region:
        self.out.open(body)
        values = fitted(bundle, common, self.out)
        return self.out.close_with(
            [self.out.coerce(v, t) for v, t in zip(values, types, strict=True)]
        )

    def _match(self, expr: TMatchOptional | TMatchEnum) -> Bundle:
        subject = self.expr(expr.subject)
        if isinstance(expr, TMatchOptional):
            if isinstance(subject, Absent):
                return self.expr(expr.none)
            assert isinstance(subject, Some | Maybe), subject
            self.env[expr.local] = subject.inner
            if isinstance(subject, Some):
                return self.expr(expr.some)
            return self.branch(
                subject.there, lambda: self.expr(expr.some), lambda: self.expr(expr.none)
            )
        if isinstance(subject, Variant):
            return self.expr(dict(expr.arms)[subject.name])
        assert isinstance(subject, Value) and isinstance(expr.subject.type, EnumType)
        return self._cases(subject, expr.subject.type, expr.arms)

    def _cases(self, subject: Value, enum: EnumType, arms: tuple[tuple[str, TExpr], ...]) -> Bundle:
        name, arm = arms[0]
        if len(arms) == 1:
            return self.expr(arm)
        number = self.out.constant(enum.variants.index(name), ENUM_TYPE)
        same = self.out.one("eq", [subject, number], BOOL)
        return self.branch(
            same, lambda: self.expr(arm), lambda: self._cases(subject, enum, arms[1:])
        )

    def coerced(self, bundle: Bundle, type_: CheckType, span: Span) -> Bundle:
        """`bundle` with every value of exactly the type that `type_` gives it."""

        def leaf(x: Leaf, of: CheckType) -> Leaf:
            if isinstance(x, Variant) or isinstance(of, EnumType):
                return x
            return self.out.coerce(x, self.type(of, span))

        return map_typed(bundle, type_, leaf)
