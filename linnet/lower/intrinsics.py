"""Lowering the prelude and indexing outside index notation."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.check.typed import (
    AtAll,
    AtDynamic,
    AtRange,
    AtStatic,
    AxisIndex,
    TIndex,
    TIntrinsic,
)
from linnet.check.types import TensorType
from linnet.dims.counts import steps
from linnet.dims.dims import Dim
from linnet.ir.core import Value
from linnet.ir.types import I64, Type
from linnet.lower.context import Context
from linnet.lower.indexed import accumulator


def lower_intrinsic(at: Context, expr: TIntrinsic) -> Value:
    """Lower a call of the prelude."""
    args = [at.value(arg) for arg in expr.args]
    type_ = at.type(expr.type, expr.span)
    match expr.name:
        case "exp" | "log" | "sqrt" | "rsqrt" | "sin" | "cos" | "tanh" | "abs":
            return at.out.one(expr.name, args, args[0].type)
        case "min" | "max" | "shl" | "shr":
            operands = [at.out.broadcast(a, type_.shape) for a in args]
            return at.out.one(expr.name, operands, operands[0].type)
        case "select":
            operands = [at.out.broadcast(a, type_.shape) for a in args]
            return at.out.one("select", operands, operands[1].type)
        case "cast":
            return _cast(at, args[0], type_)
        case "reshape":
            return at.out.coerce(args[0], type_)
        case "broadcast_to":
            return at.out.broadcast(args[0], type_.shape)
        case "permute":
            return _permute(at, expr, args[0], type_)
        case "concat":
            return _concat(at, expr, args, type_)
        case "iota":
            return at.out.one("iota", [], type_)
        case "fill":
            return args[0] if type_.dims is None else at.out.one("fill", args, type_)
        case "cumsum":
            (axis,) = at.axes(expr.args[0].type, expr.axes)
            kept = accumulator("sum", None, args[0].type.dtype)
            return at.out.one("cumsum", args, args[0].type, axis=axis, accumulator=kept)


def _cast(at: Context, value: Value, type_: Type) -> Value:
    result = value.type.with_dtype(type_.dtype)
    return value if result == value.type else at.out.one("cast", [value], result)


def _permute(at: Context, expr: TIntrinsic, value: Value, type_: Type) -> Value:
    if value.type.dims is None:
        return value
    axes = at.axes(expr.args[0].type, expr.axes)
    if axes == tuple(range(len(axes))):
        return at.out.coerce(value, type_)
    dims = tuple(value.type.shape[a] for a in axes)
    result = at.out.one("permute", [value], value.type.with_dims(dims), axes=axes)
    return at.out.coerce(result, type_)


def _concat(at: Context, expr: TIntrinsic, args: Sequence[Value], type_: Type) -> Value:
    (axis,) = at.axes(expr.args[0].type, expr.axes)
    first = args[0].type.shape
    parts: list[Value] = []
    total = Dim.of(0)
    for arg in args:
        own = arg.type.shape[axis]
        total = total + own
        dims = (*first[:axis], own, *first[axis + 1 :])
        parts.append(at.out.coerce(arg, type_.with_dims(dims)))
    dims = (*first[:axis], total, *first[axis + 1 :])
    result = at.out.one("concat", parts, type_.with_dims(dims), axis=axis)
    return at.out.coerce(result, type_)


def lower_index(at: Context, expr: TIndex) -> Value:
    """Lower `base[items]`: a slice, then axes dropped at static, then at runtime positions."""
    base = at.value(expr.base)
    items = _per_axis(at, expr)
    value = _slice(at, expr, base, items)
    kept = [i for i, item in enumerate(items) if not isinstance(item, AtStatic)]
    if len(kept) < len(items):
        dims = tuple(value.type.shape[i] for i in kept)
        value = at.out.coerce(value, value.type.with_dims(dims or None))
    left = [items[i] for i in kept]
    dropped = [(k, item.at) for k, item in enumerate(left) if isinstance(item, AtDynamic)]
    if dropped:
        positions = [_cast(at, at.value(e), I64) for _, e in dropped]
        axes = tuple(k for k, _ in dropped)
        dims = tuple(d for k, d in enumerate(value.type.shape) if k not in axes)
        type_ = value.type.with_dims(dims or None)
        value = at.out.one("index", [value, *positions], type_, axes=axes)
    return at.out.coerce(value, at.type(expr.type, expr.span))


def _per_axis(at: Context, expr: TIndex) -> list[AxisIndex]:
    base = expr.base.type
    assert isinstance(base, TensorType)
    pairs = zip(base.dims, expr.items, strict=True)
    return [i for element, item in pairs for i in [item] * at.width(element)]


def _slice(at: Context, expr: TIndex, base: Value, items: Sequence[AxisIndex]) -> Value:
    bounds = [_bounds(at, expr, i, d) for i, d in zip(items, base.type.shape, strict=True)]
    whole = [(Dim.of(0), d, 1) for d in base.type.shape]
    if bounds == whole:
        return base
    start, stop, step = zip(*bounds, strict=True)
    dims = tuple(map(steps, start, stop, step))
    return at.out.one("slice", [base], base.type.with_dims(dims), start=start, stop=stop, step=step)


def _bounds(at: Context, expr: TIndex, item: AxisIndex, extent: Dim) -> tuple[Dim, Dim, int]:
    match item:
        case AtStatic():
            start = at.extent(item.at, expr.span)
            return start, start + 1, 1
        case AtRange():
            # Of nothing, in steps of 2 and more, the stop may be negative.
            return at.extent(item.start, expr.span), at.integer(item.stop), item.step
        case AtDynamic() | AtAll():
            return Dim.of(0), extent, 1
