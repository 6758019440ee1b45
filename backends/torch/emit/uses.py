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
    """`count` by value; `deep` are those that a loop or a branch uses from outside; `positions`:
    how often a value is where something is read, as it is or in another shape."""

    count: dict[int, int] = field(default_factory=dict[int, int])
    deep: set[int] = field(default_factory=set[int])
    positions: dict[int, int] = field(default_factory=dict[int, int])

    @staticmethod
    def of(function: Function) -> Uses:
        found = Uses()
        found._body(function.body, function.params, function.results)
        for op in reversed(list(operations(function.body))):
            if op.name in ("gather", "index"):
                for operand in op.operands[1:]:
                    found._at(operand, 1)
            elif op.name == "reshape" and op.results[0].id in found.positions:
                found._at(op.operands[0], int(found.only_positions(op.results[0])))
        return found

    def _at(self, value: Value, count: int) -> None:
        self.positions[value.id] = self.positions.get(value.id, 0) + count

    def only_positions(self, value: Value) -> bool:
        """Whether a value is used for nothing else than to say where to read."""
        return self.positions.get(value.id, 0) == self.count.get(value.id, 0) > 0

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
