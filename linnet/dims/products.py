"""Products of rows that are `>= 0`, where they lead to products that are in sight.

S - 1 >= 0, N natural           N * (S - 1) >= 0
M - 1 >= 0, N - 1 >= 0          (M - 1) * (N - 1) >= 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from linnet.dims.atoms import Monomial, monomial_key, multiply_monomials
from linnet.dims.dims import Dim
from linnet.dims.normal import Normalizer, divide_monomial

# Effort: of a product, and of a look at whether one is of use.
_MADE = 200
_LOOK = 8
_MOST = 48
# Of a product of at most so many factors, those of fewer than so many are in sight too.
_LONGEST = 8
_DEGREE = 4


def products(
    rows: list[Dim], equal: list[Dim], normalizer: Normalizer, natural: Callable[[Monomial], bool]
) -> list[Dim]:
    """What is `>= 0` as the rows are, and the equalities are zero, and is none of these."""
    wanted = _wanted([*rows, *equal], normalizer)
    size = sum(len(d.terms) for d in (*rows, *equal))
    found: dict[Dim, None] = {}
    for target in sorted(wanted, key=normalizer.order, reverse=True):
        if len(found) > _MOST or not normalizer.fuel.burn(size):
            break
        for row in rows:
            for factor in _cofactors(row, target):
                if natural(factor):
                    found[normalizer.normal(row * Dim({factor: 1}))] = None
        for row in equal:
            for factor in _cofactors(row, target):
                product = normalizer.normal(row * Dim({factor: 1}))
                found[product] = found[-product] = None
    for row in (*_squares(wanted), *_pairs(rows, wanted, normalizer)):
        if len(found) > 2 * _MOST:
            break
        found[row] = None
    known = {*rows, *equal}
    return [d for d in found if d not in known]


def _wanted(rows: list[Dim], normalizer: Normalizer) -> set[Monomial]:
    """The products in sight, those rewritten away, and what divides them."""
    seen = {a for d in rows for a in d.atoms()}
    wanted = {m for d in rows for m, _ in d.terms if len(m) > 1}
    wanted |= {m for m, _ in normalizer.products if seen.issuperset(m)}
    for monomial in tuple(wanted) if len(wanted) <= _MOST else ():
        if len(monomial) <= _LONGEST:
            for size in range(2, min(len(monomial), _DEGREE)):
                wanted.update(combinations(monomial, size))
    return wanted


def _pairs(rows: list[Dim], wanted: set[Monomial], normalizer: Normalizer) -> Iterator[Dim]:
    """Products of two short rows that have no product which is not in sight."""
    short = [r for r in rows if len(r.terms) <= 3 and r.as_int() is None] if wanted else []
    for i, left in enumerate(short):
        for right in short[i:]:
            if not normalizer.fuel.burn(_LOOK):
                return
            tops = {multiply_monomials(m, n) for m, _ in left.terms for n, _ in right.terms}
            if not wanted.issuperset(m for m in tops if len(m) > 1):
                continue
            if not normalizer.fuel.burn(_MADE):
                return
            yield normalizer.normal(left * right)


def _squares(wanted: set[Monomial]) -> list[Dim]:
    """`(a - b) * (a - b) >= 0` where all three products are in sight."""
    pairs = [m for m in wanted if len(m) == 2 and m[0] != m[1]]
    found: list[Dim] = []
    for a, b in sorted(pairs, key=monomial_key):
        if (a, a) in wanted and (b, b) in wanted:
            gap = Dim.atom(a) - Dim.atom(b)
            found.append(gap * gap)
    return found


def _cofactors(row: Dim, target: Monomial) -> list[Monomial]:
    """What `target` has more than a monomial of `row`."""
    rests = (divide_monomial(target, m) for m, _ in row.terms if m)
    return [rest for rest in dict.fromkeys(rests) if rest]
