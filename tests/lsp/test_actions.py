"""Ways out by a key: over the protocol, and on all wrong programs that the checker is tested on."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from linnet.lsp.actions import Action, actions
from linnet.lsp.edits import applied, moved
from linnet.pipeline import check_paths
from linnet.source.suggest import did_you_mean, imported, meant, state, stated
from tests.lsp.editor import Editor, applied_edits, items

CASES = sorted((Path(__file__).parents[1] / "golden" / "check").glob("E*.linnet"))
BLOCK = items("""
    block Halves<H: Dim, T: Float> where H > 0, {
        param w: Tensor[H; T]

        pub fn half() -> Tensor[2, H / 2; T] {
            let y = reshape(w, [2, H / 2])
            return reshap(y, [2, H / 2])
        }

        fn first<N: Dim>(x: Tensor[N; T]) -> T {
            return x[0]
        }
    }

    fn rows<N: Dim>(x: Tensor[N, 3; f32]) -> Tensor[2; f32] {
        return x[0:2, 0]
    }

    fn after<N: Dim>(x: Tensor[N; f32], y: f32 = if true { 1.0 } else { 2.0 }) -> f32 {
        return x[2]
    }
""")


async def offered(editor: Editor, uri: str) -> dict[str, str]:
    """The title of each way out, and the text after it."""
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(100, 0))
    asked = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), whole, lsp.CodeActionContext([]))
    found: dict[str, str] = {}
    for action in await editor.client.text_document_code_action_async(asked) or []:
        assert isinstance(action, lsp.CodeAction) and action.edit and action.diagnostics
        assert action.kind == lsp.CodeActionKind.QuickFix
        edits = (action.edit.changes or {})[uri]
        found[action.title] = applied_edits(editor.texts[uri], edits)
    return found


async def test_ways_out(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.linnet", BLOCK)
    found = await offered(editor, uri)
    head = "block Halves<H: Dim, T: Float> where H > 0,"
    changes = {
        "write `reshape` instead of `reshap`": ("reshap(", "reshape("),
        "state `where H % 2 == 0` in `Halves`": (head, f"{head} H % 2 == 0"),
        "state `where 0 < N` in `first`": ("[N; T]) -> T", "[N; T]) -> T where 0 < N"),
        "state `where 2 <= N` in `rows`": ("Tensor[2; f32] {", "Tensor[2; f32] where 2 <= N {"),
        "state `where 2 < N` in `after`": ("}) -> f32 {", "}) -> f32 where 2 < N {"),
    }
    assert found == {title: BLOCK.replace(*change) for title, change in changes.items()}
    for text in found.values():
        editor.change(uri, text)
        codes = {code for code, _ in await editor.codes(uri)}
        assert "E1101" not in codes


async def test_a_way_out_is_of_its_place(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "a.linnet", BLOCK)
    place = editor.at(uri, "re|shap(y").position
    asked = lsp.CodeActionParams(
        lsp.TextDocumentIdentifier(uri), lsp.Range(place, place), lsp.CodeActionContext([])
    )
    found = await editor.client.text_document_code_action_async(asked)
    assert [a.title for a in found or []] == ["write `reshape` instead of `reshap`"]


def every_action(case: Path, text: str) -> list[Action]:
    result = check_paths(case, {case: text})
    module = next((m for m in result.graph.roots), None)
    if module is None:
        return []
    return list(actions(module.tree, result.sink, module.file, 0, len(text)))


def told(case: Path, text: str) -> set[tuple[str, str, int]]:
    """The findings of a text: code, message and place."""
    found = check_paths(case, {case: text}).sink
    return {(d.code, d.message, d.span.start) for d in found if d.span is not None}


def text_of(case: Path) -> str:
    return case.read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.stem)
def test_a_way_out_of_a_wrong_program_is_one(case: Path) -> None:
    """After it there is no such finding at its place, and the text can still be read."""
    text = text_of(case)
    for action in every_action(case, text):
        finding, edits = action.finding, action.edits
        after = told(case, applied(text, edits))
        assert finding.span is not None
        gone = (finding.code, finding.message, moved(finding.span.start, edits))
        assert gone not in after, action
        assert "E1101" not in {code for code, _, _ in after}, action


def test_enough_programs_have_ways_out() -> None:
    """The test above would pass where nothing was offered."""
    titles = [action.title for case in CASES for action in every_action(case, text_of(case))]
    assert sum(title.startswith("write") for title in titles) >= 10
    assert sum(title.startswith("state") for title in titles) >= 10


def test_help_lines_are_read_as_they_are_written() -> None:
    assert meant(did_you_mean("haed", ["heads", "head"])) == "head"
    assert meant("did you mean `a` or what") is None
    assert stated(state(["H % 2 == 0", "N > 0"])) == "H % 2 == 0, N > 0"
    assert stated("write `where N > 0`") is None
    assert meant(None) is stated(None) is imported(None) is None
    assert imported("`use std.nn.linear::{Linear}`") == ("std.nn.linear", "Linear")
    assert imported("did you mean `Linear`: `use a.b::{Linear}`") == ("a.b", "Linear")
    assert imported("`use a.b::{c}`, or write `x`") == ("a.b", "c")
    assert imported("`use a.b::{c}`, and write `c(x, ...)`") is None
    assert imported("items are imported by name: `use std.nn.linear::{Linear}`") is None


USES = """\
module example{uses}

