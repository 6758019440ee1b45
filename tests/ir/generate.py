"""Random `indexed` operations with operands that fit them.

Numbers are small integers in every dtype, so that sums are exact whatever their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from linnet.backends.numpy.dtypes import NUMPY
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import AnyDType, DType
from linnet.ir.builder import Builder
from linnet.ir.core import Module, Operation, Value
from linnet.ir.scalar import (
    Access,
    Apply,
    Const,
    DimValue,
    Index,
    Operand,
    Reduce,
    Scalar,
)
from linnet.ir.types import Type

Array = np.ndarray[Any, Any]
I64, BOOL = DType.I64, DType.BOOL
DTYPES = (DType.F32, DType.BF16, DType.F16, DType.I32, I64, DType.U8, BOOL)
NUMERIC = ("add", "sub", "mul", "min", "max")
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


@dataclass(frozen=True, slots=True)
class Case:
    """`args` are for the module, whose entry counts some of the operation's `operands` itself."""

    module: Module
    op: Operation
    args: list[Array]
    operands: list[Array]
    symbols: dict[Symbol, int]
    extents: list[int]


@dataclass(slots=True)
class Maker:
    """Draws expressions and the operands that they read."""

    draw: Any
    extents: dict[int, int] = field(default_factory=dict[int, int])
    dims: dict[int, Dim] = field(default_factory=dict[int, Dim])
    symbols: dict[Symbol, int] = field(default_factory=dict[Symbol, int])
    operands: list[tuple[Type, Array, bool]] = field(default_factory=list[tuple[Type, Array, bool]])

    def choose(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def extent(self) -> tuple[int, Dim]:
        n = self.number(0, 9)
        n = 0 if n == 0 else 1 + n % 3
        if self.number(0, 1):
            symbol = Symbol(f"D{len(self.symbols)}")
            self.symbols[symbol] = n
            return n, Dim.of(symbol)
        return n, Dim.of(n)

    def index(self) -> int:
        i = len(self.extents)
        self.extents[i], self.dims[i] = self.extent()
        return i

    def expr(self, dtype: AnyDType, depth: int, scope: tuple[int, ...]) -> Scalar:
        if depth <= 0:
            return self.leaf(dtype, scope)
        kind = self.number(0, 5)
        if kind == 0:
            return self.access(dtype, depth, scope)
        if kind == 1:
            return self.reduce(dtype, depth, scope)
        if kind == 2:
            args = self.expr(BOOL, depth - 1, scope), self.expr(dtype, depth - 1, scope)
            return Apply("select", (*args, self.expr(dtype, depth - 1, scope)), dtype)
        if kind == 3:
            return Apply("cast", (self.expr(self.choose(DTYPES), depth - 1, scope),), dtype)
        return self.binary(dtype, depth, scope)

    def binary(self, dtype: AnyDType, depth: int, scope: tuple[int, ...]) -> Scalar:
        if dtype is not BOOL:
            fn, source = self.choose(NUMERIC), dtype
            if self.number(0, 5) == 0:
                return Apply("neg", (self.expr(dtype, depth - 1, scope),), dtype)
        elif self.number(0, 1):
            fn, source = self.choose(("and", "or", "xor", "eq")), BOOL
        else:
            fn, source = self.choose(COMPARE), self.choose(DTYPES[:-1])
        args = self.expr(source, depth - 1, scope), self.expr(source, depth - 1, scope)
        return Apply(fn, args, dtype)

    def leaf(self, dtype: AnyDType, scope: tuple[int, ...]) -> Scalar:
        kind = self.number(0, 9)
        if kind == 0:
            return Const(self.literal(dtype), dtype)
        if kind == 1 and dtype is not BOOL:
            return DimValue(self.extent()[1] + 1, dtype)
        if kind == 2:
            return Operand(self.operand(Type(dtype), ()), dtype)
        if kind == 3 and scope and dtype is not BOOL:
            return Index(self.choose(scope), dtype)
        return self.access(dtype, 0, scope)

    def literal(self, dtype: AnyDType) -> int | bool | str:
        if dtype is BOOL:
            return bool(self.number(0, 1))
        n = self.number(0, 3)
        return n if self.number(0, 1) or dtype not in DTYPES[:3] else f"{n}.0"

    def reduce(self, dtype: AnyDType, depth: int, scope: tuple[int, ...]) -> Scalar:
        bound = tuple(self.index() for _ in range(self.number(1, 2)))
        ops = ("any", "all") if dtype is BOOL else ("sum", "sum", "sum", "max", "min", "prod")
        half = (DType.BF16, DType.F16)
        op = self.choose(ops)
        several = self.number(1, 3) if op == "sum" else 1
        factors = tuple(self.expr(dtype, depth - 1, scope + bound) for _ in range(several))
        accumulator = DType.F32 if dtype in half else dtype
        indices = tuple((i, self.dims[i]) for i in bound)
        return Reduce(op, accumulator, indices, factors, dtype)

    def access(self, dtype: AnyDType, depth: int, scope: tuple[int, ...]) -> Scalar:
        shape: list[int] = []
        dims: list[Dim] = []
        positions: list[Scalar] = []
        for _ in range(self.number(0 if depth else 1, 3)):
            kind = self.number(0, 9)
            if kind > 2 and scope:
                i = self.choose(scope)
                position, n, dim = Index(i, I64), self.extents[i], self.dims[i]
            else:
                position, n, dim = self.position(kind, depth, scope)
            shape.append(n)
            dims.append(dim)
            positions.append(position)
        operand = self.operand(Type(dtype, tuple(dims) or None), tuple(shape))
        return Access(operand, tuple(positions), dtype)

    def position(self, kind: int, depth: int, scope: tuple[int, ...]) -> tuple[Scalar, int, Dim]:
        n = self.number(1, 3)
        if kind == 0:
            return Const(self.number(0, n - 1), I64), n, Dim.of(n)
        if kind == 1 and scope:
            i = self.choose(scope)
            counter = Type(I64, (self.dims[i],))
            operand = self.operand(counter, (self.extents[i],), np.arange(self.extents[i]))
            position = Access(operand, (Index(i, I64),), I64)
            return position, self.extents[i], self.dims[i]
        if depth and self.number(0, 9) == 0:
            position = self.expr(I64, depth - 1, scope)
            if isinstance(position, Index):
                return position, self.extents[position.index], self.dims[position.index]
            if isinstance(position, Const | DimValue):  # known to be within the axis
                return Const(n - 1, I64), n, Dim.of(n)
            return position, n, Dim.of(n)
        axes = tuple(self.choose(scope) for _ in range(self.number(0, 2))) if scope else ()
        shape = tuple(self.extents[i] for i in axes)
        values = np.random.default_rng(self.number(0, 99)).integers(0, n, shape)
        dims = tuple(self.dims[i] for i in axes) or None
        type = Type(self.choose((I64, DType.I32, DType.U8)), dims)
        where = self.operand(type, shape, values)
        return Access(where, tuple(Index(i, I64) for i in axes), type.dtype), n, Dim.of(n)

    def operand(self, type: Type, shape: tuple[int, ...], values: Array | None = None) -> int:
        counter = values is not None and type.rank == 1 and self.number(0, 1) == 0
        counter = counter and bool((values == np.arange(len(values))).all())  # pyright: ignore
        if values is None:
            low = 0 if type.dtype in (BOOL, DType.U8) else -2
            high = 1 if type.dtype is BOOL else 2
            values = np.random.default_rng(self.number(0, 99)).integers(low, high + 1, shape)
        assert isinstance(type.dtype, DType)
        array = np.asarray(values).astype(np.int64).astype(NUMPY[type.dtype])
        self.operands.append((type, array, counter))
        return len(self.operands) - 1


@st.composite
def cases(draw: st.DrawFn, depth: int = 3) -> Case:
    """An operation, its module and what to run it with."""
    maker = Maker(draw)
    outputs = tuple(maker.index() for _ in range(maker.number(0, 3)))
    dtype = maker.choose(DTYPES)
    expr = maker.expr(dtype, maker.number(0, depth), outputs)
    dims = tuple(maker.dims[i] for i in outputs)
    builder = Builder()
    params = [builder.param(t) for t, _, counter in maker.operands if not counter]
    values: list[Value] = []
    for type, _, counter in maker.operands:
        values.append(builder.emit("iota", [], type) if counter else params.pop(0))
    attrs = {"indices": dims, "expr": expr}
    result = builder.emit("indexed", values, Type(dtype, dims or None), attrs)
    function = builder.function("main", None, [result])
    module = Module("main", tuple(maker.symbols), {"main": function})
    arrays = [a for _, a, _ in maker.operands]
    args = [a for _, a, counter in maker.operands if not counter]
    extents = list(maker.extents.values())
    return Case(module, builder.body[-1], args, arrays, maker.symbols, extents)
