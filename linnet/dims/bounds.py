"""Inequalities between dimensions under facts, by refuting their negation.

The rows handed to the linear arithmetic are the facts, the negated goal, what is
known of every quotient, minimum and maximum in sight, and products of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from linnet.dims.atoms import (
    Maximum,
    Minimum,
    Monomial,
    Product,
    Quotient,
    Remainder,
    atom_key,
    sorted_dims,
)
from linnet.dims.dims import Atom, Dim, DimError, Symbol, rebuild
from linnet.dims.dims import parts as inner_dims
from linnet.dims.linear import Fuel, contradictory
from linnet.dims.normal import Normalizer, replace_atoms, without
from linnet.dims.products import products

_FUEL = 150_000
_QUESTION = 200
_ROW = 50
_NESTING = 3
_SPLITS = 3
_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Relevance:
    """Which of so many rows and equalities name an atom, by their numbers, those without an atom
    under None; and the rows, to see whether one is stated."""

    size: tuple[int, int]
    naming: dict[Atom | None, list[int]]
    stated: frozenset[Dim]


@dataclass(slots=True)
class Bounds:
    """The inequalities in force, in normal form, and what follows from them."""

    rows: list[Dim] = field(default_factory=list[Dim])
    equalities: list[Dim] = field(default_factory=list[Dim])
    normalizer: Normalizer = field(init=False)
    _proved: dict[Dim, bool] = field(default_factory=dict[Dim, bool])
    # Questions being answered, or given up within the outermost one.
    _open: set[Dim] = field(default_factory=set[Dim])
    _index: Relevance | None = None
    # Of symbols, whether the rows that have to do with them contradict each other.
    _odds: dict[Atom, bool] = field(default_factory=dict[Atom, bool])
    _nesting: int = 0
    _fuel: Fuel = field(default_factory=lambda: Fuel(_FUEL))

    def __post_init__(self) -> None:
        self.normalizer = Normalizer(self.at_least_zero, self._fuel)

    def refuel(self, times: int = 1) -> None:
        """Grants the effort for another question."""
        self._fuel.left = _FUEL * times

    def forget(self) -> None:
        """Drops what was derived from fewer facts."""
        self._proved.clear()
        self._index = None
        self._odds.clear()
        self.normalizer.forget()

    def at_least_zero(self, dim: Dim) -> bool:
        """Whether `dim >= 0` follows."""
        literal = dim.as_int()
        if literal is not None:
            return literal >= 0
        found = self._proved.get(dim)
        if found is not None:
            return found
        if dim in self._open:
            # A question that comes up while it is being answered gets no answer: sound.
            self._fuel.cut += 1
            return False
        self._open.add(dim)
        cuts = self._fuel.cut
        self._nesting += 1
        result = self._obvious(dim) or (self._may_try() and self._derived(dim))
        self._nesting -= 1
        if result or self._fuel.cut == cuts:
            self._proved[dim] = result
        if self._nesting == 0:
            self._open.clear()
            self.normalizer.forget_guesses()
        return result

    def _may_try(self) -> bool:
        if self._nesting > _NESTING:
            self._fuel.cut += 1
            return False
        return self._fuel.burn(_QUESTION)

    def _derived(self, dim: Dim) -> bool:
        goal = self.normalizer.normal(dim)
        literal = goal.as_int()
        if literal is not None and literal >= 0:
            return True
        if self._obvious(goal) or self._by_parts(goal):
            return True
        negated = -goal - 1
        if negated in self._relevance().stated:
            return self._at_odds(negated)
        return self._refuted([negated], frozenset())

    def _at_odds(self, row: Dim) -> bool:
        """Whether the rows that a row of the facts has to do with contradict each other.

        Where these are about symbols alone, it is one question for all of them.
        """
        known = next((self._odds[a] for a in row.atoms() if a in self._odds), None)
        if known is not None:
            return known
        cuts = self._fuel.cut
        result = self._refuted([row], frozenset())
        if self._fuel.cut == cuts:
            rows, equal = self._related([row])
            atoms = frozenset[Atom]().union(*(d.atoms() for d in (*rows, *equal)))
            if all(isinstance(a, Symbol) for a in atoms):
                self._odds.update(dict.fromkeys(atoms, result))
        return result

    def _by_parts(self, goal: Dim) -> bool:
        """`N * d >= 0` by `d >= 0`, and `min(a, b) + d >= 0` by `a + d >= 0` and `b + d >= 0`."""
        for atom in goal.terms[0][0] if not goal.constant else ():
            rest = without(goal, atom)
            if rest is not None:
                return self.natural((atom,)) and self.at_least_zero(rest)
        for monomial, c in goal.terms:
            atom = monomial[0] if len(monomial) == 1 else None
            if isinstance(atom, Minimum | Maximum) and isinstance(atom, Minimum) == (c > 0):
                others = goal - Dim({monomial: c})
                return all(self.at_least_zero(others + d * c) for d in sorted_dims(atom.args))
        return False

    def _obvious(self, dim: Dim) -> bool:
        return all(c > 0 and self.natural(m) for m, c in dim.terms if m) and dim.constant >= 0

    def natural(self, monomial: Monomial) -> bool:
        """Whether a product of atoms is `>= 0` because every factor is."""
        return all(map(self._natural_atom, monomial))

    def _natural_atom(self, atom: Atom) -> bool:
        match atom:
            case Symbol():
                return not atom.signed
            case Quotient():
                above = self.at_least_zero(atom.num) or self.at_least_zero(Dim.atom(atom))
                return above and self.at_least_zero(atom.den - 1)
            case Remainder():
                return self.at_least_zero(atom.den - 1)
            case Minimum():
                return all(map(self.at_least_zero, sorted_dims(atom.args)))
            case Maximum():
                return any(map(self.at_least_zero, sorted_dims(atom.args)))
            case Product():
                return all(map(self.at_least_zero, atom.args))

    def _refuted(self, given: list[Dim], split: frozenset[Atom]) -> bool:
        """Whether the facts and the rows of `given` contradict each other."""
        if not self._fuel.burn(len(given)):
            return False
        rows, equal = self._related(given)
        plain = [*rows, *equal, *(-e for e in equal)]
        if contradictory(plain, self.natural, self._fuel):
            return True
        extra = list[Dim]()
        for _ in range(_ROUNDS):
            more = products([*rows, *extra], equal, self.normalizer, self.natural)
            if not more:
                break
            extra += more
            if contradictory([*plain, *extra], self.natural, self._fuel):
                return True
        return len(split) < _SPLITS and self._refuted_by_cases(plain, split)

    def _related(self, given: list[Dim]) -> tuple[list[Dim], list[Dim]]:
        """The rows and equalities that share atoms with `given`, and those of the atoms."""
        rows, equal, seen = list(given), list[Dim](), set[Atom]()
        pending = [a for d in given for a in d.atoms()]
        every, naming = [*self.rows, *self.equalities], self._relevance().naming
        taken = set[int]()
        while pending:
            fresh = sorted(set(pending) - seen, key=atom_key)
            seen.update(fresh)
            pending = list[Atom]()
            for atom in fresh:
                for row in self._bounds_of(atom):
                    rows.append(row)
                    pending += row.atoms()
            near = {i for atom in fresh for i in naming.get(atom, ())} - taken
            taken |= near
            for i in sorted(near):
                (rows if i < len(self.rows) else equal).append(every[i])
                pending += every[i].atoms()
            pending = [a for a in pending if a not in seen]
        rows += [every[i] for i in naming.get(None, ())]
        return list(dict.fromkeys(rows)), equal

    def _relevance(self) -> Relevance:
        size = len(self.rows), len(self.equalities)
        if self._index is None or self._index.size != size:
            naming: dict[Atom | None, list[int]] = {}
            for i, dim in enumerate([*self.rows, *self.equalities]):
                for atom in dim.atoms() or (None,):
                    naming.setdefault(atom, []).append(i)
            self._index = Relevance(size, naming, frozenset(self.rows))
            self._odds.clear()
        return self._index

    def _bounds_of(self, atom: Atom) -> list[Dim]:
        """Rows that hold of a compound atom by what it means."""
        this = Dim.atom(atom)
        match atom:
            case Quotient():
                if not self.at_least_zero(atom.den - 1):
                    return []
                rest = self.normalizer.normal(atom.num - atom.den * this)
                return [rest, self.normalizer.normal(atom.den - 1 - rest)]
            case Minimum():
                return [self.normalizer.normal(d - this) for d in sorted_dims(atom.args)]
            case Maximum():
                return [self.normalizer.normal(this - d) for d in sorted_dims(atom.args)]
            case Symbol() | Remainder() | Product():
                return []

    def _refuted_by_cases(self, rows: list[Dim], split: frozenset[Atom]) -> bool:
        """Takes a minimum or maximum to be each of its arguments in turn."""
        atom = min(_extremes(rows) - split, key=atom_key, default=None)
        if atom is None:
            return False
        sign = 1 if isinstance(atom, Minimum) else -1
        for choice in sorted_dims(atom.args):
            if not self._fuel.burn(_ROW * len(rows)):
                return False
            case = [self._put(d, atom, choice) for d in rows]
            case += [self.normalizer.normal((d - choice) * sign) for d in atom.args]
            if not self._refuted([d for d in dict.fromkeys(case) if d.terms], split | {atom}):
                return False
        return True

    def _put(self, dim: Dim, atom: Atom, choice: Dim) -> Dim:
        """`dim` with `choice` for `atom`, at any depth."""

        def value(found: Atom) -> Dim:
            if found == atom:
                return choice
            if isinstance(found, Symbol):
                return Dim.atom(found)
            try:
                return rebuild(found, [replace_atoms(d, value) for d in inner_dims(found)])
            except DimError:
                return Dim.atom(found)

        return self.normalizer.normal(replace_atoms(dim, value))


def _extremes(dims: Iterable[Dim]) -> set[Minimum | Maximum]:
    """The minima and maxima in `dims`, those inside other atoms too."""
    seen = set[Atom]()
    pending = [a for d in dims for a in d.atoms()]
    while pending:
        atom = pending.pop()
        if atom not in seen:
            seen.add(atom)
            pending += [a for d in inner_dims(atom) for a in d.atoms()]
    return {a for a in seen if isinstance(a, Minimum | Maximum)}
