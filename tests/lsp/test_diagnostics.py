"""Findings while the user types: what, where, when, and that they go away."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.lsp.editor import MANIFEST, Editor, package, position

GOOD = "module a\n\npub fn f(x: i32) -> i32 {\n    return x\n}\n"


async def test_findings_come_and_go(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.linnet", GOOD)
    assert await editor.codes(uri) == []
    editor.change(uri, GOOD.replace("return x", "return y"))
    assert await editor.codes(uri) == [("E1201", "y")]
    editor.change(uri, GOOD)
    assert await editor.codes(uri) == []


async def test_all_that_a_finding_says(editor: Editor, tmp_path: Path) -> None:
    text = (
        "module a\n\n"
        "fn add<N: Dim>(a: Tensor[N; f32], b: Tensor[N; bf16]) -> Tensor[N; f32] {\n"
        "    return a + b\n}\n"
    )
    uri = editor.open(tmp_path / "a.linnet", text)
    (found,) = await editor.findings(uri)
    assert (found.code, found.source) == ("E2103", "linnet")
    assert found.severity == lsp.DiagnosticSeverity.Error
    first, *others = found.message.splitlines()
    assert first == "`+` needs one dtype on both sides: `f32` and `bf16`"
    assert any(line.startswith("help: ") and "cast<f32>" in line for line in others)
    places = found.related_information or []
    assert places and all(place.location.uri == uri for place in places)
    assert {editor.marked(uri, place.location.range) for place in places} <= {"a", "b"}


async def test_a_lint_is_a_warning(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(
        tmp_path / "a.linnet", GOOD.replace("    return", "    let y = x\n    return")
    )
    (found,) = await editor.findings(uri)
    assert (found.code, found.severity) == ("W1002", lsp.DiagnosticSeverity.Warning)
    assert [*(found.tags or [])] == [lsp.DiagnosticTag.Unnecessary]


@pytest.mark.parametrize("odd", ["😀", "e\u0301", "👩‍👩‍👧", "\u2028", "中文", "a\tb"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
async def test_columns_count_utf_16_units(
    editor: Editor, tmp_path: Path, odd: str, newline: str
) -> None:
    text = f"module a\n\npub fn f(x: i32) -> i32 {{\n    return /* {odd} */ wrong\n}}\n"
    text = text.replace("\n", newline)
    uri = editor.open(tmp_path / "a.linnet", text)
    (found,) = await editor.findings(uri)
    units = len(odd.encode("utf-16-le")) // 2
    assert found.range.start == lsp.Position(3, len("    return /*  */ ") + units)
    assert found.range.end == lsp.Position(3, len("    return /*  */ wrong") + units)


async def test_the_whole_package_is_told(editor: Editor, tmp_path: Path) -> None:
    source = package(tmp_path, lib="module p\n\nfn f() -> i32 {\n    return wrong\n}\n", a="")
    uri = editor.open(source / "a.linnet", GOOD.replace("module a", "module p.a"))
    assert await editor.codes(uri) == []
    lib = (source / "lib.linnet").as_uri()
    await editor.until(lambda: lib in editor.told)
    assert [d.code for d in editor.found(lib)] == ["E1201"]


async def test_an_unsaved_text_is_what_others_import(editor: Editor, tmp_path: Path) -> None:
    user = "module p.b\n\nuse crate.a::{size}\n\npub fn f() -> i64 {\n    return size()\n}\n"
    source = package(tmp_path, a="module p.a\n", b=user)
    b = editor.open(source / "b.linnet", user)
    assert await editor.codes(b) == [("E1201", "size")]
    # Not saved: `a` on disk still has no item.
    a = editor.open(source / "a.linnet", "module p.a\n\npub fn size() -> i64 {\n    return 3\n}\n")
    await editor.until(lambda: a in editor.told and editor.found(b) == [])
    editor.change(a, editor.texts[a].replace("size", "length"))
    await editor.until(lambda: len(editor.found(b)) == 1)
    editor.change(a, editor.texts[a].replace("length", "size"))
    await editor.until(lambda: editor.found(b) == [])
    editor.close(a)
    await editor.until(lambda: len(editor.found(b)) == 1)


async def test_a_file_that_is_not_saved_yet(editor: Editor, tmp_path: Path) -> None:
    source = package(tmp_path, lib="module p\n")
    uri = editor.open(source / "new.linnet", "module p.old\n")
    assert await editor.codes(uri) == [("E1202", "p.old")]


async def test_a_manifest_is_told_of(editor: Editor, tmp_path: Path) -> None:
    source = package(tmp_path, lib="module p\n")
    (tmp_path / "linnet.toml").write_text(MANIFEST.replace("[package]", "[pakage]"), "utf-8")
    editor.open(source / "lib.linnet", "module p\n")
    manifest = (tmp_path / "linnet.toml").as_uri()
    await editor.until(lambda: manifest in editor.told)
    assert {d.code for d in editor.found(manifest)} == {"E5001"}
    (tmp_path / "linnet.toml").write_text(MANIFEST, "utf-8")
    change = lsp.FileEvent(manifest, lsp.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))
    await editor.until(lambda: editor.found(manifest) == [])


async def test_a_manifest_is_no_source(editor: Editor, tmp_path: Path) -> None:
    source = package(tmp_path, lib="module p\n")
    manifest = editor.open(tmp_path / "linnet.toml", MANIFEST)
    uri = editor.open(source / "lib.linnet", "module p\n")
    assert await editor.codes(uri) == []
    assert manifest not in editor.told


async def test_a_closed_file_is_told_of_no_longer(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.linnet", GOOD.replace("return x", "return y"))
    assert len(await editor.findings(uri)) == 1
    editor.close(uri)
    await editor.until(lambda: editor.found(uri) == [])


async def test_text_that_is_half_typed(editor: Editor, tmp_path: Path) -> None:
    """Each beginning of a text is checked; the server is alive after all of them."""
    uri = editor.open(tmp_path / "a.linnet", "")
    text = GOOD + '\nblock B<N: Dim> where N > 0 {\n    param w: Tensor[N; f32]? = none /* "é */\n'
    for end in range(len(text)):
        editor.change(uri, text[:end])
    assert await editor.findings(uri)
    editor.change(uri, "\x00\ud7ff\ufeff}}}{{ fn <<<")
    assert await editor.findings(uri)


def test_position_is_of_utf_16() -> None:
    """The yardstick of these tests, by examples of the protocol's specification."""
    assert position("a𐐀b", 1) == lsp.Position(0, 1)
    assert position("a𐐀b", 2) == lsp.Position(0, 3)
    assert position("x\na𐐀b", 4) == lsp.Position(1, 3)
