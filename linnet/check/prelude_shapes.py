"""Typing of the prelude functions that give a tensor of another shape."""

from __future__ import annotations

from dataclasses import replace

from linnet.check import expr
from linnet.check.convert import conform, loosely, settle
from linnet.check.dimexpr import dim_of, dtype_of, extent_of, shape_of
from linnet.check.equal import same_shape
from linnet.check.hints import others_first, without_shape
from linnet.check.intrinsics import Intrinsic
from linnet.check.operators import broadcast, operand, shaped
from linnet.check.prelude_args import any_operand, arguments, operand_of
from linnet.check.scope import Scope, is_error
from linnet.check.suspects import of_count, of_rank
from linnet.check.typed import TExpr, TIntrinsic
from linnet.check.types import LiteralType, ScalarType, Shape, TensorType, Type, element_dtype
from linnet.dims.counts import product
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Relation
from linnet.dtypes import FLOATS, INTEGERS, AnyDType, DType, admits
from linnet.syntax import ast

# Each of these gives None after a report.


def _target(scope: Scope, e: ast.Expr, name: Intrinsic) -> Shape | None:
    if isinstance(e, ast.ShapeExpr):
        return shape_of(scope, e.items)
    help_ = "one dimension after the other: `[B, S, H / 2]`"
    scope.error("E2101", f"`{name}` takes a shape in brackets", e.span, help=help_)
    return None


def _reshaped(
    scope: Scope, e: ast.CallExpr, name: Intrinsic, hint: Type | None
) -> tuple[TExpr, TensorType | ScalarType, Type, ast.Expr] | None:
    """The operand, its type, the type that is asked for and where it is written."""
    args = arguments(scope, e, name)
    if args is None:
        return None
    found = any_operand(scope, args[0], name, hint)
    shape = _target(scope, args[1], name)
    if found is None or shape is None:
        return None
    value, type_ = found
    return value, type_, shaped(shape, type_.dtype), args[1]


def _dims(type_: Type) -> Shape:
    return type_.dims if isinstance(type_, TensorType) else ()


