"""`cast`: PyTorch's own conversion where it means the same."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.backends.code import Code, call
from linnet.backends.torch.semantics import rounded, saturated
from linnet.backends.torch.vocabulary.terms import (
    Terms,
    convert,
    operand_dtype,
    result_dtype,
    tensor,
    torch_dtype,
)
from linnet.dtypes import DType
from linnet.ir.core import Operation

HALF = (DType.F16, DType.BF16)
_LONG = (DType.I32, DType.I64, DType.U32, DType.U64)


def cast(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    source = operand_dtype(op)
    return converted(tensor(operands[0], source, terms), source, result_dtype(op))


def converted(x: Code, source: DType, target: DType) -> Code:
    """The tensor `x` of dtype `source` in `target`."""
    if source is target:
        return x
    if source.is_float and target.is_integer:
        return call(saturated, x, torch_dtype(target))
    if rounds_twice(source, target):
        return call(rounded, x, torch_dtype(target))
    return convert(x, target)


def rounds_twice(source: DType, target: DType) -> bool:
    """Whether PyTorch goes by f32 and rounds there, too. Integers that f32 does not have are
    beyond all of f16."""
    if target is DType.BF16:
        return source is DType.F64 or source in _LONG
    return target is DType.F16 and source is DType.F64


def plain(source: DType, target: DType) -> bool:
    """Whether `x.to(...)`, or the `dtype=` of a reduction, is the cast."""
    return not (source.is_float and target.is_integer) and not rounds_twice(source, target)
