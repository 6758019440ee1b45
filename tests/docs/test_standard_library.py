"""The pages of the library are those that its sources make."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

from linnet.packages.modules import LoadedModule, load_modules
from linnet.source.diagnostics import Sink
from linnet.syntax import ast

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "standard-library"
MODULES = load_modules([ROOT / "stdlib"], Sink()).modules


def items(module: LoadedModule) -> list[ast.Item]:
    return [item for item in module.tree.items if item.public]


def test_the_pages_are_those_of_the_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run `python docs/write_standard_library.py` where this fails."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    script = runpy.run_path(str(ROOT / "docs" / "write_standard_library.py"))
    (tmp_path / "std.gone.md").write_text("of a module that is no more")
    script["write"](tmp_path, script["pages"]())
    made = {p.name: p.read_text("utf-8") for p in tmp_path.iterdir()}
    assert made == {p.name: p.read_text("utf-8") for p in PAGES.iterdir()}
    assert made.keys() == {"README.md", *(f"{m.key}.md" for m in MODULES)}


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.key)
def test_all_that_is_public_says_what_it_is(module: LoadedModule) -> None:
    assert module.tree.doc
    for item in items(module):
        assert item.doc, item.name.text
        for method in item.methods if isinstance(item, ast.BlockDecl) else ():
            assert method.doc or not method.public, f"{item.name.text}.{method.name.text}"


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.key)
def test_a_page_has_every_signature_and_no_body(module: LoadedModule) -> None:
    page = (PAGES / f"{module.key}.md").read_text("utf-8")
    for item in items(module):
        assert f" {item.name.text}\n\n```rust\npub " in page
        for function in (item, *getattr(item, "methods", ())):
            if not isinstance(function, ast.FunctionDecl):
                continue
            head = function.head
            shown = head.file.text[head.start : head.end] in page
            assert shown == function.public, function.name.text
    code = "\n".join(re.findall(r"^```rust\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    assert "return" not in re.sub(r"///.*", "", code)
    for item in items(module):
        for relation in item.where if isinstance(item, ast.FunctionDecl) else ():
            assert relation.span.file.text[relation.span.start : relation.span.end] in code
