"""The server: what an editor sends, and which part of the folder answers it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import to_fs_path

from linnet import __version__
from linnet.lsp.analysis import Analysis
from linnet.lsp.convert import Convert
from linnet.lsp.publish import Publisher
from linnet.lsp.session import Buffer, Session
from linnet.packages.manifest import MANIFEST
from linnet.packages.package import SUFFIX
from linnet.packages.text import real
from linnet.source.files import SourceFile


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text that was checked."""

    analysis: Analysis
    file: SourceFile
    offset: int


class Server(LanguageServer):
    """A language server for one editor."""

    def __init__(self) -> None:
        # Whole texts: they are small, and the library counts lines of a change otherwise than
        # the protocol does where a text holds other separators.
        kind = lsp.TextDocumentSyncKind.Full
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "linnet", __version__, kind, protocol_cls=Protocol
        )
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

    def analysis(self, uri: str) -> tuple[Analysis, Path] | None:
        """What is known of the package of a text, and the real path of the text."""
        path = source_at(uri)
        return None if path is None else (self.session.analysis(path), path)

    def everywhere(self, first: Analysis | None = None) -> list[Analysis]:
        """What is known of all packages that are open or lie in the folders of the editor, and
        `first`, at the beginning."""
        folders = [path_at(uri) for uri in self.workspace.folders]
        every = self.session.every([folder for folder in folders if folder is not None])
        if first is None:
            return list(every)
        return [first, *(analysis for analysis in every if analysis.unit != first.unit)]

    def place(self, uri: str, position: lsp.Position) -> Place | None:
        """The place of a position, None if there is no such text or it has nothing to look at."""
        found = self.analysis(uri)
        file = found and found[0].source(found[1])
        if found is None or file is None:
            return None
        return Place(found[0], file, self.convert().places(file).offset(position))

    def guarded(self, answer: Callable[[], Any], *passed: type[Exception]) -> Any:
        """What `answer` gives; None, and a line in the editor's log, after a mistake of ours.
        Exceptions that are `passed` are none."""
        try:
            return answer()
        except passed:
            raise
        except Exception:
            text = f"linnet lsp made a mistake:\n{traceback.format_exc()}"
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, text))
            return None


def path_at(uri: str) -> Path | None:
    """The real path of a file; None for a text that is none."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return real(Path(path)) if path else None


def source_at(uri: str) -> Path | None:
    """The real path of a source; None for a text that is none. A folder is no source, and to
    check all that is in one may take forever."""
    path = path_at(uri)
    return path if path is not None and path.suffix == SUFFIX and not path.is_dir() else None


class Protocol(LanguageServerProtocol):
    """A request that cannot be read is answered too: an editor may wait for it."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """What a message says."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


def add_texts(server: Server) -> None:
    """What tells of texts: they are kept, and their findings published."""

    def take(uri: str) -> None:
        path = source_at(uri)
        # An editor may tell the server of manifests too.
        if path is not None:
            document = server.workspace.get_text_document(uri)
            server.session.open(path, Buffer(uri, document.source, document.version))
            server.changed()

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        server.guarded(lambda: _watch(server))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.guarded(lambda: take(params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.guarded(lambda: take(params.text_document.uri))

    def drop(uri: str) -> None:
        path = source_at(uri)
        if path is not None:
            server.session.close(path)
            server.changed()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.guarded(lambda: drop(params.text_document.uri))

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.changed()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def written(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.changed()


def _watch(server: Server) -> None:
    """Ask an editor that can to tell of files that change outside it."""
    workspace = server.client_capabilities.workspace
    files = workspace and workspace.did_change_watched_files
    if files and files.dynamic_registration:
        patterns = [lsp.FileSystemWatcher(f"**/{name}") for name in (f"*{SUFFIX}", MANIFEST)]
        options = lsp.DidChangeWatchedFilesRegistrationOptions(patterns)
        method = lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = lsp.Registration("watch", method, options)
        server.client_register_capability(lsp.RegistrationParams([registration]))
