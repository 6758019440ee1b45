"""A module with one of its declarations taken out: the inputs of `test_removals.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile, Span
from linnet.syntax import ast
from linnet.syntax.parser import parse

_COMMA = re.compile(r"\s*,")


def removals(path: Path) -> Iterator[tuple[str, str, str]]:
    """Of each declaration of a file: its kind, its name with those it stands in, and the text of
    the file without it."""
    text = path.read_text()
    tree = parse(SourceFile(str(path), text), Sink())
    assert tree is not None
    for kind, name, span in _declarations(tree):
        yield kind, name, _without(text, span)


def _declarations(tree: ast.Module) -> Iterator[tuple[str, str, Span]]:
    for use in tree.uses:
        names = use.names or ()
        for entry in names:
            span = entry.name.span.to((entry.alias or entry.name).span)
            yield "use", entry.name.text, span if len(names) > 1 else use.span
    for item in tree.items:
        yield from _item(item, "")


def _item(item: ast.Item, owner: str) -> Iterator[tuple[str, str, Span]]:
    name = f"{owner}{item.name.text}"
    inside = f"{name}."
    match item:
        case ast.ConstDecl():
            yield "const", name, item.span
        case ast.FunctionDecl():
            yield ("method" if owner else "function"), name, item.span
            yield from _parts("generic", inside, item.generics)
            yield from _parts("parameter", inside, item.params)
        case ast.BlockDecl():
            yield from _parts("generic", inside, item.generics)
            for member in item.members:
                yield member.kind, f"{inside}{member.name.text}", member.span
            for method in item.methods:
                yield from _item(method, inside)
        case ast.StructDecl():
            yield from _parts("generic", inside, item.generics)
            yield from _parts("field", inside, item.fields)
        case _:
            pass


def _parts(
    kind: str, inside: str, parts: tuple[ast.Generic | ast.Param | ast.StructField, ...]
) -> Iterator[tuple[str, str, Span]]:
    for part in parts:
        yield kind, f"{inside}{part.name.text}", part.span


def _without(text: str, span: Span) -> str:
    """`text` without what `span` covers, and without the comma that would be left over. A list of
    generics that is left empty goes too. Lines stay where they are."""
    comma = _COMMA.match(text, span.end)
    end = comma.end() if comma else span.end
    before = text[: span.start]
    after = "\n" * text.count("\n", span.start, end) + text[end:]
    if before.rstrip().endswith("<") and after.lstrip().startswith(">"):
        before, after = before.rstrip()[:-1], after.lstrip()[1:]
    if not comma and after.lstrip().startswith((">", ")", "}")) and before.rstrip().endswith(","):
        before = before.rstrip()[:-1]
    return before + after
