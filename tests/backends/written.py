"""Modules of the IR as generated source: what a generator is given, for modules that tests make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linnet.backends.base import Compiled, Given, Stored
from linnet.backends.contract import Sources
from linnet.backends.interpret.frame import bind_symbols, concrete
from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.torch.emit.names import base_of
from linnet.dims.dims import Dim, Symbol
from linnet.dims.evaluate import evaluate
from linnet.dtypes import DType
from linnet.ir.core import Function, Module, Operation
from linnet.ir.passes.bind import bind
from linnet.ir.passes.inline import inline
from linnet.ir.walk import operations
from linnet.lower.bundle import Group
from linnet.lower.module import AsWritten
from linnet.lower.outline import Member, Outline, Sub
from tests.backends.each import load

NO_BLOCK = Outline("m::NoBlock", (), ())
NO_RESULT = Group(())
"""Generated source has no use for the form of a result."""
Numbers = Mapping[Symbol, int]

_KNOWN: dict[int, tuple[Module, Sources]] = {}


def know(module: Module, sources: Sources) -> None:
    """`module` is, as it is written, what `sources` give."""
    _KNOWN[id(module)] = module, sources


def sources_of(module: Module) -> Sources:
    """What `know` was told."""
    return _KNOWN[id(module)][1]


def run(
    module: Module,
    args: Sequence[Any],
    state: MutableMapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    symbols: Numbers | None = None,
) -> list[Any]:
    """The tensors that the generated source of `module` gives; `state` is replaced.

    Without sources that are known, functions outside blocks are written over the symbols of the
    entry, and blocks as the paths tell, for the numbers of this run."""
    arrays = [np.asarray(a) for a in args]
    types = [p.type for p in module.functions[module.entry].params]
    numbers = bind_symbols(types, arrays, symbols or {}, NUMPY)
    held: MutableMapping[str, Any] = {} if state is None else state
    blocks = Blocks.of(bind(module, dims_of(numbers)))
    known = _KNOWN.get(id(module))
    if known and known[0] is module:
        sources = bound(known[1], dims_of(symbols or {}), dims_of(numbers))
    else:
        sources = bound(made(module, numbers, blocks), dims_of(symbols or {}), {})
    has = set(blocks.params())
    given = {path: x for path, x in (weights or {}).items() if path in has}
    compiled = Compiled(
        "test", (module.entry,), lambda _e, _g: module, given, tuple(blocks.states()), sources
    )
    runtime = load("torch-source", compiled)
    for path, tensor in runtime.state.items():
        if path in held:
            tensor.copy_(tensor_of(held[path]))
    results = runtime.call(module.entry, arrays)
    held.update(runtime.state)
    return list(results)


def tensor_of(x: Any) -> Any:
    from linnet.backends.torch.arrays import of_numpy

    return of_numpy(np.asarray(x))


def dims_of(numbers: Numbers) -> dict[Symbol, Dim]:
    return {s: Dim.of(n) for s, n in numbers.items()}


def bound(
    sources: Sources, values: Mapping[Symbol, Dim], all_values: Mapping[Symbol, Dim]
) -> Sources:
    """`sources` of an entry of which more dimensions are known; of the blocks all are."""

    def lower(entry: str, given: Given) -> AsWritten:
        found = sources.lower(entry, given)
        return replace(found, values={s: d.substitute(values) for s, d in found.values.items()})

    def outline() -> tuple[Outline, Mapping[Symbol, Dim]]:
        found, meant = sources.outline()
        return found, {s: d.substitute(all_values) for s, d in meant.items()}

    return Sources(lower, outline)


def made(module: Module, numbers: Numbers, blocks: Blocks) -> Sources:
    """Sources from the IR alone."""
    values = dims_of(numbers)
    if base_of(module.entry)[1] is not None:
        whole = AsWritten(inline(bind(module, values), lambda _: True), {}, NO_RESULT)
        return Sources(lambda _entry, _given: whole, lambda: (blocks.outline(), {}))
    given = tuple((s, Dim.of(s)) for s in module.symbols)
    functions = {n: _saying(f, given) for n, f in module.functions.items()}
    open_ = AsWritten(replace(module, functions=functions), dict(given), NO_RESULT)
    return Sources(lambda _entry, _given: open_, lambda: (NO_BLOCK, {}))


def _saying(function: Function, given: tuple[tuple[Symbol, Dim], ...]) -> Function:
    """The function, whose calls say that all symbols are what they are here."""

    def said(op: Operation) -> Operation:
        regions = tuple(replace(r, body=tuple(map(said, r.body))) for r in op.regions)
        attrs = {**op.attrs, "generics": given} if op.name == "call" else op.attrs
        return replace(op, regions=regions, attrs=attrs)

    return replace(function, body=tuple(map(said, function.body)))


@dataclass(eq=False)
class Blocks:
    """A block as the paths of a module without symbols tell: its members and those below it."""

    key: str
    members: dict[str, Member] = field(default_factory=dict[str, Member])
    below: dict[str, Blocks] = field(default_factory=dict[str, "Blocks"])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    @staticmethod
    def of(module: Module) -> Blocks:
        root = Blocks("m::Root")
        _Walk(module, set()).function(module.entry, root)
        return root

    def outline(self) -> Outline:
        subs = (
            Sub(n, b.outline(), (), Dim.of(self.counts[n]) if n in self.counts else None)
            for n, b in self.below.items()
        )
        return Outline(self.key, (), (*self.members.values(), *subs))

    def states(self) -> Iterable[Stored]:
        for path, member in self.every():
            if member.kind == "state":
                shape = tuple(evaluate(d, {}) for d in member.type.shape)
                yield Stored(path, shape, concrete(member.type.dtype))

    def params(self) -> Iterable[str]:
        return (path for path, member in self.every() if member.kind == "param")

    def every(self, prefix: str = "") -> Iterable[tuple[str, Member]]:
        """The members by path."""
        for member in self.members.values():
            yield prefix + member.name, member
        for name, block in self.below.items():
            if name not in self.counts:
                yield from block.every(f"{prefix}{name}.")
            for k in range(self.counts.get(name, 0)):
                yield from block.every(f"{prefix}{name}.{k}.")

    def at(self, path: Sequence[str | int]) -> Blocks:
        """The block at a path, in an array the one that stands for all of its elements."""
        block, above = self, (self, "")
        for part in path:
            if isinstance(part, int):
                holder, name = above
                holder.counts[name] = max(holder.counts.get(name, 0), part + 1)
            elif not part.startswith("$"):
                above = block, part
                block = block.below.setdefault(part, Blocks(f"m::{part.capitalize()}"))
        return block


@dataclass
class _Walk:
    module: Module
    seen: set[tuple[str, int]]

    def function(self, name: str, block: Blocks) -> None:
        if (name, id(block)) in self.seen:
            return
        self.seen.add((name, id(block)))
        for op in operations(self.module.functions[name].body):
            if op.name == "call":
                self.function(op.attrs["callee"], block.at(op.attrs["at"]))
            elif op.name in ("param", "state_read", "state_write"):
                self.member(op, block)
            elif op.name == "each":
                *above, array = op.attrs["array"]
                block.at(op.attrs["array"])
                block.at(above).counts[array] = evaluate(op.attrs["count"], {})

    def member(self, op: Operation, block: Blocks) -> None:
        *above, name = op.attrs["path"]
        kind = "param" if op.name == "param" else "state"
        value = op.operands[0] if op.name == "state_write" else op.results[0]
        assert isinstance(value.type.dtype, DType)
        block.at(above).members[name] = Member(name, kind, value.type)
