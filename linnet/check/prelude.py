"""The functions that need no import: each is a row of `RULES`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from linnet.check import expr
from linnet.check.arguments import place_arguments
from linnet.check.convert import (
    adapt,
    bad,
    conform,
    dtype_hint,
    literal_fits,
    loosely,
    same_shape,
    settle,
)
from linnet.check.dimexpr import dim_of, dtype_of, extent_of, shape_of
from linnet.check.operators import broadcast, is_literal_only, operand, shaped
from linnet.check.scope import Scope, is_error
from linnet.check.substitute import element_count
from linnet.check.typed import TDim, TExpr, TIntrinsic
from linnet.check.types import LiteralType, ScalarType, Shape, TensorType, Type
from linnet.dims.dims import Dim, Symbol, dim_max, dim_min
from linnet.dims.prover import Relation
from linnet.dtypes import FLOATS, INTEGERS, AnyDType, DType, DTypeVar, admits
from linnet.source.files import Span
from linnet.syntax import ast

Rule = Callable[[Scope, ast.CallExpr, Type | None], TExpr]


def call(scope: Scope, e: ast.CallExpr, name: str, hint: Type | None) -> TExpr:
    """A call of the prelude function `name`."""
    if name in ("pad", "gather", "scatter", "Tensor"):
        message = f"`{name}` is reserved for later; index notation expresses it"
        scope.error("E1103" if name == "Tensor" else "E2190", message, e.span)
        return bad(e.span)
    takes_generic = name in ("cast", "iota", "fill")
    if e.generics is not None and (not takes_generic or len(e.generics) != 1):
        message = f"`{name}` takes {'one dtype' if takes_generic else 'no generic arguments'}"
        scope.error("E2111", message, e.generics[0].span if e.generics else e.span)
        return bad(e.span)
    if scope.indices is not None and name in _WHOLE:
        scope.error(
            "E3104",
            f"`{name}` gives a tensor, an element is needed here",
            e.span,
            help="compute it with a `let` before, and index that",
        )
        return bad(e.span)
    return RULES[name](scope, e, hint)


_WHOLE = frozenset(["reshape", "permute", "broadcast_to", "concat", "iota", "fill", "cumsum"])


def _arguments(scope: Scope, e: ast.CallExpr, *names: str) -> list[ast.Expr] | None:
    """Exactly the arguments `names`, in order."""
    callee = e.callee.name if isinstance(e.callee, ast.NameExpr) else "it"
    placed = place_arguments(scope, e, list(names), callee)
    if placed is None:
        return None
    for name, arg in zip(names, placed, strict=True):
        if arg is None:
            scope.error("E2102", f"`{callee}` needs an argument for `{name}`", e.span)
            return None
    return [a.value for a in placed if a is not None]


def _operand(
    scope: Scope, e: ast.Expr, allowed: frozenset[DType], name: str, hint: Type | None = None
) -> TExpr | None:
    """A scalar or tensor of an allowed dtype; None after a report."""
    value = expr.infer(scope, e, hint)
    if isinstance(value.type, LiteralType):
        asked = dtype_hint(hint)
        if asked is not None:
            value = adapt(scope, value, asked)
        elif allowed <= FLOATS:
            value = adapt(scope, value, DType.F64)
        else:
            value = settle(scope, value)
    if is_error(value.type):
        return None
    dtype = dtype_hint(value.type)
    if dtype is None or not admits(dtype) <= allowed:
        scope.error("E2104", f"`{name}` does not apply to `{value.type}`", e.span)
        return None
    return value


def _unary(name: str, allowed: frozenset[DType]) -> Rule:
    def rule(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
        args = _arguments(scope, e, "x")
        asked = dtype_hint(hint)
        wish = ScalarType(asked) if asked is not None else None
        value = _operand(scope, args[0], allowed, name, wish) if args else None
        return bad(e.span) if value is None else TIntrinsic(name, (value,), (), value.type, e.span)

    return rule


def _pair(
    scope: Scope, left: ast.Expr, right: ast.Expr, hint: Type | None
) -> tuple[TExpr, TExpr] | None:
    """Two operands that give each other's literals their dtype; unsettled if both are literals."""
    flipped = is_literal_only(left) and not is_literal_only(right)
    first, second = (right, left) if flipped else (left, right)
    a = expr.infer(scope, first, hint)
    asked = dtype_hint(a.type)
    b = expr.infer(scope, second, ScalarType(asked) if asked is not None else hint)
    if is_error(a.type, b.type):
        return None
    if isinstance(a.type, LiteralType) and not isinstance(b.type, LiteralType):
        dtype = dtype_hint(b.type)
        a = adapt(scope, a, dtype) if dtype is not None else settle(scope, a)
    elif isinstance(b.type, LiteralType) and not isinstance(a.type, LiteralType):
        b = adapt(scope, b, asked) if asked is not None else settle(scope, b)
    if is_error(a.type, b.type):
        return None
    return (b, a) if flipped else (a, b)


