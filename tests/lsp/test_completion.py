"""Completion in texts that are half typed. The place is `|`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.lsp.editor import Editor, items, package, position

TEXT = """
    use std.random
    use std.nn.linear::{Linear as Dense}

    /// Two of a kind.
    struct Pair<N: Dim> {
        first: Tensor[N; f32]
        second: Tensor[N; f32]
    }

    enum Mode { Sum, Mean }

    fn scaled<N: Dim>(x: Tensor[N; f32], factor: f32, shift: f32 = 0.0) -> Tensor[N; f32] {
        return x * factor + shift
    }

    fn pair_of<N: Dim>(x: Tensor[N; f32]) -> Pair<N> {
        return Pair { first: x, second: x }
    }

    block Net<H: Dim> {
        sub dense: Dense<H, H, f32>
        sub layers: [Inner<H>; 3]
        param bias: Tensor[H; f32]

        pub fn run(x: Tensor[1, H; f32], mode: Mode) -> Tensor[1, H; f32] {
            let pair = pair_of(bias)
            BODY
            return x
        }
    }

    block Inner<H: Dim> {
        pub fn outer(x: f32) -> f32 { return x }
        fn secret(x: f32) -> f32 { return x }
    }
"""


async def completed(editor: Editor, path: Path, text: str) -> dict[str, lsp.CompletionItem]:
    """What is offered at the `|` of a text."""
    before, _, after = text.partition("|")
    uri = path.as_uri()
    if uri in editor.versions:
        editor.change(uri, before + after)
    else:
        editor.open(path, before + after)
    asked = lsp.CompletionParams(
        lsp.TextDocumentIdentifier(uri), position(before + after, len(before))
    )
    found = await editor.client.text_document_completion_async(asked)
    assert not isinstance(found, lsp.CompletionList)
    return {item.label: item for item in found or []}


def in_body(text: str) -> str:
    return items(TEXT.replace("BODY", text))


@pytest.mark.parametrize(
    ("text", "exactly"),
    [
        ("let y = pair.|", {"first", "second"}),
        ("let y = pair.fi|", {"first", "second"}),
        ("let y = pair_of(bias).|", {"first", "second"}),
        ("let y = /* 😀 */ pair.|first", {"first", "second"}),
        ("let y = scaled(pair.|", {"first", "second"}),
        ("let y = dense.|", {"forward"}),
        ("static for layer in layers { let y = layer.| }", {"outer"}),
        ("let y = Mode.|", {"Sum", "Mean"}),
        ("let y = match mode { |  => 1 }", {"Sum", "Mean"}),
        ("let y = Pair { | }", {"first", "second"}),
        ("let y = Pair { first: bias, s| }", {"second"}),
        ("let y = bias.|", set[str]()),
        ("let y = nothing.|", set[str]()),
        ("let y = 1|", set[str]()),
        ("let |", set[str]()),
        ("// pai|", set[str]()),
        ('let y = "pai|"', set[str]()),
    ],
)
async def test_only_these(editor: Editor, tmp_path: Path, text: str, exactly: set[str]) -> None:
    assert set(await completed(editor, tmp_path / "a.linnet", in_body(text))) == exactly


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("let y = |", {"pair", "bias", "x", "H", "scaled", "Pair", "exp", "if"}, {"param", "use"}),
        ("let y = pa|", {"pair", "pair_of"}, set[str]()),
        ("le|", {"let", "var", "while", "return"}, {"param", "struct"}),
        ("let y = scaled(|)", {"x = ", "factor = ", "shift = ", "bias"}, set[str]()),
        ("let y = scaled(bias, |)", {"factor = ", "shift = ", "pair"}, {"x = "}),
        ("let y = scaled(bias, shift = 1.0, |)", {"factor = "}, {"x = ", "shift = "}),
        ("let y = scaled(bias, factor = |)", {"bias", "f32"}, {"factor = "}),
        ("let y = scaled(bias, |", {"factor = ", "bias"}, set[str]()),
        ("let y: |", {"f32", "Tensor", "Pair", "Mode"}, {"param"}),
        ("let y[i] = bias[|]", {"i", "H"}, {"j"}),
        ("let y = sum[k] bias[|]", {"k"}, set[str]()),
        ("let y = ) ) |", {"pair", "bias", "Pair", "Dense"}, set[str]()),
        ("let y = random.|", {"normal"}, {"pair", "first"}),
        ("static for i in 0..3 { let y = | }", {"i", "pair"}, set[str]()),
    ],
)
async def test_these_and_not_those(
    editor: Editor, tmp_path: Path, text: str, some: set[str], none: set[str]
) -> None:
    found = set(await completed(editor, tmp_path / "a.linnet", in_body(text)))
    assert some - found == set()
    assert none & found == set()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("|", {"module"}),
        ("mod|", {"module"}),
        ("module a\n\n|", {"use", "pub", "const", "struct", "fn", "op", "block", "type"}),
        ("module a\n\nblock B {\n    |\n}\n", {"param", "buffer", "state", "sub", "fn", "pub"}),
        ("module a\n\nblock B {\n    sub d: B\n    p|\n}\n", {"param", "pub", "sub"}),
        ("module a\n\nuse std.special\n\nblock B {\n    p|\n}\n", {"param", "pub", "sub"}),
    ],
)
async def test_keywords(editor: Editor, tmp_path: Path, text: str, words: set[str]) -> None:
    found = await completed(editor, tmp_path / "a.linnet", text)
    assert words <= set(found)
    assert all(i.kind == lsp.CompletionItemKind.Keyword for i in found.values())


async def test_what_is_said_of_one(editor: Editor, tmp_path: Path) -> None:
    found = await completed(editor, tmp_path / "a.linnet", in_body("let y = |"))
    pair = found["Pair"]
    assert pair.kind == lsp.CompletionItemKind.Struct
    assert isinstance(pair.documentation, lsp.MarkupContent)
    assert pair.documentation.value == "Two of a kind."
    assert found["pair"].detail == "let pair: Pair<H>"


async def test_modules_and_their_items(editor: Editor, tmp_path: Path) -> None:
    package(tmp_path / "q", lib="module p\n\npub fn far() -> i32 {\n    return 1\n}\n")
    public = "pub fn near() -> i32 {\n    return 1\n}\n\nfn own() -> i32 {\n    return 1\n}\n"
    source = package(tmp_path / "p", lib="module p\n", a=f"module p.a\n\n{public}")
    with (tmp_path / "p" / "linnet.toml").open("a") as manifest:
        manifest.write('[dependencies]\nq = { path = "../q" }\n')

    async def offered(text: str) -> set[str]:
        return set(await completed(editor, source / "lib.linnet", f"module p\n\n{text}"))

    assert await offered("use |") == {"std", "crate", "q"}
    assert {"random", "nn", "quant"} <= await offered("use std.|")
    assert {"linear", "norm"} <= await offered("use std.nn.|\n\nfn f() -> i32 {\n    return 1\n}\n")
    assert {"Linear"} <= await offered("use std.nn.linear::{|}\n")
    assert await offered("use crate.|") == {"a"}
    assert await offered("use crate.a::{|") == {"near"}
    assert await offered("use crate.a::{near, |}") == set()
    assert await offered("use q::{|}") == {"far"}
    assert await offered("use nowhere.|") == set()
    # An unsaved text wins.
    editor.open(source / "a.linnet", "module p.a\n\npub fn new() -> i32 {\n    return 1\n}\n")
    editor.open(source / "b.linnet", "module p.b\n")
    assert await offered("use crate.a::{|}") == {"new"}
    assert await offered("use crate.|") == {"a", "b"}


async def test_at_every_place_of_a_text(editor: Editor, tmp_path: Path) -> None:
    """Whatever was typed so far, and whatever follows: an answer, and no mistake of the server."""
    text = in_body("let y = pair.first")
    for end in range(0, len(text), 47):
        await completed(editor, tmp_path / "a.linnet", text[:end] + "|")
        await completed(editor, tmp_path / "a.linnet", text[:end] + "|" + text[end + 7 :])
