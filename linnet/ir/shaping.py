"""The rules of the rows that move elements."""

from __future__ import annotations

from collections.abc import Iterator

from linnet.dims.counts import product, steps
from linnet.dims.dims import ONE, Dim
from linnet.dtypes import DType
from linnet.ir.core import Operation
from linnet.ir.rules import Context, ascending, expect_dims, is_scalar
from linnet.ir.types import Type


def reshape(op: Operation, context: Context) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    if source.dtype != target.dtype:
        yield f"gives {target.dtype}, not {source.dtype}"
    if not context.equal(product(source.shape), product(target.shape)):
        yield f"turns {source} into {target}, which has another number of elements"


def permute(op: Operation, context: Context) -> Iterator[str]:
    dims = op.operands[0].type.shape
    axes: tuple[int, ...] = op.attrs["axes"]
    if sorted(axes) != list(range(len(dims))):
        yield f"axes {axes} are no permutation of {len(dims)} axes"
        return
    yield from expect_dims(op, context, [dims[a] for a in axes])


def broadcast(op: Operation, context: Context) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    axes: tuple[int, ...] = op.attrs["axes"]
    if source.dtype != target.dtype:
        yield f"gives {target.dtype}, not {source.dtype}"
    if len(axes) != source.rank or not ascending(axes, target.rank):
        yield f"axes {axes} do not place {source} in {target}"
        return
    for extent, axis in zip(source.shape, axes, strict=True):
        if extent != ONE and not context.equal(extent, target.shape[axis]):
            yield f"extent {extent} does not become {target.shape[axis]}"


def concat(op: Operation, context: Context) -> Iterator[str]:
    first = op.operands[0].type
    axis: int = op.attrs["axis"]
    if not 0 <= axis < first.rank:
        yield f"axis {axis} is not one of {first.rank}"
        return
    total = Dim.of(0)
    for operand in op.operands:
        dims = operand.type.shape
        if operand.type.dtype != first.dtype or len(dims) != first.rank:
            yield f"joins {first} and {operand.type}"
            return
        rest = (*dims[:axis], *dims[axis + 1 :])
        if not context.same_shape(rest, (*first.shape[:axis], *first.shape[axis + 1 :])):
            yield f"joins {first} and {operand.type} along axis {axis}"
        total = total + dims[axis]
    yield from expect_dims(op, context, (*first.shape[:axis], total, *first.shape[axis + 1 :]))


def slice_(op: Operation, context: Context) -> Iterator[str]:
    rank = op.operands[0].type.rank
    start, stop, step = (op.attrs[n] for n in ("start", "stop", "step"))
    if not len(start) == len(stop) == len(step) == rank:
        yield f"needs a start, a stop and a step for each of {rank} axes"
        return
    if any(s < 1 for s in step):
        yield f"steps {step} are not all positive"
        return
    for a, b, extent in zip(start, stop, op.operands[0].type.shape, strict=True):
        if negative(a) or negative(extent - b):
            yield f"{a}:{b} is not within an axis of {extent}"
    yield from expect_dims(op, context, list(map(steps, start, stop, step)))


def negative(dim: Dim) -> bool:
    """Whether a difference is known to be below zero."""
    number = dim.as_int()
    return number is not None and number < 0


def index(op: Operation, context: Context) -> Iterator[str]:
    source, axes = op.operands[0].type, op.attrs["axes"]
    if len(axes) != len(op.operands) - 1 or not ascending(axes, source.rank):
        yield f"axes {axes} do not fit {len(op.operands) - 1} positions in {source}"
        return
    for position in op.operands[1:]:
        if not is_scalar(position, DType.I64):
            yield f"a position is {position.type}, not an i64 scalar"
    yield from expect_dims(op, context, [d for a, d in enumerate(source.shape) if a not in axes])


def gather(op: Operation, context: Context) -> Iterator[str]:
    base, result = op.operands[0].type, op.results[0].type
    positions = op.operands[1:]
    axes: tuple[tuple[str, int], ...] = op.attrs["axes"]
    if result.dtype != base.dtype:
        yield f"gives {result.dtype}, not {base.dtype}"
    for position in positions:
        yield from _index_tensor(position.type, result, context)
    if len(axes) != base.rank:
        yield f"says where {len(axes)} axes come from; the base has {base.rank}"
        return
    used = {k for how, k in axes if how == "index"}
    if used != set(range(len(positions))):
        yield f"axes {axes} do not use each of {len(positions)} index tensors"
    for extent, (how, k) in zip(base.shape, axes, strict=True):
        if how == "axis" and not 0 <= k < result.rank:
            yield f"result axis {k} is not one of {result.rank}"
        elif how == "axis" and not context.equal(extent, result.shape[k]):
            yield f"extent {extent} is walked by an axis of extent {result.shape[k]}"


def _index_tensor(position: Type, result: Type, context: Context) -> Iterator[str]:
    if position.dtype != DType.I64 or position.rank != result.rank:
        yield f"an index tensor is {position}; the result has {result.rank} axes"
        return
    for have, want in zip(position.shape, result.shape, strict=True):
        if have != ONE and not context.equal(have, want):
            yield f"an index tensor has extent {have} where the result has {want}"
