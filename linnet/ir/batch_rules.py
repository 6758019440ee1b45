"""What an operation on one value is on many at once: the rules of `batch.py`, one an operation.

The extents of the points come first in whatever is many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from linnet.dims.dims import ONE, Dim
from linnet.dtypes import DType
from linnet.ir.core import NO_ATTRS, Operation, Value
from linnet.ir.ops import ELEMENTWISE
from linnet.ir.scalar import (
    Access,
    Apply,
    Const,
    DimValue,
    Index,
    Operand,
    Reduce,
    Scalar,
    inside_out,
)
from linnet.ir.types import I64, Type


class NotBatchedError(Exception):
    """What is done at a point cannot be done at many at once, or should not be."""


@dataclass(frozen=True, slots=True)
class Held:
    """A value of a point: the same at all points, or `many`, one for each. `axis` is that of the
    points whose position it is."""

    value: Value
    many: bool
    axis: int | None = None


class Points(Protocol):
    """Where the operations go."""

    @property
    def extents(self) -> tuple[Dim, ...]: ...
    @property
    def mask(self) -> Value | None: ...
    def held(self, value: Value) -> Held: ...
    def spread(self, value: Value) -> Value: ...
    def emit(
        self, name: str, operands: Sequence[Value], type: Type, attrs: Mapping[str, Any] = NO_ATTRS
    ) -> Value: ...


Rule = Callable[[Points, Operation], Value]


def wide(points: Points, type: Type) -> Type:
    """The type of a value for each of the points."""
    return type.with_dims((*points.extents, *type.shape))


def _all_wide(points: Points, op: Operation) -> Value:
    operands = [points.spread(o) for o in op.operands]
    return points.emit(op.name, operands, wide(points, op.results[0].type), op.attrs)


def _fill(points: Points, op: Operation) -> Value:
    axes = tuple(range(len(points.extents)))
    type = wide(points, op.results[0].type)
    return points.emit("broadcast", [points.spread(op.operands[0])], type, {"axes": axes})


def _shifted(*names: str) -> Rule:
    """A rule for attributes that are axes of the one operand and result: they come later."""

    def rule(points: Points, op: Operation) -> Value:
        count = len(points.extents)
        attrs = dict(op.attrs)
        for name in names:
            found = attrs[name]
            if isinstance(found, int):
                attrs[name] = found + count
            else:
                attrs[name] = tuple(a + count for a in found)
        if op.name in ("permute", "broadcast"):
            attrs["axes"] = (*range(count), *attrs["axes"])
        operands = [points.spread(o) for o in op.operands]
        return points.emit(op.name, operands, wide(points, op.results[0].type), attrs)

    return rule


def _slice(points: Points, op: Operation) -> Value:
    count = len(points.extents)
    attrs = {
        "start": (*[Dim.of(0)] * count, *op.attrs["start"]),
        "stop": (*points.extents, *op.attrs["stop"]),
        "step": (*[1] * count, *op.attrs["step"]),
    }
    operand = points.spread(op.operands[0])
    return points.emit("slice", [operand], wide(points, op.results[0].type), attrs)


def _contract(points: Points, op: Operation) -> Value:
    used = [i for indices in op.attrs["inputs"] for i in indices]
    first = max(used, default=-1) + 1
    batch = tuple(range(first, first + len(points.extents)))
    operands: list[Value] = []
    inputs: list[tuple[int, ...]] = []
    for operand, indices in zip(op.operands, op.attrs["inputs"], strict=True):
        many = points.held(operand).many
        operands.append(points.spread(operand) if many else points.held(operand).value)
        inputs.append((*batch, *indices) if many else tuple(indices))
    attrs = dict(op.attrs) | {"inputs": tuple(inputs), "output": (*batch, *op.attrs["output"])}
    return points.emit("contract", operands, wide(points, op.results[0].type), attrs)


# --- reads at runtime positions


def _index(points: Points, op: Operation) -> Value:
    base, *positions = op.operands
    result = wide(points, op.results[0].type)
    dropped = dict(zip(op.attrs["axes"], positions, strict=True))
    count, kept = len(points.extents), len(points.extents)
    sources: list[tuple[str, int]] = []
    tensors: list[Value] = []
    for axis, extent in enumerate(base.type.shape):
        if axis not in dropped:
            sources.append(("axis", kept))
            kept += 1
            continue
        held = points.held(dropped[axis])
        if held.axis is not None:
            sources.append(("axis", held.axis))
            continue
        sources.append(("index", len(tensors)))
        place = _guarded(points, points.spread(dropped[axis]), extent)
        ones = (ONE,) * (result.rank - count)
        type = I64.with_dims((*points.extents, *ones))
        tensors.append(points.emit("reshape", [place], type) if ones else place)
    return _gathered(points, base, tensors, sources, result)


def _gather(points: Points, op: Operation) -> Value:
    base, *indices = op.operands
    count = len(points.extents)
    extents: dict[int, list[Dim]] = {}
    sources: list[tuple[str, int]] = []
    for (kind, number), extent in zip(op.attrs["axes"], base.type.shape, strict=True):
        sources.append((kind, number + count if kind == "axis" else number))
        if kind == "index":
            extents.setdefault(number, []).append(extent)
    tensors: list[Value] = []
    for number, tensor in enumerate(indices):
        place = points.spread(tensor)
        for extent in extents.get(number, []):
            place = _guarded(points, place, extent)
        tensors.append(place)
    return _gathered(points, base, tensors, sources, wide(points, op.results[0].type))


def _gathered(
    points: Points,
    base: Value,
    tensors: Sequence[Value],
    sources: Sequence[tuple[str, int]],
    result: Type,
) -> Value:
    held = points.held(base)
    axes = [("axis", k) for k in range(len(points.extents))] if held.many else []
    value = points.spread(base) if held.many else held.value
    return points.emit("gather", [value, *tensors], result, {"axes": (*axes, *sources)})


def _guarded(points: Points, place: Value, extent: Dim) -> Value:
    """Positions that are within an axis wherever they do not count."""
    if points.mask is None:
        return place
    _require_some(extent)
    mask = over(points, points.mask, place.type)
    zero = points.emit("constant", [], I64, {"value": 0})
    zeros = points.emit("fill", [zero], place.type)
    return points.emit("select", [mask, place, zeros], place.type)


def over(points: Points, mask: Value, type: Type) -> Value:
    """What holds at each of the points at all places of `type`."""
    if type.rank == len(points.extents):
        return mask
    axes = tuple(range(len(points.extents)))
    return points.emit("broadcast", [mask], type.with_dtype(DType.BOOL), {"axes": axes})


def _require_some(extent: Dim) -> None:
    number = extent.as_int()
    if number is None or number < 1:
        raise NotBatchedError


# --- index notation


def _indexed(points: Points, op: Operation) -> Value:
    count = len(points.extents)
    held = [points.held(o) for o in op.operands]
    batch = tuple(Index(k, DType.I64) for k in range(count))
    operands = [
        points.spread(o) if h.many else h.value for o, h in zip(op.operands, held, strict=True)
    ]
    masked: Scalar | None = None
    if points.mask is not None:
        masked = Access(len(operands), batch, DType.BOOL)
        operands.append(points.mask)
    made: dict[int, Scalar] = {}
    for found in inside_out(op.attrs["expr"]):
        made[id(found)] = _scalar(found, op, held, made, masked, batch)
    attrs = {
        "indices": (*points.extents, *op.attrs["indices"]),
        "expr": made[id(op.attrs["expr"])],
    }
    return points.emit("indexed", operands, wide(points, op.results[0].type), attrs)


def _scalar(
    scalar: Scalar,
    op: Operation,
    held: Sequence[Held],
    made: Mapping[int, Scalar],
    masked: Scalar | None,
    batch: tuple[Index, ...],
) -> Scalar:
    match scalar:
        case Index():
            return replace(scalar, index=scalar.index + len(batch))
        case Operand():
            here = held[scalar.operand]
            if here.axis is not None:
                return batch[here.axis]
            return Access(scalar.operand, batch, scalar.dtype) if here.many else scalar
        case Access():
            shape = op.operands[scalar.operand].type.shape
            own = [
                _position(made[id(p)], extent, masked)
                for p, extent in zip(scalar.positions, shape, strict=True)
            ]
            outer = batch if held[scalar.operand].many else ()
            return replace(scalar, positions=(*outer, *own))
        case Apply():
            return replace(scalar, args=tuple(made[id(a)] for a in scalar.args))
        case Reduce():
            bound = tuple((index + len(batch), extent) for index, extent in scalar.indices)
            factors = tuple(made[id(f)] for f in scalar.factors)
            return replace(scalar, indices=bound, factors=factors)
        case Const() | DimValue():
            return scalar


def _position(position: Scalar, extent: Dim, masked: Scalar | None) -> Scalar:
    if masked is None or isinstance(position, Index | Const | DimValue):
        return position
    _require_some(extent)
    zero = Const(0, position.dtype)
    return Apply("select", (masked, position, zero), position.dtype)


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(ELEMENTWISE, _all_wide),
    "fill": _fill,
    "reshape": _all_wide,
    "permute": _shifted("axes"),
    "broadcast": _shifted("axes"),
    "concat": _shifted("axis"),
    "cumsum": _shifted("axis"),
    "reduce": _shifted("axes"),
    "slice": _slice,
    "contract": _contract,
    "index": _index,
    "gather": _gather,
    "indexed": _indexed,
}
