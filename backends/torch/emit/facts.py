"""What is known of a module before any of its functions is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from linnet.backends.interpret.frame import concrete
from linnet.backends.kernels import Decision
from linnet.backends.torch.emit.uses import Effects, effects
from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Function, Module, Operation, Region
from linnet.ir.ops import OPS
from linnet.ir.passes.bind import values_of
from linnet.ir.walk import callees_first, operations

_VIEWS = frozenset({"reshape", "permute", "broadcast", "fill", "slice", "index"})
_NO_NUMBERS: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Facts:
    """`numbers`: by function, what its symbols are; `integers`: which of its parameters are given
    a Python integer by every call; `in_place`: whether states may be overwritten."""

    module: Module
    decisions: Mapping[str, Decision]
    effects: Effects
    numbers: Mapping[str, Mapping[Symbol, Dim]]
    integers: Mapping[str, frozenset[int]]
    in_place: bool

    @staticmethod
    def of(
        module: Module, decisions: Mapping[str, Decision], values: Mapping[Symbol, Dim]
    ) -> Facts:
        """What is known of `module`, whose entry has these values."""
        done = effects(module)
        whole = all(_keeps_apart(f, done) for f in module.functions.values())
        return Facts(module, decisions, done, values_of(module, values), integers(module), whole)


# --- integers ----------------------------------------------------------------


def integers(module: Module) -> dict[str, frozenset[int]]:
    """By function, the integer scalars among its parameters that are a dimension or a constant at
    every call."""
    found: dict[str, frozenset[int]] = {module.entry: _NO_NUMBERS}
    for name in reversed(callees_first(module)):
        function = module.functions[name]
        known = _integers_in(function, found.get(name, _NO_NUMBERS))
        for op in operations(function.body):
            if op.name == "call":
                given = frozenset(k for k, o in enumerate(op.operands) if o.id in known)
                callee: str = op.attrs["callee"]
                found[callee] = found.get(callee, given) & given
    return found


def _integers_in(function: Function, params: frozenset[int]) -> set[int]:
    known = {function.params[k].id for k in params}
    for op in operations(function.body):
        if op.name in ("dim", "constant"):
            (result,) = op.results
            if concrete(result.type.dtype).is_integer and result.type.dims is None:
                known.add(result.id)
    return known


# --- states ------------------------------------------------------------------


def _keeps_apart(function: Function, done: Effects) -> bool:
    """Whether nothing that shares memory with a state outlives the next write to any: then a
    write may overwrite the old value."""
    return _Memory(done).body(function.body, {r.id for r in function.results})


@dataclass(slots=True)
class _Memory:
    """Follows the values that may share memory with a state."""

    done: Effects

    def body(self, body: Iterable[Operation], yielded: set[int]) -> bool:
        shared: set[int] = set()
        stale: set[int] = set()
        for op in body:
            own = {o.id for o in op.operands}
            if own & stale or not self._regions(op.regions, shared | stale):
                return False
            writes = op.name == "state_write" or self._called(op, "writes")
            if op.name == "call" and own & shared and "writes" in self.done[op.attrs["callee"]]:
                return False
            if op.regions and own & shared:
                return False
            if writes:
                stale |= shared
                shared = set()
            if op.name == "state_read" or (op.name in _VIEWS and own & shared):
                shared |= {r.id for r in op.results}
        return not yielded & (shared | stale)

    def _regions(self, regions: Iterable[Region], outside: set[int]) -> bool:
        """Regions may not name what shares memory with a state outside of them."""
        for region in regions:
            named = {o.id for op in operations(region.body) for o in op.operands}
            named |= {y.id for y in region.yields}
            if named & outside or not self.body(region.body, {y.id for y in region.yields}):
                return False
        return True

    def _called(self, op: Operation, effect: str) -> bool:
        if op.name == "call":
            return effect in self.done[op.attrs["callee"]]
        return any(
            self._called(inner, effect) or OPS[inner.name].effect == effect
            for region in op.regions
            for inner in operations(region.body)
        )
