"""Makes the parser's tables of `linnet.lark`, by Lark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lark import Lark
from lark.grammar import Rule as LarkRule
from lark.lexer import Lexer, TerminalDef

from linnet.syntax.lalr import Rule, Tables

_REDUCE = 1


class NoLexer(Lexer):
    """Lark wants a lexer; here the tokens come from `lexer.py` and `resolve.py`."""

    __future_interface__ = 2

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Any]:
        raise NotImplementedError


def read_grammar(text: str, starts: list[str]) -> Lark:
    """The grammar of a text; a conflict in it is refused."""
    return Lark(
        text,
        parser="lalr",
        lexer=NoLexer,
        strict=True,
        start=starts,
        keep_all_tokens=True,
        maybe_placeholders=False,
    )


def tables_of(grammar: Lark) -> Tables:
    """The tables that Lark made, in plain lists."""
    whole: Any = grammar  # whose annotations are of no use to a type checker
    data, memo = whole.memo_serialize([TerminalDef, LarkRule])
    table = data["parser"]["parser"]
    numbers: dict[int, int] = {}  # of the rules, by what the tables call them
    rules: list[Rule] = []
    steps: list[dict[str, int]] = []
    for state in range(len(table["states"])):
        row: dict[str, int] = {}
        for symbol, (action, target) in table["states"][state].items():
            name = table["tokens"][symbol]
            if action == _REDUCE:
                if target["@"] not in numbers:
                    numbers[target["@"]] = len(rules)
                    rules.append(_rule(memo[target["@"]]))
                row[name] = ~numbers[target["@"]]
            else:
                row[name] = target
        steps.append(row)
    return Tables(rules, steps, table["start_states"], table["end_states"])


def _rule(said: dict[str, Any]) -> Rule:
    symbol, length, options = said["origin"]["name"], len(said["expansion"]), said["options"]
    if options["expand1"] and not said["alias"] and length == 1:
        return Rule("", symbol, length)
    return Rule(said["alias"] or options["template_source"] or symbol, symbol, length)
