"""Places of a text as an editor counts them: lines from 0, and columns in UTF-16 units unless the
editor asked for another encoding."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from linnet.lsp.edits import Edit

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(slots=True)
class Places:
    """The places of `text`, told to an editor in the units of `codec`."""

    text: str
    codec: PositionCodec
    _starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(self.text))]

    def position(self, offset: int) -> lsp.Position:
        """The position of a character offset."""
        line = bisect_right(self._starts, offset) - 1
        before = self.text[self._starts[line] : offset]
        return lsp.Position(line, self.codec.client_num_units(before))

    def range(self, start: int, end: int) -> lsp.Range:
        """The range of the characters `start` (included) to `end` (excluded)."""
        return lsp.Range(self.position(start), self.position(end))

    def edit(self, edit: Edit) -> lsp.TextEdit:
        """A change of the text."""
        return lsp.TextEdit(self.range(edit.start, edit.end), edit.text)

    def offset(self, position: lsp.Position) -> int:
        """The character offset of a position. One behind the end of its line is that end, one
        within a character is the character's start."""
        if position.line >= len(self._starts):
            return len(self.text)
        at = self._starts[position.line]
        end = _LINE_END.search(self.text, at)
        stop = end.start() if end else len(self.text)
        left = position.character
        while at < stop and (left := left - self.codec.client_num_units(self.text[at])) >= 0:
            at += 1
        return at

    def whole(self) -> lsp.Range:
        """The range of all the text."""
        return self.range(0, len(self.text))
