"""Puts dimensions in place of symbols, until every function is over the symbols of the entry.

    call(%x) {callee: f, at: [], generics: [N = B * 2]}      f(%y: tensor[N; f32])
becomes, with 3 for B
    call(%x) {callee: f, at: []}                             f(%y: tensor[6; f32])

A function has one set of values for its symbols, however it is called.
"""

from __future__ import annotations

from collections.abc import Mapping

from linnet.dims.atoms import sorted_symbols
from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Module
from linnet.ir.under import Under
from linnet.ir.walk import callees_first, operations

Names = Mapping[Symbol, Dim]


def bind(module: Module, values: Names) -> Module:
    """The module with `values` for the symbols of its entry, and no `generics` at its calls."""
    names = values_of(module, values)
    functions = {
        name: Under(names.get(name, {}), keep=False).function(f)
        for name, f in module.functions.items()
    }
    entry = names[module.entry].values()
    symbols = {s for value in entry for s in sorted_symbols(value.symbols())}
    open_ = [s for s in module.symbols if not any(s in own for own in names.values())]
    return Module(module.entry, tuple(dict.fromkeys([*open_, *sorted_symbols(symbols)])), functions)


def values_of(module: Module, values: Names) -> dict[str, dict[Symbol, Dim]]:
    """By function, what its symbols are over those of the entry, or of `values`."""
    found: dict[str, dict[Symbol, Dim]] = {module.entry: dict(values)}
    for name in reversed(callees_first(module)):
        if name not in found:
            continue
        for op in operations(module.functions[name].body):
            if op.name == "call":
                given = op.attrs.get("generics", ())
                found.setdefault(op.attrs["callee"], {}).update(
                    (symbol, dim.substitute(found[name])) for symbol, dim in given
                )
    return found
