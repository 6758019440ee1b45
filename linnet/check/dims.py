"""Symbolic dimensions: integer polynomials in one canonical form.

A `Dim` is a sum of integer multiples of monomials; a monomial is a sorted tuple of
atoms. An atom is a `Symbol` (a natural number) or a floor division, remainder,
minimum or maximum that no law below can remove. Equal canonical forms are equal
numbers; what needs facts to be seen belongs to the prover.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count

_serials = count()


class DimError(ZeroDivisionError):
    """A dimension divides by zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A generic dimension, or the element count of a shape pack; compared by identity."""

    name: str
    pack: bool = False
    serial: int = field(default_factory=_serials.__next__, init=False, repr=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Quotient:
    """Floor division that does not come out."""

    num: Dim
    den: Dim


@dataclass(frozen=True, slots=True)
class Remainder:
    """What floor division leaves; it has the sign of the divisor."""

    num: Dim
    den: Dim


@dataclass(frozen=True, slots=True)
class Minimum:
    """The least of two or more dimensions."""

    args: frozenset[Dim]


@dataclass(frozen=True, slots=True)
class Maximum:
    """The greatest of two or more dimensions."""

    args: frozenset[Dim]


Atom = Symbol | Quotient | Remainder | Minimum | Maximum
Monomial = tuple[Atom, ...]
Key = tuple[object, ...]


def atom_key(atom: Atom) -> Key:
    """A total order of atoms: symbols by name and creation, then the compound ones."""
    match atom:
        case Symbol():
            return (0, atom.name, atom.serial)
        case Quotient():
            return (1, "", 0, atom.num.key, atom.den.key)
        case Remainder():
            return (2, "", 0, atom.num.key, atom.den.key)
        case Minimum():
            return (3, "", 0, *sorted_keys(atom.args))
        case Maximum():
            return (4, "", 0, *sorted_keys(atom.args))


def sorted_keys(dims: Iterable[Dim]) -> list[Key]:
    """The keys of `dims` in order."""
    return [d.key for d in sorted_dims(dims)]


def sorted_dims(dims: Iterable[Dim]) -> list[Dim]:
    """`dims` in their stable order."""
    return sorted(dims, key=_dim_key)


def _dim_key(dim: Dim) -> Key:
    return dim.key


@lru_cache(maxsize=1 << 14)
def monomial_key(monomial: Monomial) -> Key:
    """High degree first, then by atoms; the constant comes last."""
    return (-len(monomial), *(atom_key(a) for a in monomial))


def _term_key(term: tuple[Monomial, int]) -> Key:
    return monomial_key(term[0])


@lru_cache(maxsize=1 << 14)
def multiply_monomials(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    return tuple(sorted(a + b, key=atom_key)) if a and b else a or b


class Dim:
    """An immutable canonical integer polynomial over atoms."""

    __slots__ = ("_hash", "_key", "_symbols", "terms")

    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        kept = [(m, c) for m, c in terms.items() if c]
        if len(kept) > 1:
            kept.sort(key=_term_key)
        self.terms = tuple(kept)
        self._hash: int | None = None
        self._key: Key | None = None
        self._symbols: frozenset[Symbol] | None = None

    @staticmethod
    def of(value: int | Symbol | Dim) -> Dim:
        """The dimension that `value` is."""
        if isinstance(value, Dim):
            return value
        if isinstance(value, int):
            return Dim({(): value})
        return Dim({(value,): 1})

    @staticmethod
    def atom(atom: Atom) -> Dim:
        """The dimension that is just `atom`."""
        return Dim({(atom,): 1})

    @property
    def key(self) -> Key:
        """A sort key: a stable total order of dimensions."""
        if self._key is None:
            self._key = tuple((monomial_key(m), c) for m, c in self.terms)
        return self._key

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.terms)
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Dim):
            return NotImplemented
        return hash(self) == hash(other) and self.terms == other.terms

    def __add__(self, other: int | Symbol | Dim) -> Dim:
        terms = dict(self.terms)
        for monomial, c in Dim.of(other).terms:
            terms[monomial] = terms.get(monomial, 0) + c
        return Dim(terms)

    def __radd__(self, other: int | Symbol) -> Dim:
        return self + other

    def __neg__(self) -> Dim:
        return Dim({m: -c for m, c in self.terms})

    def __sub__(self, other: int | Symbol | Dim) -> Dim:
        return self + -Dim.of(other)

    def __rsub__(self, other: int | Symbol) -> Dim:
        return -self + other

    def __mul__(self, other: int | Symbol | Dim) -> Dim:
        terms: dict[Monomial, int] = {}
        for m, c in self.terms:
            for n, d in Dim.of(other).terms:
                product = multiply_monomials(m, n)
                terms[product] = terms.get(product, 0) + c * d
        return Dim(terms)

    def __rmul__(self, other: int | Symbol) -> Dim:
        return self * other

    def __floordiv__(self, other: int | Symbol | Dim) -> Dim:
        return _floor_div(self, Dim.of(other))

    def __rfloordiv__(self, other: int | Symbol) -> Dim:
        return _floor_div(Dim.of(other), self)

    def __mod__(self, other: int | Symbol | Dim) -> Dim:
        return _remainder(self, Dim.of(other))

    def __rmod__(self, other: int | Symbol) -> Dim:
        return _remainder(Dim.of(other), self)

    def as_int(self) -> int | None:
        """The literal that this is, if it is one."""
        if not self.terms:
            return 0
        monomial, c = self.terms[0]
        return None if monomial else c

    def as_symbol(self) -> Symbol | None:
        """The symbol that this is, if it is just one."""
        atom = self.as_atom()
        return atom if isinstance(atom, Symbol) else None

    def as_atom(self) -> Atom | None:
        """The atom that this is, if it is just one."""
        if len(self.terms) == 1:
            monomial, c = self.terms[0]
            if c == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    @property
    def constant(self) -> int:
        """The literal term."""
        return self.terms[-1][1] if self.terms and not self.terms[-1][0] else 0

    def atoms(self) -> frozenset[Atom]:
        """The atoms of the monomials, not those inside other atoms."""
        return frozenset(a for m, _ in self.terms for a in m)

    def symbols(self) -> frozenset[Symbol]:
        """Every symbol that occurs, at any depth."""
        if self._symbols is None:
            found: set[Symbol] = set()
            for atom in self.atoms():
                if isinstance(atom, Symbol):
                    found.add(atom)
                else:
                    found.update(*(d.symbols() for d in parts(atom)))
            self._symbols = frozenset(found)
        return self._symbols

    def substitute(self, mapping: Mapping[Symbol, Dim]) -> Dim:
        """This with symbols replaced, all at once; `DimError` if a divisor becomes zero."""
        if self.symbols().isdisjoint(mapping):
            return self
        result = ZERO
        for monomial, c in self.terms:
            product = Dim.of(c)
            for atom in monomial:
                product = product * _substitute_atom(atom, mapping)
            result = result + product
        return result

    def evaluate(self, env: Mapping[Symbol, int]) -> int:
        """The number under `env`; `DimError` if a divisor is zero."""
        total = 0
        for monomial, c in self.terms:
            for atom in monomial:
                c *= env[atom] if isinstance(atom, Symbol) else _evaluate_atom(atom, env)
            total += c
        return total

    def __str__(self) -> str:
        ordered = list(self.terms)
        positive = next((i for i, (_, c) in enumerate(ordered) if c > 0), 0)
        ordered.insert(0, ordered.pop(positive)) if ordered else None
        text = ""
        for monomial, c in ordered:
            term = _term_text(monomial, abs(c))
            sign = "-" if c < 0 else "+"
            text += f" {sign} {term}" if text else term if c > 0 else f"-{term}"
        return text or "0"

    def __repr__(self) -> str:
        return f"Dim({self})"


ZERO = Dim({})
ONE = Dim({(): 1})


def parts(atom: Atom) -> list[Dim]:
    """The dimensions inside an atom, in a stable order."""
    match atom:
        case Symbol():
            return []
        case Quotient() | Remainder():
            return [atom.num, atom.den]
        case Minimum() | Maximum():
            return sorted_dims(atom.args)


def rebuild(atom: Atom, inner: list[Dim]) -> Dim:
    """What `atom` is when `inner` are its parts."""
    match atom:
        case Symbol():
            return Dim.of(atom)
        case Quotient():
            return inner[0] // inner[1]
        case Remainder():
            return inner[0] % inner[1]
        case Minimum():
            return dim_min(*inner)
        case Maximum():
            return dim_max(*inner)


def _substitute_atom(atom: Atom, mapping: Mapping[Symbol, Dim]) -> Dim:
    if isinstance(atom, Symbol):
        found = mapping.get(atom)
        return Dim.of(atom) if found is None else found
    return rebuild(atom, [d.substitute(mapping) for d in parts(atom)])


def _evaluate_atom(atom: Atom, env: Mapping[Symbol, int]) -> int:
    values = [d.evaluate(env) for d in parts(atom)]
    match atom:
        case Symbol():
            return env[atom]
        case Quotient() | Remainder() if not values[1]:
            raise DimError(f"`{Dim.atom(atom)}` divides by zero")
        case Quotient():
            return values[0] // values[1]
        case Remainder():
            return values[0] % values[1]
        case Minimum():
            return min(values)
        case Maximum():
            return max(values)


def _split(num: Dim, den: int) -> tuple[Dim, Dim]:
    """`whole`, `rest` with `num == den * whole + rest`: the terms that divide, and the others.

    A literal term is cut towards zero, so that `(S - 1) / 2` stays as it was written.
    """
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for m, c in num.terms:
        if c % den == 0:
            whole[m] = c // den
        elif m:
            rest[m] = c
        else:
            whole[m] = abs(c) // den * (1 if c > 0 else -1)
            rest[m] = c - den * whole[m]
    return Dim(whole), Dim(rest)


def _floor_div(num: Dim, den: Dim) -> Dim:
    divisor = den.as_int()
    if divisor is None:
        return Dim.atom(Quotient(num, den))
    if divisor == 0:
        raise DimError(f"`{num}` is divided by zero")
    if divisor < 0:
        return _floor_div(-num, -den)
    whole, rest = _split(num, divisor)
    literal = rest.as_int()
    return whole + (Dim.atom(Quotient(rest, den)) if literal is None else literal // divisor)


def _remainder(num: Dim, den: Dim) -> Dim:
    divisor = den.as_int()
    if divisor is None:
        return Dim.atom(Remainder(num, den))
    if divisor == 0:
        raise DimError(f"`{num}` is divided by zero")
    if divisor < 0:
        return -_remainder(-num, -den)
    _, rest = _split(num, divisor)
    literal = rest.as_int()
    return Dim.atom(Remainder(rest, den)) if literal is None else Dim.of(literal % divisor)


def _extreme(dims: tuple[int | Symbol | Dim, ...], sign: int) -> frozenset[Dim]:
    """The arguments that matter to a minimum (`sign` 1) or a maximum (`sign` -1)."""
    kind = Minimum if sign > 0 else Maximum
    kept: list[Dim] = []
    for dim in map(Dim.of, dims):
        atom = dim.as_atom()
        for d in atom.args if isinstance(atom, kind) else (dim,):
            gaps = [(d - k).as_int() for k in kept]
            if any(g is not None and g * sign >= 0 for g in gaps):
                continue
            kept = [k for k, g in zip(kept, gaps, strict=True) if g is None]
            kept.append(d)
    return frozenset(kept)


def dim_min(*dims: int | Symbol | Dim) -> Dim:
    """The least of one or more dimensions."""
    kept = _extreme(dims, 1)
    return next(iter(kept)) if len(kept) == 1 else Dim.atom(Minimum(kept))


def dim_max(*dims: int | Symbol | Dim) -> Dim:
    """The greatest of one or more dimensions."""
    kept = _extreme(dims, -1)
    return next(iter(kept)) if len(kept) == 1 else Dim.atom(Maximum(kept))


def _term_text(monomial: Monomial, c: int) -> str:
    factors = [str(c)] if c != 1 or not monomial else []
    for atom in monomial:
        text = _atom_text(atom)
        tight = not isinstance(atom, Quotient | Remainder) or not factors
        factors.append(text if tight else f"({text})")
    return " * ".join(factors)


def _atom_text(atom: Atom) -> str:
    match atom:
        case Symbol():
            return atom.name
        case Quotient():
            return f"{_operand(atom.num)} / {_operand(atom.den, divisor=True)}"
        case Remainder():
            return f"{_operand(atom.num)} % {_operand(atom.den, divisor=True)}"
        case Minimum():
            return f"min({', '.join(map(str, sorted_dims(atom.args)))})"
        case Maximum():
            return f"max({', '.join(map(str, sorted_dims(atom.args)))})"


def _operand(dim: Dim, *, divisor: bool = False) -> str:
    """`dim` beside `/` or `%`, which bind as `*` does, from the left."""
    atom = dim.as_atom()
    bare = len(dim.terms) <= 1 and all(c > 0 for _, c in dim.terms)
    if divisor:
        bare = dim.as_int() is not None or isinstance(atom, Symbol | Minimum | Maximum)
    return str(dim) if bare else f"({dim})"
