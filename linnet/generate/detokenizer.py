"""From tokens to text, as they come: no character is given on before all its bytes are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

# What decoders write for bytes that are no UTF-8, and for a character that is not complete.
BROKEN = "\ufffd"


class Decoder(Protocol):
    """From tokens to their text."""

    def decode(self, tokens: Sequence[int]) -> str: ...


class Detokenizer:
    """Decodes the last tokens together with those of a complete text before them, as what a token
    looks like depends on these: a space at the beginning, a part of a character."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._before: list[int] = []
        self._new: list[int] = []
        self._given = ""  # of the text of `_before` and `_new`, what was given on

    def add(self, token: int) -> str:
        """What of the text is sure with this token."""
        self._new.append(token)
        text = self._decoder.decode([*self._before, *self._new])
        sure = text.rstrip(BROKEN)
        complete = sure == text
        if not complete and not sure.startswith(self._given):
            # Decoders of bytes as tokens take a whole run back for a part of a character.
            return ""
        piece = sure[len(self._given) :]
        self._given = sure
        if complete and piece:
            self._before, self._new = self._new, []
            self._given = self._decoder.decode(self._before)
        return piece

    def end(self) -> str:
        """The rest; an incomplete character is one U+FFFD."""
        text = self._decoder.decode([*self._before, *self._new])
        rest = text[len(self._given) :]
        whole = rest.rstrip(BROKEN)
        return rest if whole == rest else whole + BROKEN
