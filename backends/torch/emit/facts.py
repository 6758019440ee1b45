"""What is known of a module before any of its functions is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from linnet.backends.interpret.frame import concrete
from linnet.backends.kernels import Decision
from linnet.backends.torch.emit.memory import Memory
from linnet.backends.torch.emit.uses import Effects, effects
from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Function, Module
from linnet.ir.passes.bind import values_of
from linnet.ir.walk import callees_first, operations

_NO_NUMBERS: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Facts:
    """`numbers`: by function, what its symbols are; `integers`: which of its parameters are given
    a Python integer by every call; `prepare`: whether what is made of parameters alone is made
    once."""

    module: Module
    decisions: Mapping[str, Decision]
    effects: Effects
    numbers: Mapping[str, Mapping[Symbol, Dim]]
    integers: Mapping[str, frozenset[int]]
    memory: Memory
    prepare: bool

    @staticmethod
    def of(
        module: Module,
        decisions: Mapping[str, Decision],
        values: Mapping[Symbol, Dim],
        *,
        prepare: bool,
    ) -> Facts:
        """What is known of `module`, whose entry has these values."""
        done = effects(module)
        numbers, memory = values_of(module, values), Memory.of(module, decisions, done)
        return Facts(module, decisions, done, numbers, integers(module), memory, prepare)


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
