"""What the Python API raises for a user's mistake: findings, never a bare message."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.render import render_text


class LinnetError(Exception):
    """Findings that end an operation; `str()` is their rendered text."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n\n".join(render_text(d).rstrip("\n") for d in self.diagnostics)


def raise_errors(sink: Sink) -> None:
    """Raise a `LinnetError` of all findings of `sink` if an error is among them."""
    if sink.errors:
        raise LinnetError(sink)
