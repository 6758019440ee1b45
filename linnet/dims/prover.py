"""Facts about dimensions, and the relations that follow from them."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.dims.dims import ZERO, Dim, Symbol
from linnet.dims.facts import System, primitive
from linnet.dims.relations import Answer, Comparison, Relation
from linnet.dims.search import Search

__all__ = ["Answer", "Comparison", "Facts", "Relation"]


class Facts:
    """What is assumed: some relations, and that every symbol is a natural number."""

    __slots__ = ("_answers", "_implied", "_search", "_system", "relations")

    def __init__(self, relations: Iterable[Relation] = ()) -> None:
        self.relations: tuple[Relation, ...] = tuple(dict.fromkeys(relations))
        self._answers: dict[Relation, Answer] = {}
        self._implied: dict[Relation, bool] = {}
        self._system: System | None = None
        self._search: Search | None = None

    def adding(self, relations: Iterable[Relation]) -> Facts:
        """These facts and more."""
        return Facts((*self.relations, *relations))

    def mentions(self, symbols: Iterable[Symbol]) -> tuple[Relation, ...]:
        """The facts that name one of `symbols`."""
        wanted = frozenset(symbols)
        return tuple(r for r in self.relations if not wanted.isdisjoint(r.symbols()))

    def normalize(self, dim: Dim) -> Dim:
        """`dim` in the normal form that the facts give it.

        It stays as it is where the normal form has a symbol that only the prover knows, one
        for a quotient that the facts make exact.
        """
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
            self._fresh_effort()
            found = self._implied[relation] = self._follows(relation)
        return found

    def _fresh_effort(self) -> System:
        system = self._rules()
        system.bounds.refuel()
        return system

    def _rules(self) -> System:
        if self._system is None:
            self._system = System()
            self._system.assume(self.relations)
        return self._system

    def _answer(self, relation: Relation) -> Answer:
        if self.implies(relation):
            return Answer("proven")
        refuted = self._follows(relation.negated())
        if self._search is None:
            self._search = Search(self.relations, self._rules().rewriting)
        found = self._search.counterexample(relation)
        return Answer("refuted" if refuted else "unknown", found)

    def _follows(self, relation: Relation) -> bool:
        gap = relation.left - relation.right
        literal = gap.as_int()
        if literal is not None:
            return Relation(relation.op, Dim.of(literal), Dim.of(0)).holds({})
        if relation in self.relations:
            return True
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

    def _differ(self, system: System, gap: Dim) -> bool:
        reduced = primitive(gap)
        if reduced.as_int() is not None:
            return reduced != ZERO
        apart = [primitive(system.rewriting.normal(d)) for d in system.unequal]
        if reduced in apart or -reduced in apart:
            return True
        return any(system.bounds.at_least_zero(side - 1) for side in (gap, -gap))
