"""Runs single operations of the tensor IR on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.numpy.interpreter import run
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import FLOATS, INTEGERS, DType
from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module
from linnet.ir.types import Type

BF16 = ml_dtypes.bfloat16
SIGNED = sorted((d for d in INTEGERS if d.is_signed), key=str)
UNSIGNED = sorted((d for d in INTEGERS if not d.is_signed), key=str)
FLOAT_LIST = sorted(FLOATS, key=str)


def type_of(array: np.ndarray[Any, Any]) -> Type:
    dtype = next(d for d, n in NUMPY.items() if n == array.dtype)
    return Type(dtype, tuple(Dim.of(n) for n in array.shape) if array.ndim else None)


def tensor(shape: Sequence[int], dtype: DType) -> Type:
    return Type(dtype, tuple(Dim.of(n) for n in shape))


def module(function: Function, *more: Function, symbols: tuple[Symbol, ...] = ()) -> Module:
    return Module(function.name, symbols, {f.name: f for f in (function, *more)})


def apply(name: str, args: Sequence[Any], result: Type, **attrs: Any) -> np.ndarray[Any, Any]:
    """One operation on arrays."""
    arrays = [np.asarray(a) for a in args]
    b = Builder()
    operands = [b.param(type_of(a)) for a in arrays]
    (value,) = run(module(b.function("f", None, [b.emit(name, operands, result, attrs)])), arrays)
    assert value.dtype == NUMPY[result.dtype]  # type: ignore[index]
    assert value.shape == tuple(d.as_int() for d in result.shape)
    return value


def unary(name: str, values: Any, dtype: DType) -> list[Any]:
    x = np.asarray(values, NUMPY[dtype])
    return apply(name, [x], type_of(x)).tolist()


def binary(name: str, a: Any, b: Any, dtype: DType) -> list[Any]:
    x, y = np.asarray(a, NUMPY[dtype]), np.asarray(b, NUMPY[dtype])
    return apply(name, [x, y], type_of(x)).tolist()
