"""What expressions of operations are written with: dtypes, literals, axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from linnet.backends.code import Code, call, method, name
from linnet.backends.interpret.frame import concrete
from linnet.backends.numpy.dtypes import constant
from linnet.backends.torch.dtypes import TORCH
from linnet.dims.dims import Dim, plainly_natural
from linnet.dtypes import AnyDType, DType
from linnet.ir.core import Operation

DEVICE = name("device")
"""What values that are made from nothing say they are on: a name that the source has to define."""

WIDE_UNSIGNED = frozenset({DType.U16, DType.U32, DType.U64})
"""Unsigned integers that PyTorch stores, and hardly computes with."""

_MOST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class Terms:
    """How a dimension is written, and what stands for the device."""

    dims: Callable[[Dim], Code]
    device: Code = DEVICE

    def shape(self, dims: Sequence[Dim]) -> list[Code]:
        return [self.dims(d) for d in dims]


def result_dtype(op: Operation) -> DType:
    """The dtype of the one result."""
    return concrete(op.results[0].type.dtype)


def operand_dtype(op: Operation, position: int = 0) -> DType:
    """The dtype of an operand."""
    return concrete(op.operands[position].type.dtype)


def torch_dtype(dtype: AnyDType) -> Code:
    """`torch.float32`."""
    return name(str(TORCH[concrete(dtype)]))


def literal(value: int | bool | str, dtype: DType) -> Code:
    """A constant as a Python number that is `value` rounded to `dtype`."""
    exact = constant(value, dtype)
    if not dtype.is_float:
        return name(repr(exact.item()), "literal")
    number = float(exact)
    if number != number:
        return name("torch.nan", "literal")
    if number in (float("inf"), float("-inf")):
        return name("torch.inf" if number > 0 else "-torch.inf", "literal")
    text = repr(number)
    if dtype is DType.F32:
        # The shortest decimals of the dtype, unless by way of f64 they are another number.
        short = repr(float(str(exact)))
        if abs(float(short)) <= _MOST and np.float32(float(short)) == exact:
            text = short
    return name(text.replace("e+", "e"), "literal")


def tensor(code: Code, dtype: DType, terms: Terms) -> Code:
    """`code` as a tensor: of a Python number, one without axes."""
    if code.kind == "value":
        return code
    if code.kind == "literal":
        return call("torch.tensor", code, dtype=torch_dtype(dtype), device=terms.device)
    # By way of i64: a dimension that the dtype does not have wraps.
    made = call("torch.tensor", code, device=terms.device)
    return made if dtype is DType.I64 else convert(made, dtype)


def convert(code: Code, dtype: DType) -> Code:
    """`code.to(torch.float32)`."""
    return method(code, "to", torch_dtype(dtype))


def integer(value: int) -> Code:
    """A Python integer."""
    return name(str(value), "literal")


def axis_text(axis: int, rank: int) -> Code:
    """An axis, the last one counted from the end."""
    return integer(-1 if axis == rank - 1 else axis)


def may_be_empty(extent: Dim) -> bool:
    """Whether an extent is not plainly positive: a sum of naturals and a positive number."""
    return not plainly_natural(extent - 1)
