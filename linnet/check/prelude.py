"""Calls of the prelude; what gives a tensor of another shape is in `prelude_shapes.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from linnet.check import expr
from linnet.check import prelude_shapes as shapes
from linnet.check.convert import adapt, bad, literal_fits, loosely, settle
from linnet.check.dimexpr import dtype_of
from linnet.check.hints import others_first, without_shape
from linnet.check.intrinsics import RESERVED, TABLE, Intrinsic, intrinsic
from linnet.check.operators import broadcast, operand, shaped
from linnet.check.prelude_args import arguments, does_not_apply, operand_of
from linnet.check.rewrite import one_side
from linnet.check.scope import Scope, is_error
from linnet.check.typed import TDim, TExpr, TIntrinsic
from linnet.check.types import LiteralType, ScalarType, TensorType, Type, element_dtype
from linnet.dims.dims import dim_max, dim_min
from linnet.dtypes import FLOATS, INTEGERS, AnyDType, DType, DTypeVar, admits
from linnet.source.files import Span
from linnet.syntax import ast

_NUMBERS = FLOATS | INTEGERS
_ANY = frozenset(DType)


def call(scope: Scope, e: ast.CallExpr, name: str, hint: Type | None) -> TExpr:
    """A call of the prelude function `name`."""
    known = intrinsic(name)
    if known is None:
        assert name in RESERVED, name
        message = f"`{name}` is reserved for later"
        scope.error("E2190", message, e.span, help=RESERVED[name])
        return bad(e.span)
    row = TABLE[known]
    if e.generics is not None and (not row.dtype or len(e.generics) != 1):
        message = f"`{name}` takes {'one dtype' if row.dtype else 'no generic arguments'}"
        scope.error("E2111", message, e.generics[0].span if e.generics else e.span)
        return bad(e.span)
    if scope.indices is not None and row.whole:
        scope.error(
            "E3104",
            f"`{name}` gives a tensor, an element is needed here",
            e.span,
            help="compute it with a `let` before, and index that",
        )
        return bad(e.span)
    return _typed(scope, e, known, hint) or bad(e.span)


def _typed(scope: Scope, e: ast.CallExpr, name: Intrinsic, hint: Type | None) -> TExpr | None:
    """None after a report."""
    match name:
        case "exp" | "log" | "sqrt" | "rsqrt" | "sin" | "cos" | "tanh":
            return _unary(scope, e, name, FLOATS, hint)
        case "abs":
            return _unary(scope, e, name, _NUMBERS, hint)
        case "min" | "max":
            return _extreme(scope, e, name, hint)
        case "shl" | "shr":
            args = arguments(scope, e, name)
            pair = _pair(scope, args[0], args[1], hint) if args else None
            return _broadcasting(scope, e, name, pair, INTEGERS, hint) if pair else None
        case "select":
            return _select(scope, e, hint)
        case "cast":
            return _cast(scope, e)
        case "reshape":
            return shapes.reshape(scope, e, hint)
        case "broadcast_to":
            return shapes.broadcast_to(scope, e, hint)
        case "permute":
            return shapes.permute(scope, e, hint)
        case "concat":
            return shapes.concat(scope, e, hint)
        case "cumsum":
            return shapes.cumsum(scope, e, hint)
        case "iota":
            return shapes.iota(scope, e)
        case "fill":
            return shapes.fill(scope, e, hint)


def _unary(
    scope: Scope, e: ast.CallExpr, name: Intrinsic, allowed: frozenset[DType], hint: Type | None
) -> TExpr | None:
    args = arguments(scope, e, name)
    value = operand_of(scope, args[0], allowed, name, hint) if args else None
    return None if value is None else TIntrinsic(name, (value,), (), value.type, e.span)


def _pair(
    scope: Scope, left: ast.Expr, right: ast.Expr, hint: Type | None
) -> tuple[TExpr, TExpr] | None:
    """Two operands that give each other's literals their dtype; unsettled if both are literals."""
    sides = (left, right)
    wish = without_shape(hint)
    a, b = others_first(scope, sides, wish, lambda i, h: expr.infer(scope, sides[i], h))
    if is_error(a.type, b.type):
        return None
    if isinstance(a.type, LiteralType) and not isinstance(b.type, LiteralType):
        a = _like(scope, a, b)
    elif isinstance(b.type, LiteralType) and not isinstance(a.type, LiteralType):
        b = _like(scope, b, a)
    return None if is_error(a.type, b.type) else (a, b)


def _like(scope: Scope, literal: TExpr, other: TExpr) -> TExpr:
    dtype = element_dtype(other.type)
    return adapt(scope, literal, dtype, other) if dtype is not None else settle(scope, literal)


def _literals(
    scope: Scope, pair: tuple[TExpr, TExpr], allowed: frozenset[DType], hint: Type | None
) -> tuple[TExpr, TExpr] | None:
    """Two literals with the dtype of the context; anything else is left as it is."""
    types = [v.type for v in pair]
    if not any(isinstance(t, LiteralType) for t in types):
        return pair
    asked = element_dtype(hint)
    floats = any(isinstance(t, LiteralType) and t.value is None for t in types)
    own = DType.F64 if floats else DType.I64
    wanted = asked if asked is not None and admits(asked) <= allowed else own
    a, b = (adapt(scope, v, wanted) for v in pair)
    return None if is_error(a.type, b.type) else (a, b)


