"""The number that a dimension is."""

from __future__ import annotations

from collections.abc import Mapping

from linnet.dims.atoms import Maximum, Minimum, Product, Quotient, Remainder
from linnet.dims.dims import Atom, Dim, DimError, Symbol, parts

# A number of more bits is not computed.
_MOST_BITS = 1 << 14


def evaluate(dim: Dim, env: Mapping[Symbol, int]) -> int:
    """The number of `dim` under `env`; `DimError` if a divisor is zero, or the number is
    enormous."""
    known: dict[Atom, int] = {**env}
    return _evaluate(dim, known)


def _evaluate(dim: Dim, known: dict[Atom, int]) -> int:
    """The number of `dim`; those of its atoms are put into `known`."""
    total = 0
    for monomial, c in dim.terms:
        for atom in monomial:
            value = known.get(atom)
            c *= _evaluate_atom(atom, known) if value is None else value
            if c.bit_length() > _MOST_BITS:
                raise DimError("a dimension is too large to be computed")
        total += c
    return total


def _evaluate_atom(atom: Atom, known: dict[Atom, int]) -> int:
    values = [_evaluate(d, known) for d in parts(atom)]
    match atom:
        case Symbol():
            raise KeyError(atom)
        case Quotient() | Remainder() if not values[1]:
            raise DimError(f"`{Dim.atom(atom)}` divides by zero")
        case Quotient():
            value = values[0] // values[1]
        case Remainder():
            value = values[0] % values[1]
        case Minimum():
            value = min(values)
        case Maximum():
            value = max(values)
        case Product():
            value = values[0] * values[1]
    known[atom] = value
    return value
