"""Relations between dimensions, and what a prover answers about one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from linnet.dims.dims import Dim, Symbol
from linnet.dims.evaluate import evaluate

Comparison = Literal["==", "!=", "<", "<=", ">", ">="]
Verdict = Literal["proven", "refuted", "unknown"]

_MEANING: dict[Comparison, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NEGATION: dict[Comparison, Comparison] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """`left op right`, as it stands in a `where` clause."""

    op: Comparison
    left: Dim
    right: Dim

    def holds(self, env: Mapping[Symbol, int]) -> bool:
        """Whether it is true under `env`; `DimError` if a divisor is zero there."""
        return _MEANING[self.op](evaluate(self.left, env), evaluate(self.right, env))

    def negated(self) -> Relation:
        """The relation that holds exactly where this one does not."""
        return Relation(_NEGATION[self.op], self.left, self.right)

    def substitute(self, mapping: Mapping[Symbol, Dim]) -> Relation:
        """This with symbols replaced."""
        left, right = self.left.substitute(mapping), self.right.substitute(mapping)
        return Relation(self.op, left, right)

    def symbols(self) -> frozenset[Symbol]:
        """Every symbol on either side."""
        return self.left.symbols() | self.right.symbols()

    @property
    def depth(self) -> int:
        """How deep atoms are nested on either side."""
        return max(self.left.depth, self.right.depth)

    def at_least_zero(self) -> Dim:
        """For an order relation, the dimension that is `>= 0` exactly when it holds."""
        match self.op:
            case "<=":
                return self.right - self.left
            case "<":
                return self.right - self.left - 1
            case ">=":
                return self.left - self.right
            case ">":
                return self.left - self.right - 1
            case "==" | "!=":
                raise ValueError(f"`{self}` is not an order relation")

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a relation.

    "refuted" means false under every assignment that satisfies the facts. The
    counterexample is small, satisfies the facts and breaks the relation.
    """

    verdict: Verdict
    counterexample: dict[Symbol, int] | None = None

    @property
    def proven(self) -> bool:
        """Whether the relation follows from the facts."""
        return self.verdict == "proven"
