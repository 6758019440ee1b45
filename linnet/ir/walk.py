"""Going through operations and functions; chains of calls may be of any length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    found: dict[str, None] = {}
    for start in module.functions:
        open_ = [(start, iter(callees(module.functions[start])))]
        while open_:
            name, rest = open_[-1]
            callee = next((c for c in rest if c in module.functions and c not in found), None)
            if callee is None:
                found[name] = None
                open_.pop()
            else:
                open_.append((callee, iter(callees(module.functions[callee]))))
    return list(found)
