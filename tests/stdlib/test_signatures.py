"""The library's interface, and that each part of it says what it is."""

from __future__ import annotations

import re
from pathlib import Path

from linnet.pipeline import check_paths
from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.source.render import render_text
from linnet.syntax import ast
from linnet.syntax.parser import parse

ROOT = Path(__file__).parents[2]
CALLS = Path(__file__).parent / "signatures.linnet"
# They neither take nor give one.
NO_TENSOR = {"wider_than_f32"}


def public() -> list[tuple[str, ast.FunctionDecl | ast.BlockDecl]]:
    """The public items of the library under their modules."""
    found: list[tuple[str, ast.FunctionDecl | ast.BlockDecl]] = []
    for path in sorted((ROOT / "stdlib").rglob("*.linnet")):
        module = parse(SourceFile(str(path), path.read_text("utf-8")), Sink())
        assert module is not None
        for item in module.items:
            assert isinstance(item, ast.FunctionDecl | ast.BlockDecl)
            if item.public:
                found.append((module.path.dotted(), item))
    return found


def test_calls_by_order_and_by_name_fit() -> None:
    result = check_paths([CALLS])
    assert [render_text(d) for d in result.sink] == []


def test_every_public_item_is_called() -> None:
    uses = re.findall(r"^use ([\w.]+)::\{([^}]*)\}", CALLS.read_text("utf-8"), re.MULTILINE)
    called = {(module, name) for module, names in uses for name in re.findall(r"\w+", names)}
    assert {(module, item.name.text) for module, item in public()} == called


def test_every_public_item_says_what_it_takes() -> None:
    for module, item in public():
        assert item.doc, f"{module}.{item.name.text}"
        if item.name.text in NO_TENSOR:
            continue
        assert re.search(r"\[[\w*., :+;-]+\]", item.doc), f"{module}.{item.name.text} has no shape"
