"""Exact linear arithmetic over monomials: is a list of `row >= 0` contradictory?

Each monomial counts as an unknown of its own. By Farkas' lemma the rows contradict
each other over the rationals if and only if some non-negative combination of them is
a negative number; a simplex over a cone, in integers, looks for that combination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import gcd

from linnet.dims.atoms import Monomial
from linnet.dims.dims import Dim

Row = dict[int, int]


@dataclass(slots=True)
class Fuel:
    """A bound on effort that does not depend on the clock.

    `cut` counts the questions that were given up; what was concluded meanwhile from
    "not proven" may not be kept.
    """

    left: int
    cut: int = 0

    def burn(self, amount: int) -> bool:
        """Whether there was any left to spend `amount` of."""
        self.left -= amount
        if self.left <= 0:
            self.cut += 1
        return self.left > 0


def tighten(row: Dim) -> Dim:
    """`row >= 0` with the common divisor taken out, rounded as integers allow."""
    g = gcd(*(c for m, c in row.terms if m))
    if g <= 1:
        return row
    return Dim({m: c // g for m, c in row.terms})


def contradictory(rows: Iterable[Dim], natural: Callable[[Monomial], bool], fuel: Fuel) -> bool:
    """Whether no numbers make every row `>= 0` and every natural monomial `>= 0`."""
    columns = list(dict.fromkeys(map(tighten, rows)))
    literals = [row.as_int() for row in columns]
    if any(value is not None and value < 0 for value in literals):
        return True
    columns = _of_use(columns)
    objective = {i: row.constant for i, row in enumerate(columns) if row.constant}
    if all(c > 0 for c in objective.values()):
        return False
    return _unbounded(objective, _tableau(columns, natural), len(columns), fuel)


def _of_use(columns: list[Dim]) -> list[Dim]:
    """Those that a combination may use: not `B - A` where no other has a term with `-B`.

    What is left out may leave others without a partner in turn.
    """
    table = _by_monomial(columns)
    negative = {m: sum(c < 0 for c in row.values()) for m, row in table.items()}
    gone = set[int]()
    pending = [m for m, count in negative.items() if not count]
    while pending:
        for i in table[pending.pop()].keys() - gone:
            gone.add(i)
            for monomial, c in columns[i].terms:
                if monomial and c < 0:
                    negative[monomial] -= 1
                    if not negative[monomial]:
                        pending.append(monomial)
    return [column for i, column in enumerate(columns) if i not in gone]


def _by_monomial(columns: list[Dim]) -> dict[Monomial, Row]:
    table: dict[Monomial, Row] = {}
    for i, column in enumerate(columns):
        for monomial, c in column.terms:
            if monomial:
                table.setdefault(monomial, {})[i] = c
    return table


def _tableau(columns: list[Dim], natural: Callable[[Monomial], bool]) -> list[Row]:
    """A row for each monomial: the multipliers must cancel it, or leave it to be `>= 0`."""
    table = _by_monomial(columns)
    result: list[Row] = []
    for monomial, row in table.items():
        result.append(row)
        if not natural(monomial):
            result.append({i: -c for i, c in row.items()})
    return result


def _unbounded(objective: Row, table: list[Row], columns: int, fuel: Fuel) -> bool:
    """Whether some `x >= 0` with `table x <= 0` has a negative `objective`.

    All right-hand sides are zero, so the slack basis is feasible and stays so; Bland's
    rule keeps the degenerate pivots from cycling.
    """
    basis: list[int] = []
    rows_with: dict[int, set[int]] = {}
    for i, row in enumerate(table):
        row[columns + i] = 1
        basis.append(columns + i)
        for j in row:
            rows_with.setdefault(j, set()).add(i)
    while True:
        entering = min((j for j, c in objective.items() if c < 0), default=None)
        if entering is None:
            return False
        touched = rows_with.get(entering, set[int]())
        candidates = [i for i in touched if table[i][entering] > 0]
        if not candidates:
            return True
        leaving = min(candidates, key=basis.__getitem__)
        pivot = table[leaving]
        if not fuel.burn(len(pivot) * len(touched)):
            return False
        for i in touched - {leaving}:
            row = table[i] = _eliminate(table[i], pivot, entering)
            for j in pivot:
                if j in row:
                    rows_with[j].add(i)
                else:
                    rows_with[j].discard(i)
        objective = _eliminate(objective, pivot, entering)
        basis[leaving] = entering


def _eliminate(row: Row, pivot: Row, column: int) -> Row:
    """`row` with `column` cancelled by `pivot`, scaled by something positive."""
    scale, factor = pivot[column], row[column]
    g = gcd(scale, factor)
    scale, factor = scale // g, factor // g
    result = {j: c * scale for j, c in row.items()} if scale != 1 else dict(row)
    for j, c in pivot.items():
        value = result.get(j, 0) - c * factor
        if value:
            result[j] = value
        else:
            result.pop(j, None)
    common = gcd(*result.values())
    return {j: c // common for j, c in result.items()} if common > 1 else result
