"""Hover, definition, references and symbols."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.lsp.editor import Editor, items, package

BLOCK = items("""
    /// Scales every row.
    pub block Scale<H: Dim, T: Float> where H > 0 {
        /// One factor per column.
        param factor: Tensor[H; T]

        /// `x` times the factors.
        pub fn forward<B: Dim>(x: Tensor[B, H; T]) -> Tensor[B, H; T] {
            let y[b, h] = x[b, h] * factor[h]
            return y
        }
    }

    struct Pair<N: Dim> {
        first: Tensor[N; f32]
        second: Tensor[N; f32]
    }

    enum Mode { Sum, Mean }

    block Net<H: Dim, N: Dim> where H > 0 {
        sub scales: [Scale<H, f32>; N]
        sub last: Scale<H, f32>?

        pub entry run<B: Dim>(x: Tensor[B, H; f32]) -> Tensor[B, H; f32] {
            var y = x
            static for scale in scales {
                y = scale.forward(y)
            }
            return match last { some(tail) => tail.forward(x = y)  none => y }
        }
    }

    fn total<N: Dim>(pair: Pair<N>, mode: Mode) -> f32 {
        let all[i] = pair.first[i] + /* 😀 */ pair.second[i]
        let sums = sum[i] all[i]
        return match mode { Sum => sums  Mean => sums * 0.5 }
    }
