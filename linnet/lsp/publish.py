"""Findings to the editor: of all packages with an open text, a moment after the last change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types as lsp

from linnet.lsp.analysis import Analysis, path_of
from linnet.lsp.convert import Convert
from linnet.lsp.session import Session

# Seconds without a change after which the findings are told.
QUIET = 0.15

Send = Callable[[lsp.PublishDiagnosticsParams], None]


@dataclass(slots=True)
class Publisher:
    """Tells the findings of a session with `send`, and takes back what is no longer found."""

    session: Session
    convert: Callable[[], Convert]
    send: Send
    _told: set[str] = field(default_factory=set[str])
    _waiting: asyncio.TimerHandle | None = None

    def soon(self, run: Callable[[], None]) -> None:
        """`run`, which publishes, once there was no change for a while."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(QUIET, run)

    def publish(self) -> None:
        """Tell what is found now."""
        convert = self.convert()
        found: dict[str, dict[str, lsp.Diagnostic]] = {}
        for analysis in self.session.every():
            self._collect(analysis, convert, found)
        for uri in self._told - found.keys():
            self.send(lsp.PublishDiagnosticsParams(uri, []))
        versions = {buffer.uri: buffer.version for buffer in self.session.buffers.values()}
        for uri, diagnostics in found.items():
            version = versions.get(uri)
            self.send(lsp.PublishDiagnosticsParams(uri, [*diagnostics.values()], version))
        self._told = {uri for uri, diagnostics in found.items() if diagnostics}

    def _collect(
        self, analysis: Analysis, convert: Convert, found: dict[str, dict[str, lsp.Diagnostic]]
    ) -> None:
        """Add the findings of a package by file; an open file is there though it has none."""
        top = self._top(analysis)
        for path in self.session.buffers:
            if path in analysis.paths.values() or path == top:
                found.setdefault(convert.uri(path), {})
        for finding in analysis.checked.sink:
            path = path_of(finding.span.file) if finding.span else top
            told = convert.diagnostic(finding)
            found.setdefault(convert.uri(path), {})[repr(told)] = told

    def _top(self, analysis: Analysis) -> Path:
        """The open file that is told what is wrong with no text."""
        inside = (p for p in self.session.buffers if p.is_relative_to(analysis.unit))
        return next(inside, analysis.unit)
