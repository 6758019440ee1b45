"""Where values are used: what a writer of statements asks before it nests one expression in
another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from linnet.ir.core import Function, Module, Operation, Value
from linnet.ir.ops import OPS
from linnet.ir.walk import callees_first, operations

Effects = Mapping[str, frozenset[str]]
"""By function: whether a call of it `reads` or `writes` states."""


@dataclass(slots=True)
class Uses:
    """`count` by value; `deep` are those that a loop or a branch uses from outside; `last` is the
    number of the last operation, in order of a walk, that uses a value."""

    count: dict[int, int] = field(default_factory=dict[int, int])
    deep: set[int] = field(default_factory=set[int])

    @staticmethod
    def of(function: Function) -> Uses:
        found = Uses()
        found._body(function.body, function.params, function.results)
        return found

    def _body(
        self, body: Iterable[Operation], params: Iterable[Value], yields: Iterable[Value]
    ) -> set[int]:
        """Count what a body uses; the values from outside among that."""
        own = {p.id for p in params}
        used: set[int] = set()
        for op in body:
            for operand in op.operands:
                self.count[operand.id] = self.count.get(operand.id, 0) + 1
            used |= {o.id for o in op.operands}
            for region in op.regions:
                inner = self._body(region.body, region.params, region.yields)
                self.deep |= inner
                used |= inner
            own |= {r.id for r in op.results}
        for value in yields:
            self.count[value.id] = self.count.get(value.id, 0) + 1
            used.add(value.id)
        return used - own


def effects(module: Module) -> Effects:
    """What the functions do to states, those that they call included."""
    found: dict[str, frozenset[str]] = {}
    for name in callees_first(module):
        own: set[str] = set()
        for op in operations(module.functions[name].body):
            if op.name == "call":
                own |= found[op.attrs["callee"]]
            elif OPS[op.name].effect in ("reads", "writes"):
                own.add(OPS[op.name].effect)
        found[name] = frozenset(own)
    return found
