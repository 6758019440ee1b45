"""Going through typed statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from linnet.check.typed import (
    TAssign,
    TExpr,
    TForRange,
    TForSubs,
    TLet,
    TLetTuple,
    TReturn,
    TStmt,
    TWhile,
)
from linnet.check.walk import children


def every(body: Iterable[TStmt]) -> Iterator[TExpr]:
    """Every expression of these statements, those inside others too."""
    for stmt in body:
        match stmt:
            case TLet() | TLetTuple() | TAssign() | TReturn():
                yield from inside(stmt.value)
            case TForSubs() | TForRange():
                yield from every(stmt.body)
            case TWhile():
                yield from inside(stmt.condition)
                yield from every(stmt.body)


def inside(expr: TExpr) -> Iterator[TExpr]:
    waiting = [expr]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(children(found))
