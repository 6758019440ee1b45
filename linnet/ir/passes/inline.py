"""Puts the bodies of chosen functions where they are called.

    %1 = call(%0) {callee: f, at: [sub]}        f(%0) { %1 = param {path: [w]}  return %1 }
becomes
    %1 = param {path: [sub, w]}

The paths of the body are then those of the caller's block. Functions that nothing calls any
more are left to `dce`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module, Operation, Region, Value
from linnet.ir.ops import OPS
from linnet.ir.passes.rewrite import rewrite
from linnet.ir.paths import Path
from linnet.ir.under import as_called
from linnet.ir.walk import callees_first, operations


def inline(module: Module, chosen: Callable[[Function], bool]) -> Module:
    """The module without calls of the functions that `chosen` says yes to."""
    return replace(module, functions=_Inliner(module, chosen).functions())


class _Inliner:
    """Rewrites the functions of a module, callees before their callers."""

    def __init__(self, module: Module, chosen: Callable[[Function], bool]) -> None:
        self._module = module
        self._chosen = {name for name, f in module.functions.items() if chosen(f)}
        self._done: dict[str, Function] = {}

    def functions(self) -> Mapping[str, Function]:
        for name in callees_first(self._module):
            self._done[name] = self._rewritten(self._module.functions[name])
        return {name: self._done[name] for name in self._module.functions}

    def _rewritten(self, function: Function) -> Function:
        ops = list(operations(function.body))
        if not any(self._goes(op) for op in ops):
            return function
        variables = {op.attrs["var"] for op in ops if op.name == "each"}

        def change(op: Operation, builder: Builder) -> tuple[Value, ...] | None:
            if not self._goes(op):
                return None
            callee = as_called(self._done[op.attrs["callee"]], op)
            values = {p.id: o for p, o in zip(callee.params, op.operands, strict=True)}
            renamed = _fresh_variables(callee, variables)
            clone = Clone(builder, values, op.attrs["at"], renamed)
            clone.body(callee.body)
            return clone.uses(callee.results)

        return rewrite(function, change)

    def _goes(self, op: Operation) -> bool:
        return op.name == "call" and op.attrs["callee"] in self._chosen


def _fresh_variables(callee: Function, taken: set[str]) -> dict[str, str]:
    """Names for the variables of the callee's `each`es, which are then taken too."""
    renamed: dict[str, str] = {}
    for op in operations(callee.body):
        if op.name == "each" and op.attrs["var"] not in renamed:
            name: str = op.attrs["var"]
            while name in taken:
                name += "_"
            taken.add(name)
            renamed[op.attrs["var"]] = name
    return renamed


@dataclass(frozen=True, slots=True)
class Clone:
    """Emits a body again with fresh values, as seen from the block that `prefix` leads from."""

    builder: Builder
    values: dict[int, Value]
    prefix: Path
    variables: Mapping[str, str]

    def body(self, body: Iterable[Operation]) -> None:
        for op in body:
            operands = self.uses(op.operands)
            regions = tuple(self._region(r) for r in op.regions)
            results = self._define(self.builder, op.results)
            attrs = self._attrs(op)
            self.builder.append(Operation(op.name, operands, results, attrs, regions, op.place))

    def uses(self, values: Iterable[Value]) -> tuple[Value, ...]:
        return tuple(self.values[v.id] for v in values)

    def _define(self, builder: Builder, values: Iterable[Value]) -> tuple[Value, ...]:
        fresh: list[Value] = []
        for value in values:
            fresh.append(builder.value(value.type, value.hint))
            self.values[value.id] = fresh[-1]
        return tuple(fresh)

    def _region(self, region: Region) -> Region:
        inner = replace(self, builder=self.builder.nested())
        inner.builder.params.extend(self._define(inner.builder, region.params))
        inner.body(region.body)
        return inner.builder.region(inner.uses(region.yields))

    def _attrs(self, op: Operation) -> Mapping[str, Any]:
        paths = [name for name, kind in OPS[op.name].attrs.items() if kind == "path"]
        if not paths:
            return op.attrs
        attrs = dict(op.attrs)
        for name in paths:
            attrs[name] = (*self.prefix, *map(self._part, attrs[name]))
        if op.name == "each":
            attrs["var"] = self.variables[attrs["var"]]
        return attrs

    def _part(self, part: str | int) -> str | int:
        if isinstance(part, str) and part.startswith("$"):
            return f"${self.variables[part[1:]]}"
        return part
