"""Tokens and the words of the language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from linnet.source.files import SourceFile, Span


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


KEYWORDS = words(
    "module use pub crate self super as const type struct enum fn op block entry param buffer "
    "state sub let var return if else match static for in while where true false none some "
    "extern"
)
RESERVED = words(
    "async await effect unsafe macro trait impl derive random rng mut ref yield kernel device"
)
REDUCTIONS = words("sum prod max min any all")
# A token of one of these types ends an operand: a `-` after it is the binary one.
OPERAND_ENDS = words("NAME INT FLOAT STRING RPAR RSQB RBRACE")

# The name that the grammar knows a word or a sign by. Any other sign is one of another language
# (`**`, `+=`), gets the type FOREIGN, and is nowhere accepted.
KINDS: dict[str, str] = {
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    "{": "LBRACE",
    "}": "RBRACE",
    "<": "BINARY",
    ">": "BINARY",
    ",": "COMMA",
    ".": "DOT",
    ":": "COLON",
    ";": "SEMICOLON",
    "=": "EQUAL",
    "?": "QMARK",
    "!": "BANG",
    "*": "STAR",
    "+": "SIGN",
    "-": "SIGN",
    "->": "ARROW",
    "=>": "FAT_ARROW",
    "::": "PATH_SEP",
    "..": "RANGE",
    "...": "ELLIPSIS",
    **dict.fromkeys(("||", "&&", "==", "!=", "<=", ">=", "|", "^", "&", "/", "%"), "BINARY"),
    **{word: word.upper() for word in KEYWORDS},
    **dict.fromkeys(RESERVED, "RESERVED"),
}


@dataclass(slots=True)
class Token:
    """A word at a place. `type` is a terminal of `linnet.lark`; resolving may change it."""

    type: str
    text: str
    start: int
    end: int
    file: SourceFile

    @property
    def span(self) -> Span:
        return Span(self.file, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment from its first character to after its last; a line comment ends before the line
    feed. `kind` is `line` for `//`, `block` for `/* */`, and `doc` for either as documentation."""

    start: int
    end: int
    kind: Literal["line", "block", "doc"]


@dataclass(slots=True)
class Lexed:
    """The tokens of a file, its comments, both in order, and the numbers of the tokens that
    follow bad text."""

    tokens: list[Token]
    comments: list[Comment]
    after_error: set[int]
