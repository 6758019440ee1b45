"""What the builders share: lists, names, and what passes through; see `build.py`."""

from __future__ import annotations

from typing import Any

from linnet.source.files import Span
from linnet.syntax import ast
from linnet.syntax.tokens import Token

# What an alternative of the grammar is made of. A builder unpacks it by names, so that an
# alternative of another length fails at once.
Parts = list[Any]


def join(first: Any, last: Any) -> Span:
    a, b = first.span, last.span
    return Span(a.file, a.start, b.end)


def name_of(token: Token) -> ast.Name:
    return ast.Name(token.text, token.span)


def names_of(tokens: list[Token]) -> tuple[ast.Name, ...]:
    return tuple(name_of(token) for token in tokens)


class Lists:
    """Lists, which grow in place as the parser never goes back, and what stays as it is."""

    def same(self, c: Parts) -> Any:
        first, *_ = c  # a comma may follow
        return first

    def second(self, c: Parts) -> Any:
        _, value, *_ = c  # a bracket may follow
        return value

    def absent(self, c: Parts) -> None:
        return None

    def nothing(self, c: Parts) -> Parts:
        return []

    def seq_one(self, c: Parts) -> Parts:
        return c

    def seq_next(self, c: Parts) -> Parts:
        items, item = c
        items.append(item)
        return items

    def seq_more(self, c: Parts) -> Parts:
        items, _, item = c
        items.append(item)
        return items

    path_one = seq_one
    path_more = seq_more
