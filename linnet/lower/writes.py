"""Which functions change a state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from linnet.check.typed import (
    Program,
    TAssign,
    TCall,
    TFunction,
    TStmt,
)
from linnet.check.walk import expressions, inside, statements
from linnet.graphs import depth_first


class Writes:
    """What is known of functions is kept."""

    __slots__ = ("_known", "_program")

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, bool] = {}

    def of(self, key: str) -> bool:
        """Whether a call of the function may change a state."""
        if key not in self._known:
            called = {k: list(_called(self._program.functions[k])) for k in self._below(key)}
            for inner, below in called.items():
                here = _assigns(self._program.functions[inner].body)
                self._known[inner] = here or any(self._known[k] for k in below)
        return self._known[key]

    def _below(self, key: str) -> list[str]:
        """The function and all that it calls, each after those that it calls."""
        return depth_first([key], lambda k: list(_called(self._program.functions[k])))[0]


def _assigns(body: Iterable[TStmt]) -> bool:
    return any(isinstance(s, TAssign) and isinstance(s.target, str) for s in statements(body))


def _called(function: TFunction) -> Iterator[str]:
    defaults = (e for p in function.params if p.default is not None for e in inside(p.default))
    for expr in (*defaults, *expressions(function.body)):
        if isinstance(expr, TCall):
            yield expr.callee