""")


async def hovered(editor: Editor, uri: str, text: str, number: int = 0) -> str:
    at = editor.at(uri, text, number)
    found = await editor.client.text_document_hover_async(
        lsp.HoverParams(at.text_document, at.position)
    )
    assert found is not None and isinstance(found.contents, lsp.MarkupContent)
    return found.contents.value


async def defined(editor: Editor, uri: str, text: str, number: int = 0) -> lsp.Location:
    at = editor.at(uri, text, number)
    found = await editor.client.text_document_definition_async(
        lsp.DefinitionParams(at.text_document, at.position)
    )
    assert isinstance(found, lsp.Location)
    return found


async def referred(
    editor: Editor, uri: str, text: str, number: int = 0, declared: bool = True
) -> list[lsp.Location]:
    at = editor.at(uri, text, number)
    context = lsp.ReferenceContext(declared)
    found = await editor.client.text_document_references_async(
        lsp.ReferenceParams(context, at.text_document, at.position)
    )
    return list(found or [])


@pytest.fixture
async def uri(editor: Editor, tmp_path: Path) -> str:
    uri = editor.open(tmp_path / "a.linnet", BLOCK)
    assert [
        d for d in await editor.findings(uri) if d.severity == lsp.DiagnosticSeverity.Error
    ] == []
    return uri


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("|y = scale", ["var y: Tensor[B, H; f32]"]),
        ("let |y[b", ["let y: Tensor[B, H; T]"]),
        ("x[b, |h]", ["h in 0..H"]),
        ("let |all", ["let all: Tensor[N; f32]"]),
        ("let |sums", ["let sums: f32"]),
        (
            "scale.|forward",
            ["pub fn forward<B: Dim>(x: Tensor[B, H; T])", "`x` times the factors."],
        ),
        ("scale.|forward", ["gives `Tensor[B, H; f32]`"]),
        ("* |factor", ["param factor: Tensor[H; T]", "One factor per column."]),
        ("[|Scale<", ["pub block Scale<H: Dim, T: Float> where H > 0", "Scales every row."]),
        ("pair.|first", ["first: Tensor[N; f32]"]),
        ("{ |Sum =>", ["Sum"]),
        ("in |scales", ["sub scales: [Scale<H, f32>; N]"]),
        ("=> |tail.", ["tail of sub last: Scale<H, f32>?"]),
        ("first[i] |+", ["f32"]),
        ("* |0.5", ["f32"]),
        ("block Net<|H", ["H: Dim"]),
    ],
)
async def test_hover(editor: Editor, uri: str, text: str, parts: list[str]) -> None:
    said = await hovered(editor, uri, text)
    assert [part for part in parts if part not in said] == [], said


async def test_hover_knows_types_beside_a_mistake(editor: Editor, uri: str) -> None:
    editor.change(uri, BLOCK.replace("let sums =", "let bad = all + nothing\n        let sums ="))
    assert "let all: Tensor[N; f32]" in await hovered(editor, uri, "let |all")
    assert "let sums: f32" in await hovered(editor, uri, "let |sums")


@pytest.mark.parametrize(
    ("text", "declaration"),
    [
        ("return |y\n", "y[b, h] ="),
        ("x[|b, h] *", "b, h] ="),
        ("|x[b, h] *", "x: Tensor[B, H; T]"),
        ("scale.|forward", "forward<B"),
        ("tail.|forward", "forward<B"),
        ("forward(|x = y)", "x: Tensor[B, H; T]"),
        ("|tail.forward", "tail) =>"),
        ("in |scales {", "scales: ["),
        ("[|Scale<", "Scale<H: Dim"),
        ("pair.|second", "second: "),
        ("{ |Sum =>", "Sum, Mean"),
        ("sum[i] |all", "all[i] ="),
        ("sum[i] all[|i]", "i] all"),
        (": Tensor[|H; T]", "H: Dim, T"),
    ],
)
async def test_definition(editor: Editor, uri: str, text: str, declaration: str) -> None:
    found = await defined(editor, uri, text)
    assert found.uri == uri
    assert found.range.start == editor.at(uri, declaration).position


async def test_references(editor: Editor, uri: str) -> None:
    async def lines(text: str, declared: bool = True) -> list[str]:
        found = await referred(editor, uri, text, declared=declared)
        rows = editor.texts[uri].split("\n")
        return sorted({rows[at.range.start.line].strip() for at in found})

    assert await lines("|sums * ") == [
        "let sums = sum[i] all[i]",
        "return match mode { Sum => sums  Mean => sums * 0.5 }",
    ]
    assert await lines("|forward<B", declared=False) == [
        "return match last { some(tail) => tail.forward(x = y)  none => y }",
        "y = scale.forward(y)",
    ]
    assert len(await referred(editor, uri, "|sums * ")) == 3
    assert len(await referred(editor, uri, "block |Scale")) == 3


async def test_over_modules_and_other_names(editor: Editor, tmp_path: Path) -> None:
    a = "module p.a\n\n/// Doubles.\npub fn twice(x: f32) -> f32 {\n    return x + x\n}\n"
    b = (
        "module p.b\n\n"
        "use crate.a\nuse crate.a::{twice, twice as double}\nuse std.nn.linear::{Linear}\n\n"
        "fn f(x: f32) -> f32 {\n    return twice(double(a.twice(x)))\n}\n"
        "block B { sub l: Linear<2, 3, f32> }\n"
    )
    source = package(tmp_path, a=a, b=b)
    ub, ua = editor.open(source / "b.linnet", b), (source / "a.linnet").as_uri()
    editor.texts[ua] = a
    there = editor.at(ua, "twice").position
    for use in ("return |twice", "|double(", "a.|twice(", "{|twice", "|twice as"):
        found = await defined(editor, ub, use)
        assert (found.uri, found.range.start) == (ua, there), use
        assert "Doubles." in await hovered(editor, ub, use)
    assert (await defined(editor, ub, "|a.twice")).uri == ua
    linear = await defined(editor, ub, "l: |Linear")
    assert linear.uri.endswith("/stdlib/nn/linear.linnet")
    places = {
        (at.uri, editor.marked(at.uri, at.range))
        for at in await referred(editor, ub, "return |twice")
    }
    assert places == {(ua, "twice"), (ub, "twice"), (ub, "double")}
    assert len(await referred(editor, ub, "return |twice")) == 7


async def test_nothing_to_say(editor: Editor, uri: str) -> None:
    at = editor.at(uri, "// nothing|") if "// nothing" in BLOCK else editor.at(uri, "\n\nstruct")
    client = editor.client
    assert (
        await client.text_document_hover_async(lsp.HoverParams(at.text_document, at.position))
        is None
    )
    found = await client.text_document_definition_async(
        lsp.DefinitionParams(at.text_document, at.position)
    )
    assert found is None
    nowhere = lsp.Position(10_000, 10_000)
    await client.text_document_hover_async(lsp.HoverParams(at.text_document, nowhere))
    other = lsp.TextDocumentIdentifier("untitled:Untitled-1")
    assert await client.text_document_hover_async(lsp.HoverParams(other, nowhere)) is None


def flat(found: Iterable[lsp.DocumentSymbol]) -> list[tuple[str, str, list[str]]]:
    return [(s.name, s.kind.name, [inner.name for inner in s.children or []]) for s in found]


async def test_document_symbols(editor: Editor, uri: str) -> None:
    asked = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_document_symbol_async(asked)
    symbols = [s for s in found or [] if isinstance(s, lsp.DocumentSymbol)]
    assert flat(symbols) == [
        ("Scale", "Class", ["factor", "forward"]),
        ("Pair", "Struct", ["first", "second"]),
        ("Mode", "Enum", ["Sum", "Mean"]),
        ("Net", "Class", ["scales", "last", "run"]),
        ("total", "Function", []),
    ]
    total = symbols[-1]
    assert editor.marked(uri, total.selection_range) == "total"
    assert editor.marked(uri, total.range).startswith("fn total")


async def test_workspace_symbols(editor: Editor, tmp_path: Path, uri: str) -> None:
    async def names(query: str) -> set[str]:
        asked = lsp.WorkspaceSymbolParams(query)
        return {s.name for s in await editor.client.workspace_symbol_async(asked) or []}

    assert await names("Scal") == {"Scale", "scales"}
    assert "total" in await names("")
    # Of a package that is a folder of the editor, none of whose files is open.
    package(tmp_path / "p", lib="module p\n\nfn far_away() -> i32 {\n    return 1\n}\n")
    assert await names("faraway") == set()
    async with editor.folder(tmp_path / "p"):
        assert await names("faraway") == {"far_away"}
