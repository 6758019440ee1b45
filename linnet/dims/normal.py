"""Normal forms of dimensions under facts.

Symbols that an equality determines are replaced, products are rewritten, and floor
divisions by what is provably positive are carried out as far as they go:

    H := 32 * Blocks        2 * H / 32  ->  2 * Blocks
    H := N * q              H / N * N   ->  H
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import gcd

from linnet.dims.atoms import (
    Key,
    Maximum,
    Minimum,
    Monomial,
    Product,
    Quotient,
    Remainder,
    atom_key,
    sorted_dims,
)
from linnet.dims.counts import product
from linnet.dims.dims import ONE, ZERO, Atom, Dim, Symbol, dim_max, dim_min, parts
from linnet.dims.linear import Fuel

_ROUNDS = 12
_SIZE = 64
_STEP = 20
_DEPTH = 12


def divide_monomial(m: Monomial, by: Monomial) -> Monomial | None:
    """`m / by` if `by` divides it."""
    rest = list(m)
    for atom in by:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def replace_atoms(dim: Dim, value: Callable[[Atom], Dim]) -> Dim:
    """`dim` with `value` of each atom in its place; `dim` itself if nothing changes."""
    values = {a: value(a) for a in dict.fromkeys(a for m, _ in dim.terms for a in m)}
    changed = {a: v for a, v in values.items() if v.as_atom() != a}
    if not changed:
        return dim
    result = Dim({m: c for m, c in dim.terms if changed.keys().isdisjoint(m)})
    for monomial, c in dim.terms:
        if changed.keys().isdisjoint(monomial):
            continue
        product = Dim({tuple(a for a in monomial if a not in changed): c})
        for atom in monomial:
            if atom in changed:
                product = product * changed[atom]
        result = result + product
    return result


def _effort(dim: Dim) -> int:
    """What a look at `dim` costs."""
    size = len(dim.terms) * (1 + len(dim.terms[0][0])) if dim.terms else 0
    return _STEP * (1 + size)


@dataclass(slots=True)
class Normalizer:
    """Rewrites dimensions; `at_least_zero` proves a dimension non-negative."""

    at_least_zero: Callable[[Dim], bool]
    fuel: Fuel
    solved: dict[Symbol, Dim] = field(default_factory=dict[Symbol, Dim])
    fresh: set[Symbol] = field(default_factory=set[Symbol])
    products: list[tuple[Monomial, Dim]] = field(default_factory=list[tuple[Monomial, Dim]])
    # What a divisor is known to divide: (divisor, quotient, their product).
    multiples: list[tuple[Dim, Dim, Dim]] = field(default_factory=list[tuple[Dim, Dim, Dim]])
    # Those whose product was rewritten, by divisor.
    _rewritten: dict[Dim, list[tuple[Dim, Dim]]] = field(
        default_factory=dict[Dim, list[tuple[Dim, Dim]]]
    )
    _newly_solved: set[Symbol] = field(default_factory=set[Symbol])
    # Quotients that have a fresh symbol: (numerator, divisor) -> the symbol.
    named: dict[tuple[Dim, Dim], Dim] = field(default_factory=dict[tuple[Dim, Dim], Dim])
    _cache: dict[Dim, Dim] = field(default_factory=dict[Dim, Dim])
    _guesses: dict[Dim, Dim] = field(default_factory=dict[Dim, Dim])
    _depth: int = 0

    def forget(self) -> None:
        """Drops what was derived from fewer facts."""
        self._cache.clear()
        self._guesses.clear()

    def forget_guesses(self) -> None:
        """Drops normal forms that a question given up may have left incomplete."""
        self._guesses.clear()

    def renew(self) -> None:
        """Brings the rewrites themselves to the normal form that they give."""
        new = self._renewed
        self.solved = {s: new(d) for s, d in self.solved.items()}
        before = self.multiples
        self.multiples = [(new(d), new(q), new(p)) for d, q, p in before]
        if self.multiples != before:
            self._rewritten = {}
            for divisor, quotient, whole in self.multiples:
                if whole != quotient * divisor:
                    self._rewritten.setdefault(divisor, []).append((whole, quotient))
        self.named = {(new(n), new(d)): new(q) for (n, d), q in self.named.items()}
        self._newly_solved.clear()

    def define(self, symbol: Symbol, value: Dim) -> None:
        """Replaces `symbol` by `value` from here on."""
        self.solved[symbol] = value
        self._newly_solved.add(symbol)

    def _renewed(self, dim: Dim) -> Dim:
        """The normal form of what was in normal form before the newest rewrites."""
        plain = dim.depth == 0 and not self.products
        return dim if plain and self._newly_solved.isdisjoint(dim.symbols()) else self.normal(dim)

    def _untouched(self, dim: Dim) -> bool:
        """Whether it is plain that no rewrite has anything to do with `dim`."""
        return dim.depth == 0 and not self.products and self.solved.keys().isdisjoint(dim.symbols())

    def normal(self, dim: Dim) -> Dim:
        """The normal form of `dim`."""
        if dim.as_int() is not None:
            return dim
        found = self._cache.get(dim)
        if found is not None:
            return found
        guess = self._guesses.get(dim)
        if guess is not None:
            self.fuel.cut += 1
            return guess
        if self._untouched(dim):
            self.fuel.burn(_effort(dim))
            self._cache[dim] = dim
            return dim
        result, cuts = dim, self.fuel.cut
        self._depth += 1
        for _ in range(_ROUNDS):
            if self._depth > _DEPTH:
                self.fuel.cut += 1
            if self._depth > _DEPTH or not self.fuel.burn(_effort(result)):
                self._depth -= 1
                return result
            before = result
            result = self._reduce(replace_atoms(before, self._atom))
            if result == before or len(result.terms) > _SIZE:
                break
        self._depth -= 1
        kept = self._cache if self.fuel.cut == cuts else self._guesses
        kept[dim] = result
        return result

    def order(self, monomial: Monomial) -> tuple[int, list[Key]]:
        """A monomial order: degree, then lexicographic, fresh symbols least."""
        keys: list[Key] = [(a not in self.fresh, *atom_key(a)) for a in monomial]
        keys.sort(reverse=True)
        return (len(monomial), keys)

    def positive(self, dim: Dim) -> bool:
        """Whether `dim` is provably above zero."""
        return self.at_least_zero(dim - 1)

    def _reduce(self, dim: Dim) -> Dim:
        """Rewrites by the product rules; each step descends in the monomial order."""
        for _ in range(_ROUNDS if self.products else 0):
            for monomial, c in dim.terms:
                step = self._product_step(monomial)
                if step is not None:
                    dim = dim - Dim({monomial: c}) + step * c
                    break
            else:
                break
        return dim

    def _product_step(self, monomial: Monomial) -> Dim | None:
        for left, right in self.products:
            rest = divide_monomial(monomial, left)
            if rest is not None:
                return right * Dim({rest: 1})
        return None

    def _atom(self, atom: Atom) -> Dim:
        match atom:
            case Symbol():
                return self.solved.get(atom) or Dim({(atom,): 1})
            case Quotient():
                return self.quotient(self.normal(atom.num), self.normal(atom.den))
            case Remainder():
                num, den = self.normal(atom.num), self.normal(atom.den)
                if den.as_int() == 0:
                    return Dim.atom(Remainder(num, den))
                return num - den * self.quotient(num, den)
            case Minimum():
                return dim_min(*self._undominated(atom.args, 1))
            case Maximum():
                return dim_max(*self._undominated(atom.args, -1))
            case Product():
                return product(map(self.normal, atom.args))

    def _undominated(self, dims: Iterable[Dim], sign: int) -> list[Dim]:
        kept: list[Dim] = []
        for d in sorted_dims(map(self.normal, dims)):
            if not any(self.at_least_zero((d - k) * sign) for k in kept):
                kept = [k for k in kept if not self.at_least_zero((k - d) * sign)]
                kept.append(d)
        return kept

    def quotient(self, num: Dim, den: Dim) -> Dim:
        """`num / den` for normal dimensions, opaque unless `den` is provably positive."""
        divisor = den.as_int()
        if divisor is not None and divisor < 0:
            return self.quotient(-num, -den)
        if divisor == 0 or not self.positive(den):
            return Dim.atom(Quotient(num, den))
        whole, rest = ZERO, num
        for multiple, quotient in self._multiples(den):
            part, rest = self._divide(rest, multiple)
            whole = whole + part * quotient
        if divisor is not None:
            part = Dim({m: c // divisor for m, c in rest.terms})
            whole, rest = whole + part, rest - part * divisor
        return whole if rest == ZERO else whole + self._proper(rest, den)

    def _multiples(self, den: Dim) -> list[tuple[Dim, Dim]]:
        """Multiples of `den`, and how many times it each is."""
        return [(den, ONE), *self._rewritten.get(den, ())]

    def _divide(self, num: Dim, den: Dim) -> tuple[Dim, Dim]:
        """`whole` and `rest` with `num == whole * den + rest`."""
        if not den.terms or den.as_int() is not None:
            return ZERO, num
        lead, scale = max(den.terms, key=lambda term: self.order(term[0]))
        whole, rest = ZERO, num
        for _ in range(_ROUNDS):
            for monomial, c in rest.terms:
                factor = divide_monomial(monomial, lead)
                if factor is not None and c % scale == 0:
                    step = Dim({factor: c // scale})
                    break
            else:
                break
            whole, rest = whole + step, rest - step * den
        return whole, rest

    def _proper(self, num: Dim, den: Dim) -> Dim:
        """A quotient that no whole part can be taken from any more; `den` is positive."""
        literals = num.as_int(), den.as_int()
        if literals[0] is not None and literals[1] is not None:
            return Dim.of(literals[0] // literals[1])
        for reduced in (_nested(num, den), _common_literal(num, den), self._common(num, den)):
            if reduced is not None:
                return self.quotient(self.normal(reduced[0]), self.normal(reduced[1]))
        for value in (0, -1):
            rest = num - den * value
            if self.at_least_zero(rest) and self.at_least_zero(den - 1 - rest):
                return Dim({(): value})
        return self.named.get((num, den)) or Dim.atom(Quotient(num, den))

    def _common(self, num: Dim, den: Dim) -> tuple[Dim, Dim] | None:
        """`N * x / (N * y)` is `x / y`; `N` is not zero because the divisor is not."""
        for atom in sorted(den.terms[0][0], key=self._stable):
            pair = (without(num, atom), without(den, atom))
            if pair[0] is not None and pair[1] is not None:
                return pair[0], pair[1]
        return None

    def _stable(self, atom: Atom) -> tuple[int, list[Key]]:
        return self.order((atom,))


def without(dim: Dim, atom: Atom) -> Dim | None:
    """`dim / atom` if `atom` is a factor of every term."""
    terms: dict[Monomial, int] = {}
    for m, c in dim.terms:
        rest = divide_monomial(m, (atom,))
        if rest is None:
            return None
        terms[rest] = c
    return Dim(terms)


def _common_literal(num: Dim, den: Dim) -> tuple[Dim, Dim] | None:
    """`2 * x / (2 * y)` is `x / y`."""
    g = gcd(*(c for _, c in num.terms), *(c for _, c in den.terms))
    if g <= 1:
        return None
    return Dim({m: c // g for m, c in num.terms}), Dim({m: c // g for m, c in den.terms})


def _nested(num: Dim, den: Dim) -> tuple[Dim, Dim] | None:
    """`(a / b + k) / d` is `(a + k * b) / (b * d)`, as `d` is positive."""
    inner = [(m, c) for m, c in num.terms if any(isinstance(a, Quotient) for a in m)]
    if len(inner) != 1 or inner[0][1] != 1 or len(inner[0][0]) != 1:
        return None
    atom = inner[0][0][0]
    if not isinstance(atom, Quotient) or atom.den.as_int() == 0:
        return None
    rest = num - Dim.atom(atom)
    return atom.num + rest * atom.den, atom.den * den


def inner_symbols(atom: Atom) -> frozenset[Symbol]:
    """The symbols an atom is made of."""
    if isinstance(atom, Symbol):
        return frozenset((atom,))
    return frozenset[Symbol]().union(*(d.symbols() for d in parts(atom)))
