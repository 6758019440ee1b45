"""An editor for tests: it speaks the protocol to one server, and waits for what it tells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

TIMEOUT = 20.0
MANIFEST = '[package]\nname = "p"\nversion = "0.1.0"\nlanguage = "0.1"\n'


@dataclass
class Editor:
    """`told` is the last that the server published of each file, with the version it was of."""

    client: LanguageClient
    told: dict[str, lsp.PublishDiagnosticsParams] = field(
        default_factory=dict[str, lsp.PublishDiagnosticsParams]
    )
    versions: dict[str, int] = field(default_factory=dict[str, int])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def publish(self, params: lsp.PublishDiagnosticsParams) -> None:
        """The server tells of a file."""
        self.told[params.uri] = params
        self.news.set()

    def open(self, path: Path, text: str) -> str:
        """Show a text as that of a file, which need not exist; its URI."""
        uri = path.as_uri()
        self.versions[uri], self.texts[uri] = 1, text
        document = lsp.TextDocumentItem(uri, "linnet", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        return uri

    def change(self, uri: str, text: str) -> None:
        """Type: the file has another text now."""
        self.versions[uri] += 1
        self.texts[uri] = text
        document = lsp.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        changes = [lsp.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, changes))

    def close(self, uri: str) -> None:
        """Show a file no longer."""
        del self.versions[uri]
        document = lsp.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))

    @asynccontextmanager
    async def folder(self, path: Path) -> AsyncGenerator[None]:
        """Have a folder open."""
        folder = lsp.WorkspaceFolder(path.as_uri(), path.name)
        self._folders([folder], [])
        try:
            yield
        finally:
            self._folders([], [folder])

    def _folders(
        self, added: list[lsp.WorkspaceFolder], removed: list[lsp.WorkspaceFolder]
    ) -> None:
        event = lsp.WorkspaceFoldersChangeEvent(added, removed)
        params = lsp.DidChangeWorkspaceFoldersParams(event)
        self.client.workspace_did_change_workspace_folders(params)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until the server has told enough."""
        async with asyncio.timeout(TIMEOUT):
            while not holds():
                self.news.clear()
                await self.news.wait()

    async def findings(self, uri: str) -> list[lsp.Diagnostic]:
        """What the server finds in the text that is shown now."""
        wanted = self.versions[uri]
        await self.until(lambda: uri in self.told and self.told[uri].version == wanted)
        return self.found(uri)

    def found(self, uri: str) -> list[lsp.Diagnostic]:
        """What the server has last told of a file, also of one that is not open."""
        return list(self.told[uri].diagnostics)

    async def codes(self, uri: str) -> list[tuple[int | str | None, str]]:
        """The code of each finding of a text, and what it marks."""
        return [(d.code, self.marked(uri, d.range)) for d in await self.findings(uri)]

    def marked(self, uri: str, range_: lsp.Range) -> str:
        """The text of a range: lines from 0, columns in UTF-16 units."""
        start, end = (offset(self.texts[uri], at) for at in (range_.start, range_.end))
        return self.texts[uri][start:end]

    def at(self, uri: str, text: str, number: int = 0) -> lsp.TextDocumentPositionParams:
        """The place of an occurrence of `text`, of its `|` if it has one."""
        before, _, after = text.partition("|") if "|" in text else ("", "", text)
        found = -1
        for _ in range(number + 1):
            found = self.texts[uri].index(before + after, found + 1)
        return lsp.TextDocumentPositionParams(
            lsp.TextDocumentIdentifier(uri), position(self.texts[uri], found + len(before))
        )


def items(text: str) -> str:
    """A module `a` of these items, which the tests write with as little indentation as Python."""
    return f"module a\n\n{dedent(text).strip()}\n"


def applied_edits(text: str, edits: Iterable[lsp.TextEdit]) -> str:
    """A text after edits that do not overlap."""
    for edit in sorted(edits, key=lambda e: offset(text, e.range.start), reverse=True):
        start, end = offset(text, edit.range.start), offset(text, edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


def position(text: str, at: int) -> lsp.Position:
    """The position of a character: lines end in a line feed, columns count UTF-16 units."""
    line = text[:at].rpartition("\n")[2]
    return lsp.Position(text.count("\n", 0, at), len(line.encode("utf-16-le")) // 2)


def offset(text: str, at: lsp.Position) -> int:
    """The inverse of `position`."""
    lines = text.split("\n")
    units = lines[at.line].encode("utf-16-le")[: 2 * at.character]
    return sum(len(line) + 1 for line in lines[: at.line]) + len(units.decode("utf-16-le"))


def package(folder: Path, **modules: str) -> Path:
    """A package `p` on disk, with its modules."""
    (folder / "src").mkdir(parents=True)
    (folder / "linnet.toml").write_text(MANIFEST, "utf-8")
    for name, text in modules.items():
        (folder / "src" / f"{name}.linnet").write_text(text, "utf-8")
    return folder / "src"
