"""Files as bytes, source texts, and places in them."""

from __future__ import annotations

import errno
import stat
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path


def read_file(path: Path) -> bytes:
    """The bytes of a file; an `OSError` if it cannot be read or is something else than a file.

    Opening a pipe would wait for its other end, and a device may never end.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Is not a file")
    return path.read_bytes()


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """A text with the name it is shown under. Two files are equal only if they are the same."""

    path: str
    text: str = field(repr=False)
    _starts: list[int] = field(default_factory=list[int], repr=False)

    def line_starts(self) -> list[int]:
        """The offset at which each line begins."""
        if not self._starts:
            self._starts.append(0)
            at = self.text.find("\n")
            while at >= 0:
                self._starts.append(at + 1)
                at = self.text.find("\n", at + 1)
        return self._starts

    def position(self, offset: int) -> Position:
        """The line and column, both from 1, of a character offset."""
        starts = self.line_starts()
        line = bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1, offset)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        starts = self.line_starts()
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column count from 1, the offset in characters from 0."""

    line: int
    column: int
    offset: int


@dataclass(frozen=True, slots=True)
class Span:
    """The characters `start` (included) to `end` (excluded) of a file."""

    file: SourceFile
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the beginning of this one to the end of `other`."""
        return Span(self.file, min(self.start, other.start), max(self.end, other.end))

    @property
    def text(self) -> str:
        return self.file.text[self.start : self.end]
