"""When two findings are one mistake: the same equation between dimensions, up to a factor."""

from __future__ import annotations

from collections import Counter
from math import gcd

from linnet.dims.dims import Dim
from linnet.dims.prover import Relation


def primitive(dim: Dim) -> Dim:
    """`dim` without its common factors, its first term positive.

    `64 * E * I * B - 2 * E * I * H` and `H - 32 * B` give the same. A single term keeps its
    symbols: what is 0 then is one of them.
    """
    if len(dim.terms) < 2:
        return Dim({monomial: 1 for monomial, _ in dim.terms})
    monomials = [Counter(m) for m, _ in dim.terms]
    common = monomials[0]
    for monomial in monomials[1:]:
        common = common & monomial
    factor = gcd(*(c for _, c in dim.terms))
    if dim.terms[0][1] < 0:
        factor = -factor
    return Dim({tuple((Counter(m) - common).elements()): c // factor for m, c in dim.terms})


def equation(left: Dim, right: Dim) -> object:
    """The same for the same equation, whichever way round it is written."""
    apart = left - right
    if apart.as_int() is not None:  # `4 == 5` has nothing to do with `5 == 6`
        return frozenset({str(left), str(right)})
    return str(primitive(apart))


def mistake(relation: Relation) -> object:
    """What a relation that is not provable has in common with others of the same cause."""
    if relation.op == "==":
        return frozenset({equation(relation.left, relation.right)})
    if relation.op in ("<", "<=", ">", ">="):
        return str(relation.at_least_zero())
    return str(relation)
