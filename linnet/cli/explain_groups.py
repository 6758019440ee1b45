"""Decisions about an entry's calls in groups, and the blocks that the callers are methods of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from linnet.backends.base import CallSite, Considered, Decision, Kernel
from linnet.ir.core import Module
from linnet.ir.library import Absent, Argument, Known, Parts
from linnet.ir.walk import callees_first, operations

_MOST_PATHS = 32
"""More are not listed: paths through the calls of a program may be very many."""


@dataclass(frozen=True, slots=True)
class Group:
    """Decisions of one op with one outcome, in program order."""

    decisions: tuple[Decision, ...]

    @property
    def first(self) -> Decision:
        return self.decisions[0]

    @property
    def count(self) -> int:
        """How many calls one run makes."""
        return sum(d.site.count for d in self.decisions)

    @property
    def refused(self) -> list[Considered]:
        """Each kernel that does not apply, once with each reason."""
        every = (c for d in self.decisions for c in d.considered)
        return list({(c.kernel.name, c.reason): c for c in every}.values())

    @property
    def after(self) -> list[Kernel]:
        """The kernels that would do for some of the calls too, and come later."""
        every = (k for d in self.decisions for k in d.after)
        return list({k.name: k for k in every}.values())


@dataclass(frozen=True, slots=True)
class Entry:
    """The groups, those with most calls first; `paths` are by function the blocks that it is a
    method of, `layers.*.mlp`, the root's path being empty."""

    groups: tuple[Group, ...]
    paths: dict[str, tuple[str, ...]]


def entry_of(module: Module, decisions: Sequence[Decision]) -> Entry:
    """What is to be told of an entry."""
    groups: dict[tuple[str, str, str], list[Decision]] = {}
    for decision in decisions:
        key = (decision.site.op, decision.chosen, decision.reason)
        groups.setdefault(key, []).append(decision)
    found = [Group(tuple(group)) for group in groups.values()]
    found.sort(key=lambda g: (-g.count, g.first.site.op))
    closed = {d.site.callee for d in decisions if d.kernel is not None}
    return Entry(tuple(found), _paths(module, closed))


def _paths(module: Module, closed: Collection[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {module.entry: {"": None}}
    for caller in reversed(callees_first(module)):
        if caller in closed or caller not in found:
            continue
        for op in operations(module.functions[caller].body):
            if op.name == "call":
                below = found.setdefault(op.attrs["callee"], {})
                for path in found[caller]:
                    if len(below) < _MOST_PATHS:
                        below[_joined(path, op.attrs["at"])] = None
    return {name: tuple(paths) for name, paths in found.items()}


def _joined(path: str, at: Iterable[str | int]) -> str:
    """A path and what follows it; elements of an array are alike."""
    parts = ["*" if isinstance(part, int) or part.startswith("$") else part for part in at]
    return ".".join([path, *parts] if path else parts)


# --- what a call is given ----------------------------------------------------


def generics_in(site: CallSite) -> dict[str, str]:
    """The generics of the op by name, as text."""
    return {
        name: f"[{', '.join(map(str, arg))}]" if isinstance(arg, tuple) else str(arg)
        for name, arg in site.signature.generics
    }


def params_in(site: CallSite) -> dict[str, str]:
    """What is passed for each parameter: a type, a variant, or `none`."""
    return {name: _argument(site, argument) for name, argument in site.signature.params}


def special_in(site: CallSite) -> dict[str, str]:
    """The generics, and of what is passed that which no generic tells."""
    told = {
        name: _argument(site, argument)
        for name, argument in site.signature.params
        if isinstance(argument, Absent | Known)
    }
    return generics_in(site) | told


def _argument(site: CallSite, argument: Argument) -> str:
    match argument:
        case int():
            return str(site.operands[argument])
        case Absent():
            return "none"
        case Known():
            return argument.variant
        case Parts():
            return f"({', '.join(f'{n}: {_argument(site, part)}' for n, part in argument.items)})"


def own_parts(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each path as the block that holds it, without what stands before an array's elements, and
    its last name."""
    for path in dict.fromkeys(path.rpartition("*.")[2] for path in paths):
        holder, _, last = path.rpartition(".")
        yield holder, last
