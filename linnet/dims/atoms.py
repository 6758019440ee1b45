"""What the monomials of a dimension are made of, and their order.

The compound atoms hold dimensions; nothing here needs more of those than their keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linnet.dims.dims import Dim

_serials = count()


class DimError(ZeroDivisionError):
    """A dimension divides by zero, or is too large to be computed."""


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A generic dimension, or the element count of a shape pack; compared by identity.

    It stands for a natural number, unless it is `signed`: one that the prover made for a
    quotient that may be negative.
    """

    name: str
    pack: bool = False
    signed: bool = False
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


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two dimensions, in order, that is too large to be written out."""

    args: tuple[Dim, Dim]


Atom = Symbol | Quotient | Remainder | Minimum | Maximum | Product
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
        case Product():
            return (5, "", 0, *(d.key for d in atom.args))


def sorted_keys(dims: Iterable[Dim]) -> list[Key]:
    """The keys of `dims` in order."""
    return [d.key for d in sorted_dims(dims)]


def sorted_dims(dims: Iterable[Dim]) -> list[Dim]:
    """`dims` in their stable order."""
    return sorted(dims, key=_dim_key)


def sorted_symbols(symbols: Iterable[Symbol]) -> list[Symbol]:
    """`symbols` in the order in which they were declared."""
    return sorted(symbols, key=lambda s: s.serial)


def _dim_key(dim: Dim) -> Key:
    return dim.key


@lru_cache(maxsize=1 << 14)
def monomial_key(monomial: Monomial) -> Key:
    """High degree first, then by atoms; the constant comes last."""
    return (-len(monomial), *(atom_key(a) for a in monomial))


@lru_cache(maxsize=1 << 14)
def multiply_monomials(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    return tuple(sorted(a + b, key=atom_key)) if a and b else a or b
