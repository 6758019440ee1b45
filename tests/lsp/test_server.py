"""The server itself: what it says it can do, what it does about its own mistakes, how it ends."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig

from linnet.lsp.actions import actions
from linnet.lsp.analysis import analyze
from linnet.lsp.complete import completions
from linnet.lsp.hints import hints
from linnet.lsp.hover import hover
from linnet.lsp.references import definition, references
from linnet.lsp.rename import RenameError, renaming
from linnet.lsp.symbols import symbols
from tests.lsp.conftest import ENVIRONMENT, ROOT, Client, make_client
from tests.lsp.editor import TIMEOUT, Editor, items

GOOD = items("fn f(x: i32) -> i32 { return x }")
# A server whose hover is broken, as a mistake of ours would break it.
BROKEN = """
from linnet.lsp import features
from linnet.lsp.serve import serve

def hover(*given):
    raise ZeroDivisionError("a mistake of ours")

features.hover = hover
serve()
"""


async def test_what_it_can_do(client: Client) -> None:
    can = client.can
    assert can is not None
    assert can.position_encoding == lsp.PositionEncodingKind.Utf16
    assert isinstance(can.rename_provider, lsp.RenameOptions)
    assert can.rename_provider.prepare_provider
    assert can.completion_provider is not None
    assert [*(can.completion_provider.trigger_characters or [])] == ["."]
    for offered in (
        can.hover_provider,
        can.definition_provider,
        can.references_provider,
        can.document_symbol_provider,
        can.workspace_symbol_provider,
        can.document_formatting_provider,
        can.inlay_hint_provider,
        can.code_action_provider,
    ):
        assert offered


async def test_it_asks_to_be_told_of_files(client: Client) -> None:
    # It asks when it is told that the editor is ready, which no answer waits for: this one does.
    await client.workspace_symbol_async(lsp.WorkspaceSymbolParams(""))
    (registration,) = client.watched
    assert registration.method == lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES


async def test_a_mistake_of_ours_is_logged_and_not_the_end(tmp_path: Path) -> None:
    config = ClientServerConfig([sys.executable, "-c", BROKEN], make_client, ENVIRONMENT)
    client = await config.start()
    assert isinstance(client, Client)
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    await client.initialize_session(lsp.InitializeParams(capabilities=capabilities))
    client.editor = editor = Editor(client)
    uri = editor.open(tmp_path / "a.linnet", GOOD)
    at = editor.at(uri, "return |x")
    asked = lsp.HoverParams(at.text_document, at.position)
    assert await client.text_document_hover_async(asked) is None
    assert await client.text_document_hover_async(asked) is None
    logged = [m.message for m in client.log_messages if m.type == lsp.MessageType.Error]
    assert len(logged) == 2
    assert logged[0].startswith("linnet lsp made a mistake:")
    assert "ZeroDivisionError: a mistake of ours" in logged[0]
    assert await editor.codes(uri) == []
    await asyncio.wait_for(client.shutdown_session(), TIMEOUT)
    await client.stop()


@pytest.mark.parametrize("uri", ["file:///", ROOT.as_uri(), "", "untitled:Untitled-1", "a.linnet"])
async def test_what_is_no_source_is_answered_at_once(editor: Editor, uri: str) -> None:
    """A folder, for one, is not read: all of the disk may be in it."""
    document, start = lsp.TextDocumentIdentifier(uri), lsp.Position(0, 0)
    options = lsp.FormattingOptions(4, True)
    client = editor.client
    async with asyncio.timeout(TIMEOUT):
        assert await client.text_document_hover_async(lsp.HoverParams(document, start)) is None
        completing = lsp.CompletionParams(document, start)
        assert await client.text_document_completion_async(completing) is None
        formatting = lsp.DocumentFormattingParams(document, options)
        assert await client.text_document_formatting_async(formatting) is None


@pytest.mark.parametrize("line", [-1, 2**40])
async def test_a_request_that_cannot_be_read_is_answered(
    editor: Editor, tmp_path: Path, line: int
) -> None:
    uri = editor.open(tmp_path / "a.linnet", GOOD)
    at = lsp.Position(0, 0)
    object.__setattr__(at, "line", line)  # past the client's own check
    asked = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), at)
    with pytest.raises(JsonRpcException) as refused:
        await asyncio.wait_for(editor.client.text_document_hover_async(asked), TIMEOUT)
    assert refused.value.code == -32602  # invalid params
    assert await editor.codes(uri) == []


async def test_a_text_that_is_not_open_is_not_formatted(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.linnet"
    path.write_text("module  a\n", "utf-8")
    options = lsp.FormattingOptions(4, True)
    for uri in (path.as_uri(), (tmp_path / "b.linnet").as_uri()):
        asked = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(uri), options)
        assert await editor.client.text_document_formatting_async(asked) is None


def test_it_ends_with_its_editor() -> None:
    """Without a word of farewell, and with nothing on standard output."""
    command = [sys.executable, "-m", "linnet", "lsp"]
    done = subprocess.run(
        command, input=b"", capture_output=True, env=ENVIRONMENT, timeout=TIMEOUT, check=False
    )
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("seed", range(4))
def test_no_text_makes_a_mistake_of_ours(tmp_path: Path, seed: int) -> None:
    """Shipped sources with pieces left out, doubled and exchanged, asked about everywhere."""
    dice = random.Random(seed)
    sources = sorted((ROOT / "stdlib").rglob("*.linnet"))
    text = dice.choice(sources).read_text("utf-8").replace("module std.", "module ")
    for _ in range(dice.randrange(1, 6)):
        start = dice.randrange(len(text))
        end = min(len(text), start + dice.choice([1, 3, 20, 200]))
        piece = dice.choice(["", text[start:end] * 2, "}", "(", "😀", ".", '"', "/*", "fn "])
        text = text[:start] + piece + text[end:]
    path = tmp_path / "a.linnet"
    analysis = analyze(path, {path: text})
    file, tree = analysis.source(path), analysis.tree(path)
    if file is None or tree is None:
        return
    symbols(tree)
    list(hints(analysis, file, 0, len(text)))
    list(actions(tree, analysis.checked.sink, file, 0, len(text)))
    for offset in range(0, len(text), max(1, len(text) // 100)):
        hover(analysis, file, offset)
        definition(analysis, file, offset)
        found = analysis.names.at(file, offset)
        if found is not None and found.declaration is not None:
            places = references([analysis], found.declaration.meant, True)
            assert (path, found.span.start, found.span.end) in places
        try:
            renaming(analysis, file, offset)
        except RenameError as error:
            assert str(error)
    for _ in range(4):
        completions(path, file, dice.randrange(len(text)), {})
