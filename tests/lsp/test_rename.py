"""Renaming: every place, no other one, and refusals where the meaning would change."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import Editor, applied_edits, items, package

TEXT = items("""
    struct Pair<N: Dim> {
        first: Tensor[N; f32]
        second: Tensor[N; f32]
    }

    block Add<N: Dim> {
        param bias: Tensor[N; f32]

        pub fn forward(x: Tensor[N; f32], scale: f32 = 1.0) -> Tensor[N; f32] {
            let /* 😀 */ x1 = x * scale
            return x1 + bias
        }

        pub fn twice(pair: Pair<N>) -> Pair<N> {
            let first = forward(pair.first, scale = 2.0)
            let both[i] = first[i] + (first)[i]
            return Pair { first: both, second: pair.second }
        }
    }
""")


async def edit_of(editor: Editor, uri: str, text: str, name: str) -> lsp.WorkspaceEdit:
    at = editor.at(uri, text)
    asked = lsp.RenameParams(at.text_document, at.position, name)
    found = await editor.client.text_document_rename_async(asked)
    assert found is not None
    return found


async def renamed(editor: Editor, uri: str, text: str, name: str) -> dict[str, str]:
    """The texts after a renaming."""
    edit = await edit_of(editor, uri, text, name)
    changes = edit.changes or {}
    return {uri: applied_edits(editor.texts[uri], edits) for uri, edits in changes.items()}


async def refused(editor: Editor, uri: str, text: str, name: str) -> str:
    with pytest.raises(JsonRpcException) as caught:
        await edit_of(editor, uri, text, name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("at", "new", "replaced"),
    [
        ("|x1 =", "y", {"x1": "y"}),
        ("|bias:", "offset", {"bias": "offset"}),
        ("|scale: f32", "by", {"scale": "by"}),
        ("|scale = 2.0", "by", {"scale": "by"}),
        (
            "pair.|first",
            "head",
            {"first: Tensor": "head: Tensor", "pair.first": "pair.head", "{ first:": "{ head:"},
        ),
        (
            "let |first",
            "head",
            {"let first": "let head", "first[i] + (first)": "head[i] + (head)"},
        ),
        ("both[|i]", "j", {"both[i]": "both[j]", "first[i] + (first)[i]": "first[j] + (first)[j]"}),
        ("block |Add", "Sum", {"block Add": "block Sum"}),
        ("struct |Pair", "Two", {"Pair": "Two"}),
        (
            "Pair<|N: Dim> {",
            "M",
            {"Pair<N: Dim> {": "Pair<M: Dim> {"}
            | {f"{field}: Tensor[N": f"{field}: Tensor[M" for field in ("first", "second")},
        ),
    ],
)
async def test_rename(
    editor: Editor, tmp_path: Path, at: str, new: str, replaced: dict[str, str]
) -> None:
    uri = editor.open(tmp_path / "a.linnet", TEXT)
    expected = TEXT
    for old, text in replaced.items():
        expected = expected.replace(old, text)
    assert await renamed(editor, uri, at, new) == {uri: expected}


@pytest.mark.parametrize(
    ("at", "new", "reason"),
    [
        ("|x1 =", "bias", "`bias` at a.linnet"),
        ("|bias:", "x1", "would mean something else"),
        ("|x1 =", "x 1", "is not a name"),
        ("|x1 =", "let", "is not a name"),
        ("|x1 =", "kernel", "is not a name"),
        ("|x1 =", "exp", "is part of the prelude"),
        ("pair.|first", "second", "the name is taken"),
        ("|scale: f32", "x", "the name is taken"),
        ("module |a", "b", "rename the file"),
        ("Tensor[N; |f32", "g32", "nothing is known of `f32`"),
        ("\n|\nblock", "b", "there is no name here"),
    ],
)
async def test_refusals(editor: Editor, tmp_path: Path, at: str, new: str, reason: str) -> None:
    uri = editor.open(tmp_path / "a.linnet", TEXT)
    assert reason in await refused(editor, uri, at, new)


async def test_a_field_beside_a_mistake(editor: Editor, tmp_path: Path) -> None:
    """What a name behind a point means follows from a type, which a mistake may hide."""
    text = TEXT.replace("let both", "let c = nothing(pair).first\n        let both")
    uri = editor.open(tmp_path / "a.linnet", text)
    assert "`first` means at a.linnet:18" in await refused(editor, uri, "|first: T", "head")
    assert uri in await renamed(editor, uri, "|x1 =", "y")


async def test_over_modules(editor: Editor, tmp_path: Path) -> None:
    a = "module p.a\n\npub fn twice(x: f32) -> f32 {\n    return x + x\n}\n"
    b = (
        "module p.b\n\nuse crate.a\nuse crate.a::{twice, twice as double}\n\n"
        "fn f(x: f32) -> f32 {\n    return twice(double(a.twice(x = x)))\n}\n"
    )
    source = package(tmp_path, a=a, b=b)
    ua, ub = (source / "a.linnet").as_uri(), editor.open(source / "b.linnet", b)
    editor.texts[ua] = a
    assert await renamed(editor, ub, "return |twice", "two") == {
        ua: a.replace("twice", "two"),
        ub: b.replace("twice", "two"),
    }
    assert await renamed(editor, ub, "|double(", "two") == {ub: b.replace("double", "two")}
    assert await renamed(editor, ub, "(|x = x", "y") == {
        ua: a.replace("(x: f32", "(y: f32").replace("x + x", "y + y"),
        ub: b.replace("x = x", "y = x"),
    }


async def test_what_others_declare(editor: Editor, tmp_path: Path) -> None:
    text = "module a\n\nuse std.nn.linear::{Linear}\n\nblock B { sub l: Linear<2, 3, f32> }\n"
    uri = editor.open(tmp_path / "a.linnet", text)
    assert "standard library" in await refused(editor, uri, "l: |Linear", "L")
    package(tmp_path / "q", lib="module p\n\npub fn f() -> i32 {\n    return 1\n}\n")
    user = "module p\n\nuse q::{f}\n\nfn g() -> i32 {\n    return f()\n}\n"
    source = package(tmp_path / "p", lib=user)
    with (tmp_path / "p" / "linnet.toml").open("a") as manifest:
        manifest.write('[dependencies]\nq = { path = "../q" }\n')
    uri = editor.open(source / "lib.linnet", user)
    assert await editor.codes(uri) == []
    assert "another package" in await refused(editor, uri, "return |f", "h")


async def test_in_packages_that_use_it(editor: Editor, tmp_path: Path) -> None:
    """Of the editor's folders: `p` uses `q`, and neither of its files is open."""
    far = "module p\n\npub fn far(x: i32) -> i32 {\n    return x\n}\n"
    user = "module p\n\nuse q::{far}\n\nfn g() -> i32 {\n    return far(x = 1)\n}\n"
    q, p = package(tmp_path / "q", lib=far), package(tmp_path / "p", lib=user)
    with (tmp_path / "p" / "linnet.toml").open("a") as manifest:
        manifest.write('[dependencies]\nq = { path = "../q" }\n')
    uq, up = editor.open(q / "lib.linnet", far), (p / "lib.linnet").as_uri()
    editor.texts[up] = user
    async with editor.folder(tmp_path):
        assert await renamed(editor, uq, "|far", "near") == {
            uq: far.replace("far", "near"),
            up: user.replace("far", "near"),
        }
        assert await renamed(editor, uq, "|x: i32", "y") == {
            uq: far.replace("x", "y"),
            up: user.replace("x = 1", "y = 1"),
        }
        assert "the name is taken" in await refused(editor, uq, "|far", "g")


async def test_where_a_rename_may_begin(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.linnet", TEXT)
    at = editor.at(uri, "x|1 + bias")
    asked = lsp.PrepareRenameParams(at.text_document, at.position)
    found = await editor.client.text_document_prepare_rename_async(asked)
    assert isinstance(found, lsp.PrepareRenamePlaceholder)
    assert (editor.marked(uri, found.range), found.placeholder) == ("x1", "x1")
    at = editor.at(uri, "|return x1")
    asked = lsp.PrepareRenameParams(at.text_document, at.position)
    with pytest.raises(JsonRpcException, match="no name here"):
        await editor.client.text_document_prepare_rename_async(asked)
