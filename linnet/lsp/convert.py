"""Places and findings of the compiler as the protocol has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec

from linnet.lsp.analysis import path_of
from linnet.lsp.positions import Places
from linnet.lsp.session import Session
from linnet.source.diagnostics import Diagnostic
from linnet.source.files import SourceFile, Span

SOURCE = "linnet"
_UNUSED = frozenset({"W1001", "W1002", "W1003"})
_TOP = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))


@dataclass(slots=True)
class Convert:
    """Converts for one editor, which counts columns in the units of `codec`."""

    session: Session
    codec: PositionCodec
    _places: dict[SourceFile, Places] = field(default_factory=dict[SourceFile, Places])

    def places(self, file: SourceFile) -> Places:
        """The places of a source."""
        if file not in self._places:
            self._places[file] = Places(file.text, self.codec)
        return self._places[file]

    def uri(self, path: Path) -> str:
        """How the editor names a real path."""
        buffer = self.session.buffers.get(path)
        return buffer.uri if buffer else from_fs_path(str(path)) or path.as_uri()

    def range(self, span: Span) -> lsp.Range:
        """The range of a span in its source."""
        return self.places(span.file).range(span.start, span.end)

    def location(self, span: Span) -> lsp.Location:
        """The place of a span among all files."""
        return lsp.Location(self.uri(path_of(span.file)), self.range(span))

    def diagnostic(self, found: Diagnostic) -> lsp.Diagnostic:
        """A finding; one without a place stands at the top of the file that it is told of."""
        severity = lsp.DiagnosticSeverity
        return lsp.Diagnostic(
            range=self.range(found.span) if found.span else _TOP,
            message=message(found),
            severity=severity.Error if found.severity == "error" else severity.Warning,
            code=found.code,
            source=SOURCE,
            tags=[lsp.DiagnosticTag.Unnecessary] if found.code in _UNUSED else None,
            related_information=[
                lsp.DiagnosticRelatedInformation(self.location(place.span), place.label)
                for place in found.related
            ],
        )


def message(found: Diagnostic) -> str:
    """All that a finding says, apart from its places."""
    lines = [found.message, *([found.label] if found.label else [])]
    lines += [f"note: {note}" for note in found.notes]
    return "\n".join([*lines, *([f"help: {found.help}"] if found.help else [])])
