"""Facts about dimensions, and the relations that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import lcm

from linnet.dims.atoms import Quotient, Remainder, sorted_symbols
from linnet.dims.dims import ZERO, Dim, DimError, Symbol, parts
from linnet.dims.facts import System, primitive
from linnet.dims.relations import Answer, Comparison, Relation
from linnet.dims.search import Search

__all__ = ["Answer", "Comparison", "Facts", "Relation"]

_MOST_CASES = 8
# What is nested deeper is left alone: nothing that a program needs is.
_DEEPEST = 24


class Facts:
    """What is assumed: some relations, and that every symbol is a natural number."""

    __slots__ = ("_answers", "_implied", "_search", "_stated", "_system", "relations")

    def __init__(self, relations: Iterable[Relation] = ()) -> None:
        self._stated = dict.fromkeys(relations)
        self.relations: tuple[Relation, ...] = tuple(self._stated)
        self._answers: dict[Relation, Answer] = {}
        self._implied: dict[Relation, bool] = {}
        self._system: System | None = None
        self._search: Search | None = None

    def adding(self, relations: Iterable[Relation]) -> Facts:
        """These facts and more."""
        more = tuple(r for r in relations if r not in self._stated)
        return Facts((*self.relations, *more)) if more else self

    def mentions(self, symbols: Iterable[Symbol]) -> tuple[Relation, ...]:
        """The facts that name one of `symbols`."""
        wanted = frozenset(symbols)
        return tuple(r for r in self.relations if not wanted.isdisjoint(r.symbols()))

    def normalize(self, dim: Dim) -> Dim:
        """`dim` in the normal form that the facts give it.

        It stays as it is where the normal form has a symbol that only the prover knows, one
        for a quotient that the facts make exact.
        """
        if dim.depth > _DEEPEST:
            return dim
        rewriting = self._fresh_effort().rewriting
        normal = rewriting.normal(dim)
        return normal if rewriting.fresh.isdisjoint(normal.symbols()) else dim

    def equal(self, left: Dim, right: Dim) -> bool:
        """Whether the two are provably the same number."""
        return left == right or self.implies(Relation("==", left, right))

    def prove(self, relation: Relation) -> Answer:
        """Whether `relation` follows from the facts."""
        found = self._answers.get(relation)
        if found is None:
            found = self._answers[relation] = self._answer(relation)
        return found

    def implies(self, relation: Relation) -> bool:
        """Whether `relation` is proven, without a counterexample when it is not."""
        found = self._implied.get(relation)
        if found is None:
            found = self._implied[relation] = self._within(relation, _MOST_CASES)
        return found

    def _fresh_effort(self) -> System:
        system = self._rules()
        system.bounds.refuel()
        return system

    def _rules(self) -> System:
        if self._system is None:
            self._system = System()
            self._system.assume(r for r in self.relations if r.depth <= _DEEPEST)
        return self._system

    def _answer(self, relation: Relation) -> Answer:
        if self.implies(relation):
            return Answer("proven")
        if relation.depth > _DEEPEST:
            return Answer("unknown")
        refuted = self._follows(relation.negated())
        if self._search is None:
            self._search = Search(self.relations, self._rules().rewriting)
        found = self._search.counterexample(relation)
        return Answer("refuted" if refuted else "unknown", found)

    def _follows(self, relation: Relation) -> bool:
        literal = _of_literals(relation)
        if literal is not None:
            return literal
        if relation in self._stated:
            return True
        gap = relation.left - relation.right
        system = self._rules()
        bounds, normal = system.bounds, system.rewriting.normal
        if relation.op == "==":
            rest = normal(gap)
            if rest.as_int() is not None:
                return rest.as_int() == 0
            return bounds.at_least_zero(rest) and bounds.at_least_zero(-rest)
        if relation.op == "!=":
            return self._differ(system, normal(gap))
        return bounds.at_least_zero(relation.at_least_zero())

    def _within(self, relation: Relation, cases: int) -> bool:
        """Whether it follows, from at most so many cases."""
        if relation.depth > _DEEPEST:
            return relation in self._stated
        literal = _of_literals(relation)
        if literal is not None:  # no need to read the facts
            return literal
        self._fresh_effort()
        return self._follows(relation) or self._follows_by_remainders(relation, cases)

    def _follows_by_remainders(self, relation: Relation, most: int) -> bool:
        """`S * (S + 1) % 2 == 0` by way of `S == 2 * q` and of `S == 2 * q + 1`."""
        split = _worth_splitting(relation.left - relation.right)
        if split is None or split[1] > most:
            return False
        symbol, divisor = split
        whole = Dim.of(Symbol(f"({symbol} / {divisor})")) * divisor
        values = [whole + rest for rest in range(divisor)]
        return all(self._within_case(relation, symbol, v, most // divisor) for v in values)

    def _within_case(self, relation: Relation, symbol: Symbol, value: Dim, cases: int) -> bool:
        case = self.adding([Relation("==", Dim.of(symbol), value)])
        if case._rules().contradictory():
            return True
        try:
            return case._within(relation.substitute({symbol: value}), cases)
        except DimError:  # it makes a divisor zero
            return False

    def _differ(self, system: System, gap: Dim) -> bool:
        reduced = primitive(gap)
        if reduced.as_int() is not None:
            return reduced != ZERO
        apart = [primitive(system.rewriting.normal(d)) for d in system.unequal]
        if reduced in apart or -reduced in apart:
            return True
        return any(system.bounds.at_least_zero(side - 1) for side in (gap, -gap))


def _of_literals(relation: Relation) -> bool | None:
    """Whether a relation holds of two sides that differ by a number, whatever that is made of."""
    apart = (relation.left - relation.right).as_int()
    return None if apart is None else Relation(relation.op, Dim.of(apart), ZERO).holds({})


def _worth_splitting(gap: Dim) -> tuple[Symbol, int] | None:
    """A symbol with several divisions by literals, and a common multiple of these.

    A division of a product counts as often as the symbol is in it. Once the symbol is split,
    no such division is left.
    """
    found: dict[Symbol, list[int]] = {}
    for division in _divisions(gap):
        divisor = division.den.as_int()
        for symbol in () if divisor is None else division.num.symbols():
            degree = max(m.count(symbol) for m, _ in division.num.terms)
            found.setdefault(symbol, []).extend([abs(divisor or 1)] * max(1, degree))
    for symbol in sorted_symbols(found):
        if len(found[symbol]) > 1:
            return symbol, lcm(*found[symbol])
    return None


def _divisions(dim: Dim) -> Iterator[Quotient | Remainder]:
    for atom in dim.atoms():
        if isinstance(atom, Quotient | Remainder):
            yield atom
        for inner in parts(atom):
            yield from _divisions(inner)
