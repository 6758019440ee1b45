"""Operations of the tensor IR in PyTorch beside NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch

from linnet.backends.code import Code, name
from linnet.backends.interpret.frame import concrete
from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.numpy.interpreter import run as run_numpy
from linnet.backends.torch.arrays import of_numpy
from linnet.backends.torch.vocabulary import as_tensor, code, dim_code
from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Module, Operation
from linnet.ir.types import Type
from tests.backends.each import run, to_numpy
from tests.backends.numpy.harness import module, type_of

Array = np.ndarray[Any, Any]


def in_torch(module: Module, args: Sequence[Any], **named: Any) -> list[Array]:
    """What the module gives in PyTorch."""
    return run("torch", module, args, **named)


def same(found: Array, wanted: Array, ulps: int = 0) -> None:
    """One dtype, one shape, and the same elements and signs of zeros, NaN where NaN is wanted;
    floats up to `ulps` of their dtype apart."""
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if found.dtype.kind != "f" and found.dtype != NUMPY[DType.BF16]:
        np.testing.assert_array_equal(found, wanted)
        return
    unit = float(ml_dtypes.finfo(found.dtype).eps)
    least = float(ml_dtypes.finfo(found.dtype).smallest_subnormal)
    with np.errstate(invalid="ignore"):  # signaling NaNs
        a, b = found.astype(np.float64), wanted.astype(np.float64)
    if ulps:
        np.testing.assert_allclose(a, b, rtol=ulps * unit, atol=ulps * least)
        return
    np.testing.assert_array_equal(a, b)
    there = ~np.isnan(b)
    np.testing.assert_array_equal(np.signbit(a)[there], np.signbit(b)[there])


def operation(name_: str, types: Sequence[Type], result: Type, **attrs: Any) -> Module:
    """A module of one operation on its parameters."""
    b = Builder()
    operands = [b.param(t) for t in types]
    return module(b.function("f", None, [b.emit(name_, operands, result, attrs)]))


def both(name_: str, args: Sequence[Any], result: Type, *, ulps: int = 0, **attrs: Any) -> Array:
    """One operation in PyTorch, which gives what it does in NumPy, however it is laid out in
    memory, and with each scalar as a Python number."""
    arrays = [np.asarray(a) for a in args]
    whole = operation(name_, [type_of(a) for a in arrays], result, **attrs)
    (wanted,) = run_numpy(whole, arrays)
    (found,) = in_torch(whole, arrays)
    same(found, wanted, ulps)
    (op,) = whole.functions["f"].body
    same(expression(op, [spread(of_numpy(a)) for a in arrays]), wanted, ulps)
    if any(not a.ndim for a in arrays):
        same(expression(op, [of_numpy(a) if a.ndim else a for a in arrays]), wanted, ulps)
    return wanted


def spread(x: torch.Tensor) -> torch.Tensor:
    """`x` with a gap between any two elements."""
    return torch.stack([x, x], -1)[..., 0]


def expression(op: Operation, operands: Sequence[Any]) -> Array:
    """What the code of `op` gives for tensors, and for arrays without axes as literals."""
    written: list[Code] = []
    scope: dict[str, Any] = {"torch": torch, "device": torch.device("cpu")}
    for k, x in enumerate(operands):
        if isinstance(x, torch.Tensor):
            written.append(name(f"x{k}"))
            scope[f"x{k}"] = x
        else:
            written.append(literal(x, concrete(op.operands[k].type.dtype)))
    text = as_tensor(code(op, written, dims), concrete(op.results[0].type.dtype))
    scope |= {f.__name__: f for f in text.functions}
    return to_numpy(eval(text.text, scope))


def literal(x: Array, dtype: DType) -> Code:
    """A constant as the vocabulary writes it."""
    b = Builder()
    value = x.item() if not dtype.is_float else repr(float(x))
    b.constant(value, dtype)
    return code(b.body[0], [], dims)


def dims(dim: Dim) -> Code:
    """Extents without symbols."""
    return dim_code(dim, lambda symbol: name(symbol.name))
