"""Ways out that findings name, taken by a key: a name that was meant, a `where` that settles it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from linnet.lsp.edits import Edit
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile
from linnet.source.suggest import meant, stated
from linnet.syntax import ast
from linnet.syntax.lexer import lex

_Stating = ast.FunctionDecl | ast.BlockDecl | ast.StructDecl


@dataclass(frozen=True, slots=True)
class Action:
    """What may be done about a finding. `sure` is one that hardly could mean something else."""

    title: str
    finding: Diagnostic
    edit: Edit
    sure: bool


def actions(
    tree: ast.Module, findings: Sink, file: SourceFile, start: int, end: int
) -> Iterator[Action]:
    """The ways out of the findings between two places of a file."""
    for finding in findings:
        span = finding.span
        if span is None or span.file is not file or span.start > end or span.end < start:
            continue
        name = meant(finding.help)
        if name is not None:
            title = f"write `{name}` instead of `{span.text}`"
            yield Action(title, finding, Edit(span.start, span.end, name), True)
        relations = stated(finding.help)
        item = _around(tree, span.start, relations or "")
        if relations is not None and item is not None:
            edit = _stating(file, item, relations)
            if edit is not None:
                title = f"state `where {relations}` in `{item.name.text}`"
                yield Action(title, finding, edit, False)


def _around(tree: ast.Module, offset: int, relations: str) -> _Stating | None:
    """The item around a place whose `where` can speak of what `relations` name: a method, or its
    block, if all of it is the block's."""
    for item in tree.items:
        if not item.span.start <= offset <= item.span.end:
            continue
        if isinstance(item, ast.BlockDecl):
            for method in item.methods:
                if method.span.start <= offset <= method.span.end:
                    return method if _names_any(method, relations) else item
        return item if isinstance(item, _Stating) else None
    return None


def _names_any(method: ast.FunctionDecl, relations: str) -> bool:
    named = {token.text for token in lex(SourceFile("", relations), Sink()).tokens}
    return not named.isdisjoint(generic.name.text for generic in method.generics)


def _stating(file: SourceFile, item: _Stating, relations: str) -> Edit | None:
    """The change that adds relations to the end of an item's `where`."""
    before = None
    for token in lex(file, Sink()).tokens:
        if token.type == "LBRACE" and token.start >= item.name.span.end:
            break
        before = token
    if before is None:
        return None
    if not item.where:
        return Edit(before.end, before.end, f" where {relations}")
    comma = "" if before.type == "COMMA" else ","
    return Edit(before.end, before.end, f"{comma} {relations}")
