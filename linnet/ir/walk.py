"""Going through operations and functions; chains of calls may be of any length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from linnet.graphs import depth_first
from linnet.ir.core import Function, Module, Operation


def operations(body: Iterable[Operation]) -> Iterator[Operation]:
    """Every operation of a body, each before those in its regions."""
    for op in body:
        yield op
        for region in op.regions:
            yield from operations(region.body)


def callees(function: Function) -> Iterator[str]:
    """The names that a function calls, one for each call."""
    return (op.attrs["callee"] for op in operations(function.body) if op.name == "call")


def callees_first(module: Module) -> list[str]:
    """The names of all functions, each after those that it calls. None calls itself."""

    def called(name: str) -> list[str]:
        return [c for c in callees(module.functions[name]) if c in module.functions]

    return depth_first(module.functions, called)[0]


def without_unreached(module: Module) -> Module:
    """The module without functions that the entry does not reach; the same object if it does."""
    reached: set[str] = set()
    waiting = [module.entry]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in module.functions:
            continue
        reached.add(name)
        waiting += callees(module.functions[name])
    if len(reached) == len(module.functions):
        return module
    kept = {name: f for name, f in module.functions.items() if name in reached}
    return replace(module, functions=kept)
