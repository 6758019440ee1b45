"""Drops what nothing uses.

    %1 = exp(%0)
    %2 = neg(%0)
    return %2
becomes
    %2 = neg(%0)
    return %2

A state write stays, and so does whatever holds or calls one. A function that the entry does
not reach goes. An error that only a dropped operation would have raised is not raised.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from linnet.ir.core import Function, Module, Operation, Region, Value
from linnet.ir.ops import OPS
from linnet.ir.passes.rewrite import map_functions
from linnet.ir.walk import callees_first, operations, without_unreached


def dce(module: Module) -> Module:
    """The module without operations and functions that have no use."""
    writers = writing_functions(module)
    cleaned = map_functions(module, lambda f: _function(f, writers))
    return without_unreached(cleaned)


def writing_functions(module: Module) -> frozenset[str]:
    """The functions that write state, or call one that does."""
    writers: set[str] = set()
    for name in callees_first(module):
        if writes(module.functions[name].body, writers):
            writers.add(name)
    return frozenset(writers)


def writes(body: Iterable[Operation], writers: Iterable[str]) -> bool:
    """Whether a body writes state, given the functions that do."""
    return any(
        OPS[op.name].effect == "writes" or (op.name == "call" and op.attrs["callee"] in writers)
        for op in operations(body)
    )


def _function(function: Function, writers: frozenset[str]) -> Function:
    body = _body(function.body, function.results, writers, set())
    return function if body is function.body else replace(function, body=body)


def _body(
    body: tuple[Operation, ...],
    yields: Iterable[Value],
    writers: frozenset[str],
    live: set[int],
) -> tuple[Operation, ...]:
    """The part of `body` that is needed; the ids that it uses are added to `live`."""
    live.update(v.id for v in yields)
    kept: list[Operation] = []
    for op in reversed(body):
        if any(r.id in live for r in op.results) or writes([op], writers):
            live.update(o.id for o in op.operands)
            kept.append(_regions(op, writers, live))
    kept.reverse()
    same = len(kept) == len(body) and all(a is b for a, b in zip(kept, body, strict=True))
    return body if same else tuple(kept)


def _regions(op: Operation, writers: frozenset[str], live: set[int]) -> Operation:
    regions = tuple(_region(r, writers, live) for r in op.regions)
    unchanged = all(a is b for a, b in zip(regions, op.regions, strict=True))
    return op if unchanged else replace(op, regions=regions)


def _region(region: Region, writers: frozenset[str], live: set[int]) -> Region:
    body = _body(region.body, region.yields, writers, live)
    return region if body is region.body else replace(region, body=body)
