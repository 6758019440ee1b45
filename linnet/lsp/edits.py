"""Changes of texts, and where they move the places behind them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """A text in the place of the characters `start` (included) to `end` (excluded)."""

    start: int
    end: int
    text: str


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after all of `edits`, which do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def moved(offset: int, edits: Iterable[Edit]) -> int:
    """Where the character at `offset`, which begins an edit or is in none, stands after them."""
    before = (edit for edit in edits if edit.start < offset)
    return offset + sum(len(edit.text) - (edit.end - edit.start) for edit in before)
