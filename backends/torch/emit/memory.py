"""Which tensors share memory: what may overwrite a state instead of making a new tensor, and what
may become a state as it is.

A write into a cache overwrites it where the old value is seen by nobody afterwards:

    %k = state_read {path: [k]}
    %n = call(%k, %v, %at) {callee: write_at}      for which there is a kernel that works in place
    state_write(%n) {path: [k]}

A state is never the memory of anything else, so that overwriting it changes nothing but it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from linnet.backends.kernels import Decision
from linnet.backends.torch.emit.uses import Effects, Uses
from linnet.ir.core import Function, Module, Operation, Region, Value
from linnet.ir.walk import callees_first, operations

_VIEWS = frozenset({"reshape", "permute", "broadcast", "fill", "slice", "index", "gather", "abs"})
"""Operations whose result may be the operand's memory; `abs` of unsigned integers is they."""
_ELSEWHERE = frozenset({"param", "state_read", "if", "while", "each", "loop"})
"""Operations of whose results it is not looked at where they come from."""

Path = tuple[str, ...]
ByFunction = Mapping[str, frozenset[int]]
"""By function, some of its values, by their numbers."""


@dataclass(frozen=True, slots=True)
class Memory:
    """`new`: values that are used once and have memory of their own. `over`: results of calls
    that may be what they overwrite."""

    new: ByFunction
    over: ByFunction

    @staticmethod
    def of(module: Module, decisions: Mapping[str, Decision], done: Effects) -> Memory:
        """What is known of `module`, of which calls of `decisions` may have kernels."""
        new: dict[str, frozenset[int]] = {}
        shares: dict[str, Shares] = {}
        for name in callees_first(module):
            function = module.functions[name]
            new[name] = _new(function, new, module)
            shares[name] = _shares(function, shares)
        walks = {n: _Walk(done, decisions, shares) for n in module.functions}
        apart = [walks[n].function(f) for n, f in module.functions.items()]
        over = {n: frozenset(w.over) for n, w in walks.items()} if all(apart) else {}
        return Memory(new, over)


# --- new memory --------------------------------------------------------------


def _new(function: Function, known: ByFunction, module: Module) -> frozenset[int]:
    counts = Uses.of(function).count
    makers = {r.id: op for op in operations(function.body) for r in op.results}
    found: set[int] = set()
    for value, op in makers.items():
        if counts.get(value) != 1 or op.name in _ELSEWHERE:
            continue
        if op.name == "call":
            callee = module.functions[op.attrs["callee"]]
            place = [r.id for r in op.results].index(value)
            is_new = callee.results[place].id in known[callee.name]
        else:
            is_new = not _is_view(op) or _is_of_constant(op, makers)
        if is_new:
            found.add(value)
    return frozenset(found)


def _is_view(op: Operation) -> bool:
    if op.name == "cast":
        return op.operands[0].type.dtype == op.results[0].type.dtype
    return op.name in _VIEWS or (op.name == "contract" and len(op.operands) == 1)


def _is_of_constant(op: Operation, makers: Mapping[int, Operation]) -> bool:
    """Whether it is a `fill` that is written as a tensor of its own."""
    made = makers.get(op.operands[0].id)
    return op.name == "fill" and made is not None and made.name == "constant"


# --- what shares memory ------------------------------------------------------

Shares = tuple[frozenset[int], ...]
"""For each result of a function, the positions of the parameters that it may share memory with."""


def _shares(function: Function, known: Mapping[str, Shares]) -> Shares:
    of: dict[int, frozenset[int]] = {p.id: frozenset([k]) for k, p in enumerate(function.params)}
    nothing = frozenset[int]()

    def body(ops: Iterable[Operation]) -> None:
        for op in ops:
            given = [of.get(o.id, nothing) for o in op.operands]
            for region in op.regions:
                carried = region.params[len(region.params) - len(given) :]
                of.update((p.id, g) for p, g in zip(carried, given, strict=False))
                body(region.body)
            inner = [of.get(y.id, nothing) for region in op.regions for y in region.yields]
            every = nothing.union(*given, *inner)
            for k, result in enumerate(op.results):
                if op.name == "call":
                    at = known[op.attrs["callee"]][k]
                    of[result.id] = nothing.union(*(given[j] for j in at))
                elif op.regions:
                    of[result.id] = every
                elif _is_view(op):
                    of[result.id] = given[0]

    body(function.body)
    return tuple(of.get(r.id, nothing) for r in function.results)


