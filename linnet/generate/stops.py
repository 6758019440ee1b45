"""Where a text ends before a given text, however the tokens cut it."""

from __future__ import annotations

from collections.abc import Iterable


class Stops:
    """Gives a text on as it comes, but for a tail that may become one of the stop texts, and
    nothing from the first stop text on.

    The first is the one that is complete first, of several the longest: what is given on does not
    depend on how the text is cut into pieces.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.hit = False

    def add(self, piece: str) -> str:
        """What of the text so far is sure."""
        if self.hit:
            return ""
        self._held += piece
        at = self._first()
        if at is not None:
            self.hit = True
            sure, self._held = self._held[:at], ""
            return sure
        return self._give(len(self._held) - self._open())

    def end(self) -> str:
        """What was held back, as nothing comes after it."""
        return self._give(len(self._held))

    def _give(self, count: int) -> str:
        sure, self._held = self._held[:count], self._held[count:]
        return sure

    def _first(self) -> int | None:
        """Where the first stop text begins."""
        found = [(at + len(s), at) for s in self._stops if (at := self._held.find(s)) >= 0]
        return min(found)[1] if found else None

    def _open(self) -> int:
        """The length of the longest tail with which a stop text begins."""
        longest = max((len(s) for s in self._stops), default=1) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(s.startswith(self._held[-length:]) for s in self._stops):
                return length
        return 0
