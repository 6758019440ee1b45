"""Turns assumed relations into rewrites and rows.

An equality is solved for a symbol where one stands alone with coefficient 1:

    H == 32 * Blocks    H := 32 * Blocks
    H % N == 0          H := N * q, with `q` a fresh symbol for `H / N`

and otherwise rewrites its leading product, or stays a row of the linear arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd

from linnet.dims.atoms import Monomial, Quotient, atom_key
from linnet.dims.bounds import Bounds
from linnet.dims.dims import ONE, ZERO, Atom, Dim, Symbol
from linnet.dims.normal import Normalizer, inner_symbols, replace_atoms, without
from linnet.dims.relations import Relation

_PASSES = 3
_EFFORT = 3
# A symbol is not replaced by what is nested deeper than this.
_DEEPEST = 12


@dataclass(slots=True)
class System:
    """The rewrites and rows that a list of relations amounts to."""

    bounds: Bounds = field(default_factory=Bounds)
    unequal: list[Dim] = field(default_factory=list[Dim])
    # Equations that no rewrite stands for yet.
    pending: list[Dim] = field(default_factory=list[Dim])

    @property
    def rewriting(self) -> Normalizer:
        """The rewrites in force."""
        return self.bounds.normalizer

    def assume(self, relations: Iterable[Relation]) -> None:
        """Adds the relations; orders come first, for they make divisors positive."""
        self.bounds.refuel(_EFFORT)
        for relation in relations:
            if relation.op == "==":
                self.pending.append(relation.left - relation.right)
            elif relation.op == "!=":
                self.unequal.append(relation.left - relation.right)
            else:
                self.bounds.rows.append(relation.at_least_zero())
        self._refresh()
        for _ in range(_PASSES):
            self._separate()
            self._factors()
            before, self.pending = self.pending, []
            self.pending += [p for p in before if not self._solve(p)]
            if len(self.pending) == len(before):
                break
        self.bounds.equalities, self.pending = self.pending, []
        self._refresh()
        self._factors()

    def contradictory(self) -> bool:
        """Whether it is plain that no assignment satisfies the relations."""
        return any((row.as_int() or 0) < 0 for row in self.bounds.rows)

    def _refresh(self) -> None:
        """Brings everything held to the normal form of the newest rewrites."""
        rewriting, bounds = self.rewriting, self.bounds
        bounds.forget()
        rewriting.renew()
        bounds.rows = list(dict.fromkeys(map(rewriting.normal, bounds.rows)))
        bounds.equalities = [rewriting.normal(d) for d in bounds.equalities]
        bounds.forget()

    def _separate(self) -> None:
        """Makes `N >= 1` of `N != 0`, and the like."""
        for gap in self.unequal:
            for side in (gap, -gap):
                if self.bounds.at_least_zero(side):
                    self.bounds.rows.append(self.rewriting.normal(side - 1))
        self.bounds.forget()

    def _factors(self) -> None:
        """Makes `q >= 1` of `N * q >= 1`."""
        for row in tuple(self.bounds.rows):
            above = [m for m, c in row.terms if m and c > 0]
            below = [m for m, c in row.terms if m and c < 0]
            if row.constant >= 0 or len(above) != 1 or len(above[0]) == 1:
                continue
            if all(map(self.bounds.natural, (*above, *below))):
                self.bounds.rows += [Dim.atom(a) - 1 for a in dict.fromkeys(above[0])]
        self.bounds.rows = list(dict.fromkeys(map(self.rewriting.normal, self.bounds.rows)))
        self.bounds.forget()

    def _solve(self, equation: Dim) -> bool:
        """Takes `equation == 0` in as a rewrite, if it can be one."""
        p = self._cancelled(self.rewriting.normal(equation))
        if p == ZERO:
            return True
        p = primitive(p)
        if p.as_int() is not None:
            self.bounds.rows.append(Dim.of(-1))
            return True
        solvers = (self._solve_plain, self._solve_named, self._solve_product, self._solve_common)
        if any(solve(p) for solve in solvers):
            self._refresh()
            return True
        return False

    def _cancelled(self, p: Dim) -> Dim:
        """`p` without factors that are not zero: `A == B` for `N * A == N * B`."""
        for atom in sorted(p.atoms(), key=atom_key):
            rest = without(p, atom)
            if rest is not None and self.rewriting.positive(Dim.atom(atom)):
                return self._cancelled(rest)
        return p

    def _solve_plain(self, p: Dim) -> bool:
        """Solves for a symbol that no atom hides."""
        best: tuple[Symbol, Dim] | None = None
        for symbol, value in _candidates(p):
            if symbol in value.symbols():
                continue
            simple = all(c > 0 for _, c in value.terms)
            if simple:
                best = (symbol, value)
                break
            best = best or (symbol, value)
        if best is None:
            return False
        symbol, value = best
        if value.depth > _DEEPEST:
            return False
        self._define(symbol, value)
        if not symbol.signed:
            self.bounds.rows.append(value)
        return True

    def _define(self, symbol: Symbol, value: Dim) -> None:
        """Replaces `symbol` by `value`; product rules that name it must be made anew."""
        self.rewriting.define(symbol, value)
        kept: list[tuple[Monomial, Dim]] = []
        for left, right in self.rewriting.products:
            if symbol in left or symbol in right.symbols():
                self.pending.append(Dim({left: 1}) - right)
            else:
                kept.append((left, right))
        self.rewriting.products = kept

    def _solve_named(self, p: Dim) -> bool:
        """Names the quotients that hide a symbol, then solves for it."""
        hiding = self._divisions(p)
        for symbol, value in _candidates(p):
            inside = [a for a in value.atoms() if symbol in inner_symbols(a)]
            chosen = [a for a in hiding if a in inside and symbol not in a.den.symbols()]
            if len(chosen) == len(inside):
                return self._solve_plain(self._name(p, chosen))
        if len(hiding) == 1 and len(p.terms) == 2:
            return self._solve_multiple(p, hiding[0])
        return False

    def _divisions(self, p: Dim) -> list[Quotient]:
        """The quotients of `p` whose divisor is positive."""
        found = [a for a in p.atoms() if isinstance(a, Quotient)]
        return sorted((a for a in found if self.rewriting.positive(a.den)), key=atom_key)

    def _solve_multiple(self, p: Dim, atom: Quotient) -> bool:
        """`2 * X == 3 * (2 * X / 3)` makes `X` a multiple of 3."""
        of_quotient = dict(p.terms).get((atom,))
        rest = p - Dim({(atom,): of_quotient or 0})
        if of_quotient is None or len(rest.terms) != 1:
            return False
        (monomial, c), factor = rest.terms[0], abs(of_quotient)
        symbol = monomial[0] if len(monomial) == 1 else None
        if not isinstance(symbol, Symbol) or gcd(c, factor) != 1 or rest != atom.num * _sign(c):
            return False
        if atom.den.as_int() != factor or c * of_quotient > 0:
            return False
        q = self._fresh(f"{symbol} / {factor}", symbol.signed)
        self._define(symbol, q * factor)
        return True

    def _solve_common(self, p: Dim) -> bool:
        """`2 * A == 3 * B` makes `A` a multiple of 3, and then `B` one of 2."""
        for symbol, c in _alone(p):
            rest = p - Dim({(symbol,): c})
            factor = gcd(*(d for _, d in rest.terms))
            if factor > 1 and symbol not in rest.symbols():
                q = self._fresh(f"{symbol} / {factor}", symbol.signed)
                self._define(symbol, q * factor)
                self._refresh()
                return self._solve(p)
        return False

    def _solve_product(self, p: Dim) -> bool:
        """Rewrites the leading product, if its coefficient is 1."""
        hiding = self._divisions(p)
        p = self._name(p, hiding) if hiding else p
        if p == ZERO:
            return True
        lead, c = max(p.terms, key=lambda term: self.rewriting.order(term[0]))
        if abs(c) != 1 or len(lead) < 2:
            return False
        if any(not isinstance(a, Symbol) for a in p.atoms()):
            return False
        self.rewriting.products.append((lead, (Dim({lead: c}) - p) * c))
        return True

    def _name(self, p: Dim, quotients: list[Quotient]) -> Dim:
        """`p` with a fresh symbol for each of `quotients`."""
        names: dict[Atom, Dim] = {}
        for atom in quotients:
            q = self._fresh(f"({Dim.atom(atom)})", not self.bounds.at_least_zero(atom.num))
            rest = atom.num - atom.den * q
            self.bounds.rows += [rest, atom.den - 1 - rest]
            self.rewriting.named[atom.num, atom.den] = q
            self.rewriting.multiples.append((atom.den, q, atom.den * q))
            names[atom] = q
        # The names must reach the quotients inside other atoms, or a symbol could be
        # solved in terms of itself.
        self._refresh()
        return self.rewriting.normal(replace_atoms(p, lambda a: names.get(a) or Dim.atom(a)))

    def _fresh(self, name: str, signed: bool) -> Dim:
        symbol = Symbol(name, signed=signed)
        self.rewriting.fresh.add(symbol)
        return Dim.of(symbol)


def primitive(p: Dim) -> Dim:
    """What is zero exactly when `p` is, with no common divisor; 1 if that is never."""
    g = gcd(*(c for m, c in p.terms if m))
    if p.constant and (g == 0 or p.constant % g):
        return ONE
    return Dim({m: c // g for m, c in p.terms}) if g > 1 else p


def _sign(c: int) -> int:
    """1 or -1, as `c` is above or below zero."""
    return 1 if c > 0 else -1


def _candidates(p: Dim) -> list[tuple[Symbol, Dim]]:
    """Symbols with coefficient 1 or -1 in no other product, and what `p == 0` makes them."""
    return [(s, (Dim({(s,): c}) - p) * c) for s, c in _alone(p) if abs(c) == 1]


def _alone(p: Dim) -> list[tuple[Symbol, int]]:
    """Symbols that make a term with their coefficient and are in no other product."""
    found: list[tuple[Symbol, int]] = []
    for monomial, c in p.terms:
        symbol = monomial[0] if len(monomial) == 1 else None
        if isinstance(symbol, Symbol) and sum(symbol in m for m, _ in p.terms) == 1:
            found.append((symbol, c))
    return found
