"""Copies functions while operations are replaced: what passes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import count

from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module, Operation, Region, Value
from linnet.ir.walk import operations

Replacement = tuple[Value, ...] | None
Replace = Callable[[Operation, Builder], Replacement]
"""Either emits something else into the builder and gives what stands for the results, or gives
None: the operation stays. It is asked after its operands and regions have been rewritten."""


def next_id(function: Function) -> int:
    """A number beyond those of all values of the function."""
    ids = [v.id for v in function.params]
    for op in operations(function.body):
        ids += [v.id for v in op.results]
        ids += [v.id for region in op.regions for v in region.params]
    return max(ids, default=-1) + 1


def map_functions(module: Module, change: Callable[[Function], Function]) -> Module:
    """The module with every function changed; the same object if none was."""
    functions = {name: change(f) for name, f in module.functions.items()}
    if all(functions[name] is f for name, f in module.functions.items()):
        return module
    return replace(module, functions=functions)


def rewrite(function: Function, change: Replace) -> Function:
    """The function with its operations replaced, those in regions too."""
    builder = Builder(count(next_id(function)))
    values: dict[int, Value] = {}
    copy(function.body, builder, values, change)
    results = tuple(values.get(r.id, r) for r in function.results)
    return replace(function, body=tuple(builder.body), results=results)


def copy(
    body: Iterable[Operation], builder: Builder, values: dict[int, Value], change: Replace
) -> None:
    """Emits `body` with `values` standing for the ids they are under."""
    for op in body:
        moved = substitute(op, values)
        if op.regions:
            regions = tuple(_region(r, builder, values, change) for r in op.regions)
            moved = replace(moved, regions=regions)
        builder.place = op.place
        new = change(moved, builder)
        if new is None:
            builder.append(moved)
        else:
            values.update(zip((r.id for r in op.results), new, strict=True))


def substitute(op: Operation, values: Mapping[int, Value]) -> Operation:
    """The operation with other operands."""
    if not any(o.id in values for o in op.operands):
        return op
    return replace(op, operands=tuple(values.get(o.id, o) for o in op.operands))


def _region(region: Region, builder: Builder, values: dict[int, Value], change: Replace) -> Region:
    inner = builder.nested()
    copy(region.body, inner, values, change)
    yields = tuple(values.get(y.id, y) for y in region.yields)
    return Region(region.params, tuple(inner.body), yields)