# --- states that may be overwritten ------------------------------------------


@dataclass(slots=True)
class _Walk:
    """Follows the values that may share memory with a state, in a function and its regions.
    `old` has the states that a value may share memory with as they are; `stale` are values that
    share memory with what a state was before a write."""

    done: Effects
    decisions: Mapping[str, Decision]
    shares: Mapping[str, Shares]
    over: set[int] = field(default_factory=set[int])
    counts: Mapping[int, int] = field(default_factory=dict[int, int])
    reads: dict[int, Operation] = field(default_factory=dict[int, Operation])

    def function(self, function: Function) -> bool:
        """Whether nothing that shares memory with a state outlives the next write to any."""
        self.counts = Uses.of(function).count
        return self.body(function.body, function.results)

    def body(self, body: Sequence[Operation], yielded: Iterable[Value]) -> bool:
        old: dict[int, frozenset[Path]] = {}
        stale: set[int] = set()
        for k, op in enumerate(body):
            own = {o.id for o in op.operands}
            outside = stale | set(old)
            if own & stale or not all(self.region(r, outside) for r in op.regions):
                return False
            effects = self._effects(op)
            if own & set(old) and (op.regions or ("writes" in effects and op.name == "call")):
                return False
            if "writes" in effects:
                stale |= set(old)
                old = {}
            self._hold(op, old)
            if op.name == "call" and self._overwrites(op, body[k + 1 :], old):
                self.over.add(op.results[0].id)
        return not {y.id for y in yielded} & (stale | set(old))

    def region(self, region: Region, outside: set[int]) -> bool:
        """A region may not name what shares memory with a state outside of it."""
        named = {o.id for op in operations(region.body) for o in op.operands}
        named |= {y.id for y in region.yields}
        return not named & outside and self.body(region.body, region.yields)

    def _hold(self, op: Operation, old: dict[int, frozenset[Path]]) -> None:
        """Which states the results of `op` share memory with."""
        given = [old.get(o.id, frozenset[Path]()) for o in op.operands]
        for k, result in enumerate(op.results):
            found = frozenset[Path]()
            if op.name == "state_read":
                found = frozenset([_path(op)])
                self.reads[result.id] = op
            elif op.name == "call":
                found = found.union(*(given[j] for j in self.shares[op.attrs["callee"]][k]))
            elif _is_view(op):
                found = given[0]
            if found:
                old[result.id] = found

    def _overwrites(
        self, op: Operation, after: Sequence[Operation], old: Mapping[int, frozenset[Path]]
    ) -> bool:
        """Whether the call may overwrite a state: it becomes that state, and until then nobody
        looks at what it was."""
        decision = self.decisions.get(op.attrs["callee"])
        kernel = None if decision is None else decision.kernel
        if decision is None or kernel is None or kernel.in_place is None or len(op.results) != 1:
            return False
        cache = decision.site.pick(kernel.in_place, op.operands)
        read = None if cache is None else self.reads.get(cache.id)
        if cache is None or read is None or self.counts[cache.id] != 1:
            return False
        if self.counts.get(op.results[0].id) != 1:
            return False
        if any(o.id in old for o in op.operands if o is not cache):
            return False
        paths = frozenset([_path(read)])
        for later in after:
            if later.name == "state_write" and later.operands == op.results:
                return later.attrs["path"] == read.attrs["path"]
            seen = any(paths & old.get(o.id, frozenset[Path]()) for o in later.operands)
            if seen or (later.name == "state_read" and _path(later) in paths):
                return False
            if later.name not in ("state_read", "state_write") and self._effects(later):
                return False
        return False

    def _effects(self, op: Operation) -> frozenset[str]:
        """What it does to states, what is in its regions included."""
        if op.name == "call":
            return self.done[op.attrs["callee"]]
        own = {"state_read": "reads", "state_write": "writes"}.get(op.name)
        found = frozenset([own] if own else [])
        inner = (self._effects(o) for r in op.regions for o in r.body)
        return found.union(*inner)


def _path(op: Operation) -> Path:
    """The path, in which all elements of an array are one."""
    parts = map(str, op.attrs["path"])
    return tuple("*" if p.startswith("$") or p.isdecimal() else p for p in parts)
