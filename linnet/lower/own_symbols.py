"""Symbols by which a function writes its own generics, whatever it is called with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Module
from linnet.ir.walk import operations
from linnet.lower.bindings import Bound


@dataclass(slots=True)
class OwnSymbols:
    """A dimension has its generic as symbol; a pack has one for each of its extents. A dtype is
    what it is bound to."""

    _packs: dict[tuple[Symbol, int], tuple[Symbol, ...]] = field(
        default_factory=dict[tuple[Symbol, int], tuple[Symbol, ...]]
    )

    def of(self, scope: Bound) -> tuple[Bound, tuple[tuple[Symbol, Dim], ...]]:
        """The generics of `scope` as their function writes them, and what that stands for."""
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
                symbols = self._pack(binder, len(extents))
                written[binder] = tuple(map(Dim.of, symbols))
                meant.update(zip(symbols, extents, strict=True))
            else:
                written[binder] = arg
        return written, tuple(meant.items())

    def _pack(self, binder: Symbol, rank: int) -> tuple[Symbol, ...]:
        if (binder, rank) not in self._packs:
            self._packs[binder, rank] = tuple(Symbol(f"{binder.name}{i}") for i in range(rank))
        return self._packs[binder, rank]


def own(module: Module, entry: Iterable[tuple[Symbol, Dim]]) -> tuple[Symbol, ...]:
    """The symbols that the functions of `module` have, the entry's first."""
    found = dict.fromkeys(symbol for symbol, _ in entry)
    for function in module.functions.values():
        for op in operations(function.body):
            found.update(dict.fromkeys(symbol for symbol, _ in op.attrs.get("generics", ())))
    return tuple(found)
