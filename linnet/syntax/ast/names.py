"""Names and paths."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.source.files import Span


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class ModulePath:
    """`std.nn.linear`; `parts` has at least one name."""

    parts: tuple[Name, ...]
    span: Span

    def dotted(self) -> str:
        return ".".join(p.text for p in self.parts)