pub block Net<H: Dim> {{
    sub up: {linear}<H, H, f32>

    pub entry forward<S: Dim>(x: Tensor[S, H; f32]) -> Tensor[S, H; f32] {{
        return {relu}(up.forward(x))
    }}
}}
"""


def text_after(case: Path, text: str) -> dict[str, str]:
    return {a.title: applied(text, a.edits) for a in every_action(case, text)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "\n\nuse std.nn.linear::{Linear}"),
        (" // of ours", " // of ours\n\nuse std.nn.linear::{Linear}"),
        ("\n\nuse std.special::{erfc}", "\n\nuse std.special::{erfc}\nuse std.nn.linear::{Linear}"),
        ("\n\nuse std.nn.linear::{linear}", "\n\nuse std.nn.linear::{Linear, linear}"),
        ("\n\nuse std.nn.linear::{linear as L}", "\n\nuse std.nn.linear::{Linear, linear as L}"),
    ],
)
def test_a_name_of_the_library_is_imported(tmp_path: Path, before: str, after: str) -> None:
    case = tmp_path / "example.linnet"
    text = USES.format(uses=before, linear="Linear", relu="relu")
    found = text_after(case, text)
    changed = USES.format(uses=after, linear="Linear", relu="relu")
    assert found["add `use std.nn.linear::{Linear}`"] == changed
    second = text_after(case, changed)["add `use std.nn.activations::{relu}`"]
    assert not [d for d in check_paths(case, {case: second}).sink if d.severity == "error"]


@pytest.mark.parametrize("last", ["gelu", "gelu as G"])
def test_a_name_behind_those_of_its_module(tmp_path: Path, last: str) -> None:
    case = tmp_path / "example.linnet"
    uses = "\n\nuse std.nn.activations::{{{}}}\nuse std.nn.linear::{{Linear}}"
    text = USES.format(uses=uses.format(last), linear="Linear", relu="relu")
    wanted = USES.format(uses=uses.format(f"{last}, relu"), linear="Linear", relu="relu")
    assert text_after(case, text) == {"add `use std.nn.activations::{relu}`": wanted}


@pytest.mark.parametrize("relu", ["ReLU", "F.relu", "torch.nn.functional.relu"])
def test_what_is_called_otherwise_is_imported_and_renamed(tmp_path: Path, relu: str) -> None:
    case = tmp_path / "example.linnet"
    uses = "\n\nuse std.nn.linear::{Linear}"
    text = USES.format(uses=uses, linear="Linear", relu=relu)
    found = text_after(case, text)
    title = f"add `use std.nn.activations::{{relu}}`, and write `relu` instead of `{relu}`"
    wanted = f"{uses}\nuse std.nn.activations::{{relu}}"
    assert found == {title: USES.format(uses=wanted, linear="Linear", relu="relu")}
