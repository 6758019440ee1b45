"""Formatting and inlay hints."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp

from tests.lsp.editor import Editor, items


async def formatted(editor: Editor, uri: str) -> str | None:
    options = lsp.FormattingOptions(4, True)
    asked = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(uri), options)
    edits = await editor.client.text_document_formatting_async(asked)
    if edits is None:
        return None
    (edit,) = edits
    assert editor.marked(uri, edit.range) == editor.texts[uri]
    return edit.new_text


async def test_formatting(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.linnet", "module  a\n\n// 😀\nfn f( x:i32 )->i32{return x}")
    wanted = "module a\n\n// 😀\nfn f(x: i32) -> i32 {\n    return x\n}\n"
    assert await formatted(editor, uri) == wanted
    editor.change(uri, wanted)
    assert await formatted(editor, uri) is None


async def test_a_text_with_mistakes_is_left_alone(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.linnet", "module  a\nfn f( x:i32 ->i32{return x}")
    assert await formatted(editor, uri) is None


async def test_hints(editor: Editor, tmp_path: Path) -> None:
    text = items("""
        fn f<N: Dim, M: Dim>(x: Tensor[N, M; bf16]) -> Tensor[N; f32] {
            let a /* 😀 */ = cast<f32>(x)
            let s[n] = sum[m] a[n, m]
            let (b, c) = (s, a[0:N, :])
            var d: Tensor[N; f32] = b
            var e = reshape(a, [N * M])
            let k = 3
            static for i in 0..4 { d = d + b }
            return d
        }
    """)
    uri = editor.open(tmp_path / "a.linnet", text)
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(100, 0))
    asked = lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), whole)
    found = list(await editor.client.text_document_inlay_hint_async(asked) or [])
    lines = text.split("\n")
    told = {(lines[h.position.line][: h.position.character].strip(), h.label) for h in found}
    assert told == {
        ("let a", ": Tensor[N, M; f32]"),
        ("let s[n]", ": Tensor[N; f32]"),
        ("let (b", ": Tensor[N; f32]"),
        ("let (b, c", ": Tensor[N, M; f32]"),
        ("var e", ": Tensor[M * N; f32]"),
        ("let k", ": i64"),
    }
    assert [bool(h.text_edits) for h in found] == [True, False, False, False, True, True]
    asked.range = lsp.Range(lsp.Position(6, 0), lsp.Position(7, 0))
    found = list(await editor.client.text_document_inlay_hint_async(asked) or [])
    assert [h.label for h in found] == []
    asked.range = lsp.Range(lsp.Position(3, 0), lsp.Position(4, 0))
    found = list(await editor.client.text_document_inlay_hint_async(asked) or [])
    assert [h.label for h in found] == [": Tensor[N, M; f32]"]
