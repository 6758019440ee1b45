"""A cheap search for small numbers that satisfy the facts and break a relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from linnet.dims.atoms import atom_key
from linnet.dims.dims import DimError, Symbol
from linnet.dims.evaluate import evaluate
from linnet.dims.normal import Normalizer
from linnet.dims.relations import Relation

_TRIES = 400
_SMALL = (1, 2, 3, 0, 4, 5, 6, 8)

Env = dict[Symbol, int]


class Search:
    """Looks for assignments of one list of facts, one connected part at a time."""

    def __init__(self, relations: Iterable[Relation], rewriting: Normalizer) -> None:
        self._relations = tuple(r for r in relations if r.symbols() or not _all_hold([r], {}))
        self._rewriting = rewriting
        self._satisfied: dict[frozenset[Symbol], Env | None] = {}

    def counterexample(self, relation: Relation) -> Env | None:
        """Small numbers under which every fact holds and `relation` does not."""
        symbols = relation.symbols()
        facts, others = _connected(self._relations, symbols)
        symbols = symbols.union(*(f.symbols() for f in facts))
        if any(not f.symbols() for f in others):
            return None
        found = self._find(symbols, [relation.negated(), *facts])
        while found is not None and others:
            part, others = _connected(others, others[0].symbols())
            more = self._satisfy(part)
            found = None if more is None else {**found, **more}
        return found

    def _satisfy(self, facts: list[Relation]) -> Env | None:
        symbols = frozenset[Symbol]().union(*(f.symbols() for f in facts))
        if symbols not in self._satisfied:
            self._satisfied[symbols] = self._find(symbols, facts)
        return self._satisfied[symbols]

    def _find(self, symbols: frozenset[Symbol], relations: list[Relation]) -> Env | None:
        solved = self._rewriting.solved
        inner = [solved[s].symbols() if s in solved else {s} for s in symbols]
        free = sorted(set[Symbol]().union(*inner), key=atom_key)
        for values in _tuples(len(free)):
            env = self._complete(dict(zip(free, values, strict=True)), symbols)
            if env is not None and _all_hold(relations, env):
                return env
        return None

    def _complete(self, chosen: Env, symbols: frozenset[Symbol]) -> Env | None:
        env: Env = {}
        for symbol in sorted(symbols, key=atom_key):
            value = self._rewriting.solved.get(symbol)
            try:
                env[symbol] = chosen[symbol] if value is None else evaluate(value, chosen)
            except (DimError, KeyError):
                return None
            if env[symbol] < 0:
                return None
        return env


def _all_hold(relations: list[Relation], env: Env) -> bool:
    try:
        return all(r.holds(env) for r in relations)
    except DimError:
        return False


def _connected(
    relations: Iterable[Relation], symbols: frozenset[Symbol]
) -> tuple[list[Relation], list[Relation]]:
    """The relations that reach `symbols` through shared symbols, and the others."""
    reached, inside, outside = set(symbols), list[Relation](), list(relations)
    while True:
        near = [r for r in outside if not reached.isdisjoint(r.symbols())]
        if not near:
            return inside, outside
        inside += near
        reached.update(*(r.symbols() for r in near))
        outside = [r for r in outside if r not in near]


def _tuples(length: int) -> Iterator[tuple[int, ...]]:
    """Small tuples, the even-tempered ones first."""
    count = 0
    for size in range(1, len(_SMALL) + 1):
        newest = _SMALL[size - 1]
        for values in product(_SMALL[:size], repeat=length):
            if size > 1 and newest not in values:
                continue
            yield values
            count += 1
            if count >= _TRIES:
                return
