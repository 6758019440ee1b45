"""What holds of the empty lines of a formatted text, said without the formatter."""

from __future__ import annotations

from itertools import pairwise

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.lexer import lex
from linnet.syntax.segment import Unit, segment
from linnet.syntax.tokens import Comment, Lexed, Token

_OPENERS = ("(", "[", "{")
_CLOSERS = (")", "]", "}")
_ONE_LINE = {
    "MODULE": "module", "USE": "use", "CONST": "names", "TYPE": "names", "MEMBER": "members",
}  # fmt: skip


def well_spaced(text: str) -> None:
    """No two empty lines, none inside brackets at their ends, and one between any two units but
    those of one line and one kind."""
    lexed = lex(SourceFile("test.linnet", text), Sink())
    pieces: list[Token | Comment] = [*lexed.tokens, *lexed.comments]
    pieces.sort(key=lambda piece: piece.start)
    for left, right in pairwise(pieces):
        limit = 2
        if text[left.start : left.end] in _OPENERS or text[right.start : right.end] in _CLOSERS:
            limit = 1
        assert text.count("\n", left.end, right.start) <= limit, text
    _units(text, lexed, segment(lexed.tokens))


def _units(text: str, lexed: Lexed, units: list[Unit]) -> None:
    for unit in units:
        _units(text, lexed, unit.members)
    for above, below in pairwise(units):
        gap = _gap(text, lexed, lexed.tokens[above.stop - 1], lexed.tokens[below.start])
        assert gap[:1] == "\n", text
        group = _ONE_LINE.get(above.kind)
        if group is None or group != _ONE_LINE.get(below.kind):
            assert gap == "\n\n", text


def _gap(text: str, lexed: Lexed, left: Token, right: Token) -> str:
    """The line ends before a unit and the comments that belong to it, behind those comments that
    end the line of the unit before it."""
    between = [c for c in lexed.comments if left.end <= c.start < right.start]
    ends = [left.end, *(comment.end for comment in between)]
    starts = [*(comment.start for comment in between), right.start]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    return next(("\n" * gap.count("\n") for gap in gaps if "\n" in gap), "")
