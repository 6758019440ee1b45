"""`reduce` and `cumsum`: kept in the accumulator, converted once to the operand's dtype."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.backends.code import Code, call, group, method
from linnet.backends.interpret.frame import concrete
from linnet.backends.torch.semantics import largest, smallest
from linnet.backends.torch.vocabulary.casting import converted, plain
from linnet.backends.torch.vocabulary.terms import (
    WIDE_UNSIGNED,
    Terms,
    axis_text,
    integer,
    may_be_empty,
    operand_dtype,
    tensor,
    torch_dtype,
)
from linnet.dtypes import DType
from linnet.ir.core import Operation


def reduce(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dtype = operand_dtype(op)
    x = tensor(operands[0], dtype, terms)
    how, axes = op.attrs["op"], tuple(op.attrs["axes"])
    accumulator = concrete(op.attrs["accumulator"])
    match how:
        case "any" | "all":
            return method(x, how, _axes(op))
        case "max" | "min":
            found = _extreme(op, converted(x, dtype, accumulator), accumulator)
        case "prod":
            found = x
            for axis in reversed(axes):
                found = _summed(found, dtype, accumulator, "prod", integer(axis))
                dtype = accumulator
        case _:
            found = _summed(x, dtype, accumulator, "sum", _axes(op))
    return converted(found, accumulator, operand_dtype(op))


def cumsum(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dtype, accumulator = operand_dtype(op), concrete(op.attrs["accumulator"])
    axis = axis_text(op.attrs["axis"], op.operands[0].type.rank)
    found = _summed(tensor(operands[0], dtype, terms), dtype, accumulator, "cumsum", axis)
    return converted(found, accumulator, dtype)


def _axes(op: Operation) -> Code:
    axes, rank = tuple(op.attrs["axes"]), op.operands[0].type.rank
    return axis_text(axes[0], rank) if len(axes) == 1 else group([integer(a) for a in axes])


def _summed(x: Code, dtype: DType, accumulator: DType, how: str, axes: Code) -> Code:
    """`x.sum(-1, dtype=...)` of dtype `accumulator`; what PyTorch does not sum, in i64, whose
    last bits are those of the sum."""
    if accumulator in WIDE_UNSIGNED:
        wide = converted(converted(x, dtype, accumulator), accumulator, DType.I64)
        return converted(method(wide, how, axes), DType.I64, accumulator)
    if dtype in WIDE_UNSIGNED or not plain(dtype, accumulator):
        x, dtype = converted(x, dtype, accumulator), accumulator
    if dtype is accumulator and (dtype.is_float or dtype is DType.I64):
        return method(x, how, axes)
    return method(x, how, axes, dtype=torch_dtype(accumulator))


def _extreme(op: Operation, x: Code, accumulator: DType) -> Code:
    """`amax`, which refuses to reduce over nothing."""
    how: str = op.attrs["op"]
    axes: tuple[int, ...] = op.attrs["axes"]
    wide = accumulator in (DType.U16, DType.U32)
    y = converted(x, accumulator, DType.I64) if wide else x
    shape = op.operands[0].type.shape
    if accumulator is not DType.U64 and not any(may_be_empty(shape[a]) for a in axes):
        found = method(y, "amax" if how == "max" else "amin", _axes(op))
        return converted(found, DType.I64, accumulator) if wide else found
    listed = group([integer(a) for a in axes]) if len(axes) > 1 else group([_axes(op)])
    return call(largest if how == "max" else smallest, x, listed)
