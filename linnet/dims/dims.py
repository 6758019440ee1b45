"""Symbolic dimensions: integer polynomials in one canonical form.

A `Dim` is a sum of integer multiples of monomials; a monomial is a sorted tuple of
atoms. An atom is a `Symbol` (a natural number) or a floor division, remainder,
minimum or maximum that no law below can remove, or a product too large to be written
out. Equal canonical forms are equal
numbers; what needs facts to be seen belongs to the prover.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from linnet.dims.atoms import (
    Atom,
    DimError,
    Key,
    Maximum,
    Minimum,
    Monomial,
    Product,
    Quotient,
    Remainder,
    Symbol,
    monomial_key,
    multiply_monomials,
    sorted_dims,
)
from linnet.dims.text import dim_text

__all__ = [
    "ONE",
    "ZERO",
    "Atom",
    "Dim",
    "DimError",
    "Symbol",
    "dim_max",
    "dim_min",
    "parts",
    "plainly_natural",
    "rebuild",
]

# A product with more terms, of a higher degree or with a larger factor is not written out.
_MOST_TERMS = 256
_HIGHEST_DEGREE = 64
_LARGEST = 1 << 4096
# Of every so many levels of nesting one is remembered.
_REMEMBERED = 8


def _term_key(term: tuple[Monomial, int]) -> Key:
    return monomial_key(term[0])


class Dim:
    """An immutable canonical integer polynomial over atoms."""

    __slots__ = ("_atoms", "_depth", "_hash", "_key", "_size", "_symbols", "terms")

    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        kept = [(m, c) for m, c in terms.items() if c]
        if len(kept) > 1:
            kept.sort(key=_term_key)
        self.terms = tuple(kept)
        self._atoms: frozenset[Atom] | None = None
        self._depth: int | None = None
        self._hash: int | None = None
        self._key: Key | None = None
        self._size: int | None = None
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
        dim = Dim({(atom,): 1})
        if isinstance(atom, Symbol) or (dim.depth % _REMEMBERED and not isinstance(atom, Product)):
            return dim
        return _remembered(dim)

    @property
    def depth(self) -> int:
        """How deep atoms are nested in it; 0 for a polynomial over symbols."""
        if self._depth is None:
            self._depth = 0
            for monomial, _ in self.terms:
                for atom in monomial:
                    if not isinstance(atom, Symbol):
                        below = max([d.depth for d in _inside(atom)])
                        self._depth = max(self._depth, below + 1)
        return self._depth

    @property
    def size(self) -> int:
        """How many atoms it has besides symbols, written out; 0 for a polynomial over symbols."""
        if self._size is None:
            compound = [a for m, _ in self.terms for a in m if not isinstance(a, Symbol)]
            self._size = sum(1 + sum(d.size for d in _inside(atom)) for atom in compound)
        return self._size

    @property
    def key(self) -> Key:
        """A sort key: a stable total order of dimensions."""
        if self._key is None:
            terms = self.terms or (((), 0),)
            self._key = tuple((monomial_key(m), c) for m, c in terms)
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
        other = Dim.of(other)
        a, b = self.terms, other.terms
        if (
            a
            and b
            and (
                len(a) * len(b) > _MOST_TERMS
                or len(a[0][0]) + len(b[0][0]) > _HIGHEST_DEGREE
                or not -_LARGEST < a[0][1] * b[0][1] < _LARGEST
            )
        ):
            first, second = sorted_dims((self, other))
            return Dim.atom(Product((first, second)))
        terms: dict[Monomial, int] = {}
        for m, c in a:
            for n, d in b:
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
        if self._atoms is None:
            self._atoms = frozenset([a for m, _ in self.terms for a in m])
        return self._atoms

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
        return _substitute(self, mapping, {})

    def __str__(self) -> str:
        return dim_text(self)

    def __repr__(self) -> str:
        return f"Dim({self})"


ZERO = Dim({})
ONE = Dim({(): 1})


@lru_cache(maxsize=1 << 12)
def _remembered(dim: Dim) -> Dim:
    """The first dimension that was equal to `dim`, with what takes a walk through it known.

    From here down nothing need be compared or asked again: deep dimensions cost no deep
    recursion, and a product of products with themselves is not walked through as a tree.
    """
    _ = dim.symbols(), dim.key
    return dim


def _inside(atom: Atom) -> Iterable[Dim]:
    """The dimensions inside an atom, in any order."""
    match atom:
        case Symbol():
            return ()
        case Quotient() | Remainder():
            return (atom.num, atom.den)
        case Minimum() | Maximum() | Product():
            return atom.args


def parts(atom: Atom) -> list[Dim]:
    """The dimensions inside an atom, in a stable order."""
    if isinstance(atom, Minimum | Maximum):
        return sorted_dims(atom.args)
    return list(_inside(atom))


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
        case Product():
            return inner[0] * inner[1]


def _substitute(dim: Dim, mapping: Mapping[Symbol, Dim], known: dict[Atom, Dim]) -> Dim:
    """`dim` with symbols replaced; what its atoms become is put into `known`, as one may occur
    in many places."""
    symbol = dim.as_symbol()
    if symbol is not None:
        return mapping.get(symbol, dim)
    if dim.symbols().isdisjoint(mapping):
        return dim
    result = ZERO
    for monomial, c in dim.terms:
        product = Dim.of(c)
        for atom in monomial:
            if atom not in known:
                known[atom] = _substitute_atom(atom, mapping, known)
            product = product * known[atom]
        result = result + product
    return result


def _substitute_atom(atom: Atom, mapping: Mapping[Symbol, Dim], known: dict[Atom, Dim]) -> Dim:
    if isinstance(atom, Symbol):
        found = mapping.get(atom)
        return Dim.of(atom) if found is None else found
    return rebuild(atom, [_substitute(d, mapping, known) for d in parts(atom)])


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
        for d in sorted_dims(atom.args) if isinstance(atom, kind) else (dim,):
            if not any(plainly_natural((d - k) * sign) for k in kept):
                kept = [k for k in kept if not plainly_natural((k - d) * sign)]
                kept.append(d)
    return frozenset(kept)


def plainly_natural(dim: Dim) -> bool:
    """Whether only natural symbols are added up, and no term is negative."""
    return all(c > 0 and all(map(_natural_symbol, m)) for m, c in dim.terms)


def _natural_symbol(atom: Atom) -> bool:
    return isinstance(atom, Symbol) and not atom.signed


def dim_min(*dims: int | Symbol | Dim) -> Dim:
    """The least of one or more dimensions."""
    kept = _extreme(dims, 1)
    return next(iter(kept)) if len(kept) == 1 else Dim.atom(Minimum(kept))


def dim_max(*dims: int | Symbol | Dim) -> Dim:
    """The greatest of one or more dimensions."""
    kept = _extreme(dims, -1)
    return next(iter(kept)) if len(kept) == 1 else Dim.atom(Maximum(kept))