def _same_dtype(
    scope: Scope, a: TExpr, b: TExpr, name: str, allowed: frozenset[DType], span: Span
) -> AnyDType | None:
    x, y = dtype_hint(a.type), dtype_hint(b.type)
    for side, dtype in ((a, x), (b, y)):
        if dtype is None or not admits(dtype) <= allowed:
            scope.error("E2104", f"`{name}` does not apply to `{side.type}`", side.span)
            return None
    if x != y:
        scope.error(
            "E2103",
            f"`{name}` needs one dtype: `{x}` and `{y}`",
            span,
            related=[(a.span, f"this is `{a.type}`"), (b.span, f"this is `{b.type}`")],
            help=loosely(scope, a, y) or loosely(scope, b, x) or f"convert one: `cast<{x}>(...)`",
        )
        return None
    return x


def _extreme(name: str) -> Rule:
    def rule(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
        if len(e.args) == 1 or any(a.name and a.name.text in ("axis", "dim") for a in e.args):
            help_ = f"reduce in index notation: `{name}[i] x[b, i]`"
            scope.error("E2102", f"`{name}` takes two values, `a` and `b`", e.span, help=help_)
            return bad(e.span)
        args = _arguments(scope, e, "a", "b")
        pair = _pair(scope, args[0], args[1], hint) if args else None
        if pair is None:
            return bad(e.span)
        a, b = pair
        if isinstance(a.type, LiteralType) and isinstance(b.type, LiteralType):
            x, y = a.type.value, b.type.value
            if x is not None and y is not None:
                dim = dim_min(x, y) if name == "min" else dim_max(x, y)
                return TDim(dim, LiteralType(dim), e.span)
            dtype = dtype_hint(hint)
            a, b = (adapt(scope, v, dtype or DType.F64) for v in pair)
            if is_error(a.type, b.type):
                return bad(e.span)
        dtype = _same_dtype(scope, a, b, name, FLOATS | INTEGERS, e.span)
        shape = broadcast(scope, operand(a), operand(b), e.span) if dtype is not None else None
        if dtype is None or shape is None:
            return bad(e.span)
        return TIntrinsic(name, (a, b), (), shaped(shape, dtype), e.span)

    return rule


def _select(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    args = _arguments(scope, e, "c", "a", "b")
    if args is None:
        return bad(e.span)
    test = expr.infer(scope, args[0], None)
    asked = dtype_hint(hint)
    pair = _pair(scope, args[1], args[2], ScalarType(asked) if asked is not None else None)
    if pair is None or is_error(test.type):
        return bad(e.span)
    if dtype_hint(test.type) != DType.BOOL:
        message = f"the condition of `select` is `bool`, this is `{test.type}`"
        scope.error("E2114", message, args[0].span)
        return bad(e.span)
    a, b = pair
    if isinstance(a.type, LiteralType) or isinstance(b.type, LiteralType):
        floats = any(isinstance(v.type, LiteralType) and v.type.value is None for v in pair)
        wanted = asked if asked is not None else DType.F64 if floats else DType.I64
        a, b = (adapt(scope, v, wanted) for v in pair)
    if is_error(a.type, b.type):
        return bad(e.span)
    dtype = _same_dtype(scope, a, b, "select", frozenset(DType), e.span)
    shape = broadcast(scope, operand(a), operand(b), e.span) if dtype is not None else None
    if dtype is None or shape is None:
        return bad(e.span)
    both = (shaped(shape, dtype), a.span.to(b.span))
    shape = broadcast(scope, operand(test), both, e.span)
    if shape is None:
        return bad(e.span)
    return TIntrinsic("select", (test, a, b), (), shaped(shape, dtype), e.span)


def _shift(name: str) -> Rule:
    def rule(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
        args = _arguments(scope, e, "x", "by")
        pair = _pair(scope, args[0], args[1], hint) if args else None
        if pair is None:
            return bad(e.span)
        asked = dtype_hint(hint)
        wanted = asked if asked is not None and admits(asked) <= INTEGERS else DType.I64
        a, b = (adapt(scope, v, wanted) if isinstance(v.type, LiteralType) else v for v in pair)
        if is_error(a.type, b.type):
            return bad(e.span)
        dtype = _same_dtype(scope, a, b, name, INTEGERS, e.span)
        shape = broadcast(scope, operand(a), operand(b), e.span) if dtype is not None else None
        if dtype is None or shape is None:
            return bad(e.span)
        return TIntrinsic(name, (a, b), (), shaped(shape, dtype), e.span)

    return rule


def _cast(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    args = _arguments(scope, e, "x")
    if args is None:
        return bad(e.span)
    if e.generics is None:
        scope.error("E2110", "`cast` needs its dtype", e.span, help="`cast<f32>(x)`")
        return bad(e.span)
    target = dtype_of(scope, e.generics[0])
    if target is None:
        return bad(e.span)
    value = expr.infer(scope, args[0], None)
    if is_error(value.type):
        return bad(e.span)
    if isinstance(value.type, LiteralType):
        return _cast_literal(scope, value, target, e.span)
    if dtype_hint(value.type) is None:
        scope.error("E2104", f"`cast` does not apply to `{value.type}`", args[0].span)
        return bad(e.span)
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


def _target(scope: Scope, e: ast.Expr, name: str) -> Shape | None:
    if isinstance(e, ast.ShapeExpr):
        return shape_of(scope, e.items)
    help_ = "one dimension after the other: `[B, S, H / 2]`"
    scope.error("E2101", f"`{name}` takes a shape in brackets", e.span, help=help_)
    return None


def _tensor(scope: Scope, e: ast.Expr, name: str) -> TExpr | None:
    value = expr.settled(scope, e)
    if is_error(value.type):
        return None
    if isinstance(value.type, TensorType | ScalarType):
        return value
    scope.error("E2104", f"`{name}` does not apply to `{value.type}`", e.span)
    return None


def _reshape(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    args = _arguments(scope, e, "x", "shape")
    if args is None:
        return bad(e.span)
    value, shape = _tensor(scope, args[0], "reshape"), _target(scope, args[1], "reshape")
    if value is None or shape is None:
        return bad(e.span)
    assert isinstance(value.type, TensorType | ScalarType)
    before = element_count(value.type.dims) if isinstance(value.type, TensorType) else Dim.of(1)
    same = Relation("==", before, element_count(shape))
    dtype = value.type.dtype
    message = (
        f"`{value.type}` cannot be proven to have as many elements as `{shaped(shape, dtype)}`"
    )
    if not scope.require(same, "E2203", message, args[1].span):
        return bad(e.span)
    return TIntrinsic("reshape", (value,), (), shaped(shape, dtype), e.span)


def _broadcast_to(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    args = _arguments(scope, e, "x", "shape")
    if args is None:
        return bad(e.span)
    value, shape = _tensor(scope, args[0], "broadcast_to"), _target(scope, args[1], "broadcast_to")
    if value is None or shape is None:
        return bad(e.span)
    assert isinstance(value.type, TensorType | ScalarType)
    aim = shaped(shape, value.type.dtype)
    met = broadcast(scope, operand(value), (aim, args[1].span), e.span)
    if met is None:
        return bad(e.span)
    if not same_shape(scope.facts, met, shape):
        message = f"`{value.type}` does not broadcast to `{aim}`"
        scope.error("E2207", message, args[1].span, related=[(value.span, "the operand")])
        return bad(e.span)
    return TIntrinsic("broadcast_to", (value,), (), aim, e.span)


def _axis(scope: Scope, e: ast.Expr, rank: int, dims: Shape) -> int | None:
    """A compile-time axis number, counted from the back if negative (E2210)."""
    dim = dim_of(scope, e)
    if dim is None:
        return None
    at = dim.as_int()
    if at is None or not -rank <= at < rank:
        scope.error("E2210", f"`{dim}` is not an axis: there are {rank}", e.span)
        return None
    at %= rank
    before = dims[: at + 1] if (dim.as_int() or 0) >= 0 else dims[at:]
    if any(isinstance(d, Symbol) for d in before):
        scope.error(
            "E2210",
            "an axis cannot be counted across a pack",
            e.span,
            help="count from the other side",
        )
        return None
    return at


def _permute(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    args = _arguments(scope, e, "x", "axes")
    value = _tensor(scope, args[0], "permute") if args else None
    if args is None or value is None:
        return bad(e.span)
    if not isinstance(value.type, TensorType):
        scope.error("E2104", f"`permute` does not apply to `{value.type}`", args[0].span)
        return bad(e.span)
    if not isinstance(args[1], ast.ShapeExpr):
        scope.error("E2101", "`permute` takes axes in brackets: `[1, 0]`", args[1].span)
        return bad(e.span)
    dims, order = value.type.dims, [dim_of(scope, a) for a in args[1].items]
    if None in order:
        return bad(e.span)
    axes = tuple(d.as_int() for d in order if d is not None)
    packs = any(isinstance(d, Symbol) for d in dims)
    if packs or sorted(a for a in axes if a is not None) != list(range(len(dims))):
        why = (
            "the axes of a pack cannot be permuted"
            if packs
            else (f"`[{', '.join(map(str, order))}]` does not name each of {len(dims)} axes once")
        )
        scope.error("E2210", why, args[1].span, related=[(value.span, f"this is `{value.type}`")])
        return bad(e.span)
    final = tuple(a for a in axes if a is not None)
    result = TensorType(tuple(dims[a] for a in final), value.type.dtype)
    return TIntrinsic("permute", (value,), final, result, e.span)


def _split_axis(scope: Scope, e: ast.CallExpr) -> tuple[list[ast.Argument], ast.Expr | None]:
    rest = [a for a in e.args if a.name is None or a.name.text != "axis"]
    axes = [a for a in e.args if a.name is not None and a.name.text == "axis"]
    for again in axes[1:]:
        scope.error("E2102", "`axis` is given twice", again.span)
    return rest, axes[0].value if axes else None


def _concat(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    parts, axis = _split_axis(scope, e)
    if axis is None or not parts or any(p.name is not None for p in parts):
        scope.error("E2102", "`concat` takes tensors and an axis: `concat(a, b, axis = 0)`", e.span)
        return bad(e.span)
    values = [_tensor(scope, p.value, "concat") for p in parts]
    known = [v for v in values if v is not None]
    if len(known) != len(values):
        return bad(e.span)
    first = known[0].type
    if not isinstance(first, TensorType):
        scope.error("E2104", f"`concat` does not apply to `{first}`", known[0].span)
        return bad(e.span)
    at = _axis(scope, axis, len(first.dims), first.dims)
    if at is None:
        return bad(e.span)
    if isinstance(first.dims[at], Symbol):
        scope.error("E2210", "a pack is not one axis", axis.span)
        return bad(e.span)
    total = Dim.of(0)
    for value in known:
        wanted = first
        extent = first.dims[at]
        if isinstance(value.type, TensorType) and len(value.type.dims) == len(first.dims):
            extent = value.type.dims[at]
            wanted = replace(first, dims=(*first.dims[:at], extent, *first.dims[at + 1 :]))
        origin = ((known[0].span, f"the first is `{first}`"),)
        suspects = tuple(scope.named_in(known[0].span))
        if is_error(conform(scope, value, wanted, "this part of `concat`", origin, suspects).type):
            return bad(e.span)
        total = total + Dim.of(extent)
    dims = (*first.dims[:at], total, *first.dims[at + 1 :])
    return TIntrinsic("concat", tuple(known), (at,), TensorType(dims, first.dtype), e.span)


def _cumsum(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    parts, axis = _split_axis(scope, e)
    if axis is None or len(parts) != 1:
        scope.error("E2102", "`cumsum` takes a tensor and an axis: `cumsum(x, axis = 0)`", e.span)
        return bad(e.span)
    value = _operand(scope, parts[0].value, FLOATS | INTEGERS, "cumsum")
    if value is None:
        return bad(e.span)
    if not isinstance(value.type, TensorType):
        scope.error("E2104", f"`cumsum` does not apply to `{value.type}`", value.span)
        return bad(e.span)
    at = _axis(scope, axis, len(value.type.dims), value.type.dims)
    return bad(e.span) if at is None else TIntrinsic("cumsum", (value,), (at,), value.type, e.span)


def _iota(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    args = _arguments(scope, e, "n")
    if args is None:
        return bad(e.span)
    dtype: AnyDType | None = dtype_of(scope, e.generics[0]) if e.generics else DType.I64
    extent = extent_of(scope, args[0])
    if dtype is None or extent is None:
        return bad(e.span)
    if not admits(dtype) <= INTEGERS | FLOATS:
        scope.error("E2112", f"`iota` counts in a numeric dtype, not `{dtype}`", e.span)
        return bad(e.span)
    return TIntrinsic("iota", (), (), TensorType((extent,), dtype), e.span)


def _fill(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    args = _arguments(scope, e, "shape", "value")
    if args is None:
        return bad(e.span)
    dtype = dtype_of(scope, e.generics[0]) if e.generics else dtype_hint(hint)
    if e.generics and dtype is None:
        return bad(e.span)
    shape = _target(scope, args[0], "fill")
    wanted = ScalarType(dtype) if dtype is not None else None
    value = expr.infer(scope, args[1], wanted)
    if wanted is not None and (e.generics or isinstance(value.type, LiteralType)):
        value = conform(scope, value, wanted, "the value of `fill`")
    value = settle(scope, value)
    if shape is None or is_error(value.type):
        return bad(e.span)
    if not isinstance(value.type, ScalarType):
        scope.error("E2101", f"`fill` takes a scalar, this is `{value.type}`", args[1].span)
        return bad(e.span)
    return TIntrinsic("fill", (value,), (), shaped(shape, value.type.dtype), e.span)


RULES: dict[str, Rule] = {
    **{n: _unary(n, FLOATS) for n in ["exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh"]},
    "abs": _unary("abs", FLOATS | INTEGERS),
    "min": _extreme("min"),
    "max": _extreme("max"),
    "select": _select,
    "shl": _shift("shl"),
    "shr": _shift("shr"),
    "cast": _cast,
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    "permute": _permute,
    "concat": _concat,
    "cumsum": _cumsum,
    "iota": _iota,
    "fill": _fill,
}
