"""What each code means, at length: `linnet/diagnostics/E2203.md` and its like.

A page is prose and fenced examples in the order in which a reader meets them:

    ```linnet error                 gets the code of its page, and nothing else
    ```linnet                       repairs the one before: gets nothing
    ```linnet error src/a.linnet    a file; those that follow each other are one example

A repaired example has the files that it does not show from the rejected one before it.
The title of a page is the row of the code in `codes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from linnet.source.codes import CODES

FOLDER = Path(__file__).parents[1] / "diagnostics"
_FENCE = re.compile(r"^```(\w+)( error)?(?: (\S+))?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph, on one line."""

    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """A fenced text. `language` is `linnet`, `toml`, `json` or, for a command line, `sh`; `path` is
    the file that it is, empty where that does not matter."""

    language: str
    rejected: bool
    path: str
    text: str

    @property
    def caption(self) -> str:
        """The line above it: `Rejected, src/a.linnet`."""
        verdict = "Rejected" if self.rejected else "Accepted"
        return f"{verdict}, {self.path}" if self.path else verdict


@dataclass(frozen=True, slots=True)
class Explanation:
    """The page of a code."""

    code: str
    title: str
    parts: tuple[Prose | Example, ...]


def explanation(code: str) -> Explanation:
    """The page of a code of the catalogue."""
    text = (FOLDER / f"{code}.md").read_text("utf-8")
    return Explanation(code, CODES[code], tuple(_parts(text)))


def markdown(page: Explanation) -> str:
    """The body of a page as Markdown, without its title, ending in a line end."""
    return "\n".join(f"{_marked_up(part)}\n" for part in page.parts)


def _parts(text: str) -> Iterator[Prose | Example]:
    done = 0
    for fence in _FENCE.finditer(text):
        yield from _paragraphs(text[done : fence.start()])
        yield Example(fence[1], bool(fence[2]), fence[3] or "", fence[4])
        done = fence.end()
    yield from _paragraphs(text[done:])


def _paragraphs(text: str) -> Iterator[Prose]:
    for paragraph in re.split(r"\n[ \t]*\n", text):
        if paragraph.strip():
            yield Prose(" ".join(paragraph.split()))


def _marked_up(part: Prose | Example) -> str:
    if isinstance(part, Prose):
        return part.text
    return f"{part.caption}:\n\n```{part.language}\n{part.text}```"