def reshape(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr | None:
    found = _reshaped(scope, e, "reshape", hint)
    if found is None:
        return None
    value, type_, aim, written = found
    same = Relation("==", product(_dims(type_)), product(_dims(aim)))
    message = f"`{type_}` cannot be proven to have as many elements as `{aim}`"
    folds = of_count(scope, type_, value.span)
    if not scope.require(same, "E2203", message, written.span, folds=folds):
        return None
    return TIntrinsic("reshape", (value,), (), aim, e.span)


def broadcast_to(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr | None:
    found = _reshaped(scope, e, "broadcast_to", hint)
    if found is None:
        return None
    value, type_, aim, written = found
    met = broadcast(scope, operand(value), (aim, written.span), e.span)
    if met is None:
        return None
    if not same_shape(scope.facts, met, _dims(aim)):
        message = f"`{type_}` does not broadcast to `{aim}`"
        scope.error("E2207", message, written.span, related=[(value.span, "the operand")])
        return None
    return TIntrinsic("broadcast_to", (value,), (), aim, e.span)


def _axis(scope: Scope, e: ast.Expr, rank: int, dims: Shape) -> int | None:
    """A compile-time axis number, counted from the back if negative (E2210)."""
    dim = dim_of(scope, e)
    if dim is None:
        return None
    at = dim.as_int()
    if at is None or not -rank <= at < rank:
        help_ = f"axes are counted from 0 to {rank - 1}, or back from -1"
        scope.error("E2210", f"`{dim}` is not an axis: there are {rank}", e.span, help=help_)
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


def permute(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr | None:
    args = arguments(scope, e, "permute")
    found = any_operand(scope, args[0], "permute", hint) if args else None
    if args is None or found is None:
        return None
    value = found[0]
    if not isinstance(value.type, TensorType):
        message = f"`permute` does not apply to `{value.type}`"
        folds = of_rank(scope, value.type, value.span)
        scope.error("E2104", message, args[0].span, folds=folds)
        return None
    if not isinstance(args[1], ast.ShapeExpr):
        scope.error("E2101", "`permute` takes axes in brackets: `[1, 0]`", args[1].span)
        return None
    dims, order = value.type.dims, [dim_of(scope, a) for a in args[1].items]
    if None in order:
        return None
    axes = tuple(d.as_int() for d in order if d is not None)
    packs = any(isinstance(d, Symbol) for d in dims)
    if packs or sorted(a for a in axes if a is not None) != list(range(len(dims))):
        why = (
            "the axes of a pack cannot be permuted"
            if packs
            else (f"`[{', '.join(map(str, order))}]` does not name each of {len(dims)} axes once")
        )
        folds = of_rank(scope, value.type, args[0].span)
        related = [(value.span, f"this is `{value.type}`")]
        help_ = None if packs else f"as they stand they are `{[*range(len(dims))]}`"
        scope.error("E2210", why, args[1].span, related=related, help=help_, folds=folds)
        return None
    final = tuple(a for a in axes if a is not None)
    result = TensorType(tuple(dims[a] for a in final), value.type.dtype)
    return TIntrinsic("permute", (value,), final, result, e.span)


def _split_axis(scope: Scope, e: ast.CallExpr) -> tuple[list[ast.Argument], ast.Expr | None]:
    rest = [a for a in e.args if a.name is None or a.name.text != "axis"]
    axes = [a for a in e.args if a.name is not None and a.name.text == "axis"]
    for again in axes[1:]:
        scope.error("E2102", "`axis` is given twice", again.span, help="leave one of them out")
    return rest, axes[0].value if axes else None


def concat(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr | None:
    parts, axis = _split_axis(scope, e)
    listed = next((p for p in parts if isinstance(p.value, ast.ShapeExpr | ast.TupleExpr)), None)
    if listed is not None:
        _not_in_a_list(scope, listed.value, axis)
        return None
    if axis is None or not parts or any(p.name is not None for p in parts):
        help_ = "write `concat(a, b, axis = 0)`"
        scope.error("E2102", "`concat` takes tensors and an axis", e.span, help=help_)
        return None
    values = others_first(
        scope,
        [p.value for p in parts],
        without_shape(hint),
        lambda i, h: expr.settled(scope, parts[i].value, h),
    )
    if is_error(*(v.type for v in values)):
        return None
    first = values[0].type
    if not isinstance(first, TensorType):
        folds = of_rank(scope, first, values[0].span)
        scope.error("E2104", f"`concat` does not apply to `{first}`", values[0].span, folds=folds)
        return None
    at = _axis(scope, axis, len(first.dims), first.dims)
    if at is None:
        return None
    if isinstance(first.dims[at], Symbol):
        scope.error("E2210", "a pack is not one axis", axis.span)
        return None
    total = _total(scope, values, first, at)
    if total is None:
        return None
    dims = (*first.dims[:at], total, *first.dims[at + 1 :])
    return TIntrinsic("concat", tuple(values), (at,), TensorType(dims, first.dtype), e.span)


def _not_in_a_list(scope: Scope, parts: ast.Expr, axis: ast.Expr | None) -> None:
    """Report `[x, y]` or `(x, y)` as an argument of `concat`."""
    assert isinstance(parts, ast.ShapeExpr | ast.TupleExpr)
    names = ", ".join(part.span.text for part in parts.items)
    at = axis.span.text if axis is not None else "0"
    message = "`concat` takes its tensors one after the other, and no list of them"
    help_ = f"write `concat({names}, axis = {at})`"
    scope.error("E2101", message, parts.span, help=help_)


def _total(scope: Scope, parts: list[TExpr], first: TensorType, at: int) -> Dim | None:
    """The extent of all parts together; they are like the first but for this axis."""
    total = Dim.of(0)
    for part in parts:
        wanted = first
        extent = first.dims[at]
        if isinstance(part.type, TensorType) and len(part.type.dims) == len(first.dims):
            extent = part.type.dims[at]
            wanted = replace(first, dims=(*first.dims[:at], extent, *first.dims[at + 1 :]))
        origin = ((parts[0].span, f"the first is `{first}`"),)
        suspects = tuple(scope.named_in(parts[0].span))
        dtype = element_dtype(part.type)
        known = loosely(scope, parts[0], dtype) if dtype != first.dtype else None
        what = "this part of `concat`"
        if is_error(conform(scope, part, wanted, what, origin, suspects, known).type):
            return None
        total = total + Dim.of(extent)
    return total


def cumsum(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr | None:
    parts, axis = _split_axis(scope, e)
    if axis is None or len(parts) != 1:
        help_ = "write `cumsum(x, axis = 0)`"
        scope.error("E2102", "`cumsum` takes a tensor and an axis", e.span, help=help_)
        return None
    value = operand_of(scope, parts[0].value, FLOATS | INTEGERS, "cumsum", hint)
    if value is None:
        return None
    if not isinstance(value.type, TensorType):
        folds = of_rank(scope, value.type, value.span)
        scope.error("E2104", f"`cumsum` does not apply to `{value.type}`", value.span, folds=folds)
        return None
    at = _axis(scope, axis, len(value.type.dims), value.type.dims)
    return None if at is None else TIntrinsic("cumsum", (value,), (at,), value.type, e.span)


def iota(scope: Scope, e: ast.CallExpr) -> TExpr | None:
    args = arguments(scope, e, "iota")
    if args is None:
        return None
    dtype: AnyDType | None = dtype_of(scope, e.generics[0]) if e.generics else DType.I64
    extent = extent_of(scope, args[0])
    if dtype is None or extent is None:
        return None
    if not admits(dtype) <= INTEGERS | FLOATS:
        scope.error("E2112", f"`iota` counts in a numeric dtype, not `{dtype}`", e.span)
        return None
    return TIntrinsic("iota", (), (), TensorType((extent,), dtype), e.span)


def fill(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr | None:
    args = arguments(scope, e, "fill")
    if args is None:
        return None
    dtype = dtype_of(scope, e.generics[0]) if e.generics else element_dtype(hint)
    if e.generics and dtype is None:
        return None
    shape = _target(scope, args[0], "fill")
    wanted = ScalarType(dtype) if dtype is not None else None
    value = expr.infer(scope, args[1], wanted)
    if wanted is not None and (e.generics or isinstance(value.type, LiteralType)):
        value = conform(scope, value, wanted, "the value of `fill`")
    value = settle(scope, value)
    if shape is None or is_error(value.type):
        return None
    if not isinstance(value.type, ScalarType):
        scope.error("E2101", f"`fill` takes a scalar, this is `{value.type}`", args[1].span)
        return None
    return TIntrinsic("fill", (value,), (), shaped(shape, value.type.dtype), e.span)