def _broadcasting(
    scope: Scope,
    e: ast.CallExpr,
    name: Intrinsic,
    pair: tuple[TExpr, TExpr],
    allowed: frozenset[DType],
    hint: Type | None,
) -> TIntrinsic | None:
    """The two operands of `name`, broadcast to each other."""
    settled = _literals(scope, pair, allowed, hint)
    if settled is None:
        return None
    a, b = settled
    dtype = _same_dtype(scope, a, b, name, allowed, e.span)
    shape = broadcast(scope, operand(a), operand(b), e.span) if dtype is not None else None
    if dtype is None or shape is None:
        return None
    return TIntrinsic(name, (a, b), (), shaped(shape, dtype), e.span)


def _same_dtype(
    scope: Scope, a: TExpr, b: TExpr, name: Intrinsic, allowed: frozenset[DType], span: Span
) -> AnyDType | None:
    x, y = element_dtype(a.type), element_dtype(b.type)
    for side, dtype in ((a, x), (b, y)):
        if dtype is None or not admits(dtype) <= allowed:
            does_not_apply(scope, name, side, side.span)
            return None
    assert x is not None and y is not None
    if x != y:
        scope.error(
            "E2103",
            f"`{name}` needs one dtype: `{x}` and `{y}`",
            span,
            related=[(a.span, f"this is `{a.type}`"), (b.span, f"this is `{b.type}`")],
            help=loosely(scope, a, y) or loosely(scope, b, x) or one_side(a.span, b.span, x, y),
        )
        return None
    return x


def _extreme(
    scope: Scope, e: ast.CallExpr, name: Literal["min", "max"], hint: Type | None
) -> TExpr | None:
    if len(e.args) == 1 or any(a.name and a.name.text in ("axis", "dim") for a in e.args):
        help_ = f"reduce in index notation: `{name}[i] x[b, i]`"
        scope.error("E2102", f"`{name}` takes two values, `a` and `b`", e.span, help=help_)
        return None
    args = arguments(scope, e, name)
    pair = _pair(scope, args[0], args[1], hint) if args else None
    if pair is None:
        return None
    x, y = (v.type.value if isinstance(v.type, LiteralType) else None for v in pair)
    if x is not None and y is not None:
        dim = dim_min(x, y) if name == "min" else dim_max(x, y)
        return TDim(dim, LiteralType(dim), e.span)
    return _broadcasting(scope, e, name, pair, _NUMBERS, hint)


def _select(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr | None:
    args = arguments(scope, e, "select")
    if args is None:
        return None
    test = expr.infer(scope, args[0], None)
    pair = _pair(scope, args[1], args[2], hint)
    if pair is None or is_error(test.type):
        return None
    if element_dtype(test.type) != DType.BOOL:
        message = f"the condition of `select` is `bool`, this is `{test.type}`"
        scope.error("E2114", message, args[0].span)
        return None
    both = _broadcasting(scope, e, "select", pair, _ANY, hint)
    if both is None:
        return None
    a, b = both.args
    shape = broadcast(scope, operand(test), (both.type, a.span.to(b.span)), e.span)
    dtype = element_dtype(both.type)
    if shape is None or dtype is None:
        return None
    return TIntrinsic("select", (test, a, b), (), shaped(shape, dtype), e.span)


def _cast(scope: Scope, e: ast.CallExpr) -> TExpr | None:
    args = arguments(scope, e, "cast")
    if args is None:
        return None
    if e.generics is None:
        scope.error("E2110", "`cast` needs its dtype", e.span, help="`cast<f32>(x)`")
        return None
    target = dtype_of(scope, e.generics[0])
    if target is None:
        return None
    value = expr.infer(scope, args[0], None)
    if is_error(value.type):
        return None
    if isinstance(value.type, LiteralType):
        return _cast_literal(scope, value, target, e.span)
    if element_dtype(value.type) is None:
        does_not_apply(scope, "cast", value, args[0].span)
        return None
    type_ = value.type
    assert isinstance(type_, ScalarType | TensorType)
    return TIntrinsic("cast", (value,), (), replace(type_, dtype=target), e.span)


def _cast_literal(scope: Scope, value: TExpr, target: AnyDType, span: Span) -> TExpr:
    """A literal takes the dtype at once where it can, so that it rounds only once."""
    assert isinstance(value.type, LiteralType)
    integer = value.type.value is not None
    wide = FLOATS | INTEGERS if integer else FLOATS
    number = value.type.value.as_int() if value.type.value is not None else None
    narrow = isinstance(target, DTypeVar) and number is not None
    if narrow and not all(literal_fits(number or 0, d) for d in admits(target)):
        wide = frozenset[DType]()
    if admits(target) <= wide:
        return replace(adapt(scope, value, target), span=span)
    settled = settle(scope, value)
    return TIntrinsic("cast", (settled,), (), ScalarType(target), span)
