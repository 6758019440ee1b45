"""What the extent of an array says about the symbols of the dimension it stands for."""

from __future__ import annotations

from enum import Enum, auto

from linnet.dims.dims import Dim, DimError, Symbol


class Fit(Enum):
    """What came of one dimension."""

    EQUAL = auto()
    BOUND = auto()
    """A symbol got its number from it."""
    OPEN = auto()
    """It has symbols that it cannot tell apart: try again when more are bound."""
    DIFFERS = auto()
    IMPOSSIBLE = auto()
    """It is linear in one open symbol, and no natural number does it."""


def fit_extent(dim: Dim, extent: int, bound: dict[Symbol, int]) -> tuple[Fit, Symbol | None]:
    """Hold `dim` against `extent`, and bind its one open symbol where it is linear in that."""
    try:
        rest = dim.substitute({s: Dim.of(n) for s, n in bound.items()})
    except DimError:
        return Fit.DIFFERS, None
    symbols = list(rest.symbols())
    if not symbols:
        return (Fit.EQUAL if rest.as_int() == extent else Fit.DIFFERS), None
    terms = dict((rest - rest.constant).terms)
    slope = terms.get((symbols[0],))
    if slope is None or len(terms) > 1:
        return Fit.OPEN, None
    number, over = divmod(extent - rest.constant, slope)
    if over or number < 0:
        return Fit.IMPOSSIBLE, symbols[0]
    bound[symbols[0]] = number
    return Fit.BOUND, symbols[0]
