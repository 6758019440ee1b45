"""Tokens of the text form of the IR, and what is read alike everywhere: lists and dimensions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import NoReturn, TypeVar

from linnet.dims.dims import Dim, DimError, Symbol, dim_max, dim_min

TOKEN = re.compile(
    r"""\s*(?: (?P<string>"(?:[^"\\]|\\.)*")
        | (?P<value>%(?:[A-Za-z_]\w*\.)?\d+)
        | (?P<word>[A-Za-z_$](?:[\w$~]|(?:::|\.)(?=[\w$]))*)
        | (?P<int>\d+)
        | (?P<mark>->|[-+*/%()\[\]{}<>,;:=@\#])
        | (?P<end>$) )""",
    re.VERBOSE,
)

T = TypeVar("T")


class IRSyntaxError(Exception):
    """Text that is no module."""


def tokens(text: str) -> list[tuple[str, str]]:
    """The tokens as (kind, text); the last is the end."""
    found: list[tuple[str, str]] = []
    at = 0
    while not found or found[-1][0] != "end":
        match = TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            line = text.count("\n", 0, at) + 1
            raise IRSyntaxError(f"line {line}: {text[at : at + 20].strip()!r} is no token")
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


class Reader:
    """Reads tokens in order; `symbols` are those that a name stands for."""

    def __init__(self, text: str, symbols: Iterable[Symbol]) -> None:
        self._tokens = tokens(text)
        self._at: int = 0
        self._symbols = {s.name: s for s in symbols}

    def _peek(self, *texts: str) -> bool:
        kind, text = self._tokens[self._at]
        return kind != "string" and text in texts

    def _next(self, *kinds: str) -> str:
        kind, text = self._tokens[self._at]
        if kind not in kinds:
            self._fail(f"expected {' or '.join(kinds)}")
        self._at += 1
        return text

    def _take(self, text: str) -> bool:
        found = self._peek(text)
        self._at += found
        return found

    def _expect(self, text: str) -> None:
        if not self._take(text):
            self._fail(f"expected {text!r}")

    def _fail(self, message: str) -> NoReturn:
        before = " ".join(t for _, t in self._tokens[max(0, self._at - 5) : self._at])
        raise IRSyntaxError(f"{message} after `{before}`, not {self._tokens[self._at][1]!r}")

    def _list(self, one: Callable[[], T], close: str) -> tuple[T, ...]:
        """Things with commas between them up to `close`, which is read."""
        items: list[T] = []
        while not self._take(close):
            if items:
                self._expect(",")
            items.append(one())
        return tuple(items)

    def _bracketed(self, one: Callable[[], T]) -> tuple[T, ...]:
        self._expect("[")
        return self._list(one, "]")

    def _word(self) -> str:
        kind, text = self._tokens[self._at]
        if kind == "string":
            return self._string()
        self._next("word", "string")
        return text

    def _string(self) -> str:
        text = self._next("string")
        try:
            return json.loads(text)
        except ValueError:
            self._at -= 1
            self._fail("expected a string as in JSON")

    def _int(self) -> int:
        sign = -1 if self._take("-") else 1
        return sign * self._natural(self._next("int"))

    def _natural(self, digits: str) -> int:
        """The number that the token just read is, all of it or after a mark."""
        try:
            return int(digits)
        except ValueError:
            self._at -= 1
            self._fail("expected a number that is not too long")

    # --- dimensions ---------------------------------------------------------

    def _dim(self) -> Dim:
        """A sum; `/` is floor division."""
        total = -self._term() if self._take("-") else self._term()
        while self._peek("+", "-"):
            total = total + self._term() if self._take("+") else self._minus(total)
        return total

    def _minus(self, total: Dim) -> Dim:
        self._expect("-")
        return total - self._term()

    def _term(self) -> Dim:
        product = self._factor()
        while self._peek("*", "/", "%"):
            product = self._combined(product, self._next("mark"), self._factor())
        return product

    def _combined(self, a: Dim, mark: str, b: Dim) -> Dim:
        try:
            return a * b if mark == "*" else a // b if mark == "/" else a % b
        except DimError as error:
            self._fail(str(error))

    def _factor(self) -> Dim:
        if self._take("("):
            inner = self._dim()
            self._expect(")")
            return inner
        if self._tokens[self._at][0] == "int":
            return Dim.of(self._int())
        name = self._next("word")
        if name in ("min", "max") and self._take("("):
            return (dim_min if name == "min" else dim_max)(*self._list(self._dim, ")"))
        if name not in self._symbols:
            self._symbols[name] = Symbol(name.partition("~")[0])
        return Dim.of(self._symbols[name])
