"""Where the parser stopped, for those who say what was meant."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.syntax.tokens import Token


@dataclass(frozen=True, slots=True)
class Stop:
    """Where the parser stopped: token `at`, which is `found`, and the terminals it could take."""

    tokens: list[Token]
    at: int
    found: Token
    accepted: set[str]
    named: bool  # whether a name was to come, and nothing else than a name

    @property
    def text(self) -> str:
        return self.found.text

    def token(self, offset: int) -> Token | None:
        """The token so far before (or after) this one."""
        at = self.at + offset
        return self.tokens[at] if 0 <= at < len(self.tokens) else None

    def near(self, offset: int) -> str:
        token = self.token(offset)
        return token.text if token else ""

    def glued(self) -> bool:
        """Whether no space stands between this token and the one before it."""
        before = self.token(-1)
        return before is not None and before.end == self.found.start

    def unit(self) -> str:
        """The type of the keyword that the item or member begins with."""
        first = self.tokens[0].type if self.tokens else ""
        return self.tokens[1].type if first == "PUB" and len(self.tokens) > 1 else first
