"""Turns index notation into operations on whole arrays.

    %y = indexed(%x, %w) [B, O]: sum[k < K](x[b, k], w[o, k])
becomes
    %y = contract(%x, %w) bk, ok -> bo

A sum of several factors becomes `contract`, any other reduction `reduce`, an element at runtime
positions `gather`, and no array has more axes than the expression that it holds depends on.
"""

from __future__ import annotations

from dataclasses import replace

from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module, Operation, Value
from linnet.ir.passes.grids import Grids
from linnet.ir.passes.rewrite import map_functions, rewrite
from linnet.ir.walk import operations


def vectorize(module: Module) -> Module:
    """The module without `indexed`."""
    return map_functions(module, _function)


def _function(function: Function) -> Function:
    ops = list(operations(function.body))
    if not any(op.name == "indexed" for op in ops):
        return function
    counting = frozenset(op.results[0].id for op in ops if op.name == "iota")

    def change(op: Operation, builder: Builder) -> tuple[Value, ...] | None:
        return (_indexed(op, builder, counting),) if op.name == "indexed" else None

    return rewrite(function, change)


def _indexed(op: Operation, builder: Builder, counting: frozenset[int]) -> Value:
    before = len(builder.body)
    indices = op.attrs["indices"]
    grids = Grids(builder, op.operands, indices, counting)
    value = grids.aligned(grids.of(op.attrs["expr"]), tuple(range(len(indices))))
    last = builder.body[-1] if len(builder.body) > before else None
    if last is None or last.results != (value,):
        return value
    # The last operation takes over the result itself, and with it the name it has for people.
    builder.body[-1] = replace(last, results=op.results)
    return op.results[0]
