"""When a value may be let go: for each operation, the values that nothing reads after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from linnet.ir.core import Module, Operation, Value


@dataclass(frozen=True, slots=True)
class Death:
    """`before`: read by the operation itself last, so free while it runs, where the operation
    holds them by hand; `after`: read by its regions, or made and never read."""

    before: tuple[int, ...]
    after: tuple[int, ...]


Deaths = dict[int, tuple[Death, ...]]
"""By the identity of a body, one for each of its operations."""


def deaths(module: Module) -> Deaths:
    """The deaths in every body of `module`; a body frees only what is defined in it."""
    found: Deaths = {}
    for function in module.functions.values():
        _body(function.body, function.params, function.results, found)
    return found


def _body(
    body: Sequence[Operation], params: Iterable[Value], yields: Iterable[Value], found: Deaths
) -> set[int]:
    """Fill `found`; the values from outside that the body reads."""
    alive = {v.id for v in yields}
    read = set(alive)
    defined = {v.id for v in params}
    backwards: list[tuple[set[int], set[int]]] = []
    for operation in reversed(body):
        own = {v.id for v in operation.operands}
        inner: set[int] = set()
        for region in operation.regions:
            inner |= _body(region.body, region.params, region.yields, found)
        made = {v.id for v in operation.results}
        defined |= made
        after = (inner | made) - alive
        before = own - inner - alive
        backwards.append((before, after))
        alive |= own | inner
        read |= own | inner
    found[id(body)] = tuple(
        Death(tuple(sorted(before & defined)), tuple(sorted(after & defined)))
        for before, after in reversed(backwards)
    )
    return read - defined
