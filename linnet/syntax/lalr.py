"""Runs the tables of an LALR(1) grammar over ready tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from linnet.syntax.tokens import Token

END = "$END"


class Rule(NamedTuple):
    """An alternative of the grammar: the name it is built by, empty where its only part passes
    through; the symbol that it makes; of how many parts."""

    name: str
    symbol: str
    length: int


class Tables(NamedTuple):
    """What to do in each state on a symbol: go to the state `n`, or reduce by the rule `~n`.

    `first` and `last` are the states before and after each start symbol.
    """

    rules: list[Rule]
    steps: list[dict[str, int]]
    first: dict[str, int]
    last: dict[str, int]


class UnexpectedTokenError(Exception):
    """Token `at` cannot come next; it is the number of tokens where the input ends too early."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


# Makes a value of the parts of an alternative, in order.
Make = Callable[[list[Any]], Any]


@dataclass(frozen=True, slots=True)
class Parser:
    """Tables, and what makes the values of each rule."""

    tables: Tables
    makers: list[Make]

    @staticmethod
    def of(tables: Tables, maker: Callable[[str], Make]) -> Parser:
        """A parser whose `maker` is asked for each name of an alternative."""
        return Parser(tables, [maker(r.name) if r.name else _only for r in tables.rules])

    def parse(self, tokens: Sequence[Token], start: str) -> Any:
        """The value of the start symbol that the tokens are."""
        rules, steps, makers = self.tables.rules, self.tables.steps, self.makers
        last = self.tables.last[start]
        states = [self.tables.first[start]]
        values: list[Any] = []
        for at in range(len(tokens) + 1):
            token = tokens[at] if at < len(tokens) else None
            kind = END if token is None else token.type
            while True:
                step = steps[states[-1]].get(kind)
                if step is None:
                    raise UnexpectedTokenError(at)
                if step >= 0:
                    states.append(step)
                    values.append(token)
                    break
                rule = rules[~step]
                parts: list[Any] = []
                if rule.length:
                    parts = values[-rule.length :]
                    del values[-rule.length :], states[-rule.length :]
                values.append(makers[~step](parts))
                states.append(steps[states[-1]][rule.symbol])
                if token is None and states[-1] == last:
                    return values[-1]
        raise AssertionError("the end of the input is never shifted")

    def accepted(self, before: Sequence[Token], start: str) -> set[str]:
        """The terminals that could follow some tokens of a unit.

        The states at the wrong token do not tell: those of rules that it ended are gone. So they
        are found again without it, and each terminal tried on a copy.
        """
        states = [self.tables.first[start]]
        for token in before:
            self._shift(states, token.type, start)
        candidates = [terminal for terminal in self.tables.steps[states[-1]] if terminal.isupper()]
        return {t for t in candidates if self._shift(list(states), t, start)}

    def _shift(self, states: list[int], terminal: str, start: str) -> bool:
        """Moves the states over a terminal; False if it does not fit there."""
        rules, steps = self.tables.rules, self.tables.steps
        while True:
            step = steps[states[-1]].get(terminal)
            if step is None:
                return False
            if step >= 0:
                states.append(step)
                return True
            rule = rules[~step]
            if rule.length:
                del states[-rule.length :]
            states.append(steps[states[-1]][rule.symbol])
            if terminal == END and states[-1] == self.tables.last[start]:
                return True


def _only(parts: list[Any]) -> Any:
    (part,) = parts
    return part
