"""The server: what an editor sends, and which part of the folder answers it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from linnet import __version__
from linnet.lsp.convert import Convert
from linnet.lsp.publish import Publisher
from linnet.lsp.session import Buffer, Session
from linnet.packages.text import real


class Server(LanguageServer):
    """A language server for one editor."""

    def __init__(self) -> None:
        # Whole texts: they are small, and the library counts lines of a change otherwise than
        # the protocol does where a text holds other separators.
        kind = lsp.TextDocumentSyncKind.Full
        super().__init__("linnet", __version__, kind)  # pyright: ignore[reportUnknownMemberType]
        self.session = Session()
        self.publisher = Publisher(
            self.session, self.convert, self.text_document_publish_diagnostics
        )

    def convert(self) -> Convert:
        """The conversion for this editor."""
        return Convert(self.session, self.workspace.position_codec)

    def changed(self) -> None:
        """Something is another text now: tell what is wrong, soon."""
        self.session.forget()
        self.publisher.soon(lambda: self.guarded(self.publisher.publish))

    def guarded(self, answer: Callable[[], Any]) -> Any:
        """What `answer` gives; None, and a line in the editor's log, after a mistake of ours."""
        try:
            return answer()
        except Exception:
            text = f"linnet lsp made a mistake:\n{traceback.format_exc()}"
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, text))
            return None


def serve() -> None:
    """Serve the editor at standard input and output until it leaves."""
    server = Server()
    _texts(server)
    # The server closes what it speaks through, and nothing else may be written there.
    protocol = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    server.start_io(stdout=protocol)


def path_at(uri: str) -> Path | None:
    """The real path of a file; None for a text that is none."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return real(Path(path)) if path else None


def _texts(server: Server) -> None:
    """What tells of texts: they are kept, and their findings published."""

    def take(uri: str) -> None:
        path = path_at(uri)
        if path is not None:
            document = server.workspace.get_text_document(uri)
            server.session.open(path, Buffer(uri, document.source, document.version))
            server.changed()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.guarded(lambda: take(params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.guarded(lambda: take(params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        path = path_at(params.text_document.uri)
        if path is not None:
            server.session.close(path)
            server.changed()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.changed()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def written(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.changed()
