"""Symbols by which a function writes its own generics, whatever it is called with."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Module
from linnet.ir.walk import operations
from linnet.lower.bindings import Bound

Meant = tuple[tuple[Symbol, Dim], ...]


def as_written(scope: Bound) -> tuple[Bound, Meant]:
    """The generics of `scope` as their owner writes them, and what its symbols stand for. A
    dimension has its generic as symbol, a pack one for each of its extents; a dtype is what it is
    bound to."""
    written: Bound = {}
    meant: dict[Symbol, Dim] = {}
    for binder, arg in scope.items():
        if isinstance(arg, Dim):
            assert isinstance(binder, Symbol), binder
            written[binder] = Dim.of(binder)
            meant[binder] = arg
        elif isinstance(arg, tuple):
            assert isinstance(binder, Symbol), binder
            extents = [d for d in arg if isinstance(d, Dim)]
            symbols = _pack(binder, len(extents))
            written[binder] = tuple(map(Dim.of, symbols))
            meant.update(zip(symbols, extents, strict=True))
        else:
            written[binder] = arg
    return written, tuple(meant.items())


@cache
def _pack(binder: Symbol, rank: int) -> tuple[Symbol, ...]:
    """The same ones wherever the pack occurs."""
    return tuple(Symbol(f"{binder.name}{i}") for i in range(rank))


def symbols_of(module: Module, entry: Meant) -> tuple[Symbol, ...]:
    """The symbols that the functions of `module` have, the entry's first."""
    calls: Iterable[Meant] = (
        op.attrs.get("generics", ())
        for function in module.functions.values()
        for op in operations(function.body)
    )
    found = dict.fromkeys(symbol for symbol, _ in entry)
    for generics in calls:
        found.update(dict.fromkeys(symbol for symbol, _ in generics))
    return tuple(found)
