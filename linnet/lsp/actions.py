"""Ways out that findings name, taken by a key: a name that was meant, an import, a
`where` that settles it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from linnet.lsp.edits import Edit
from linnet.lsp.uses import importing
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span
from linnet.source.suggest import imported, meant, stated
from linnet.syntax import ast
from linnet.syntax.lexer import lex

_MEMBER = re.compile(r"(?:\s*\.\s*[A-Za-z_]\w*)+")
_Stating = ast.FunctionDecl | ast.BlockDecl | ast.StructDecl


@dataclass(frozen=True, slots=True)
class Action:
    """What may be done about a finding. `sure` is one that hardly could mean something else."""

    title: str
    finding: Diagnostic
    edits: tuple[Edit, ...]
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
            yield Action(title, finding, (Edit(span.start, span.end, name),), True)
        item = imported(finding.help) if finding.code == "E1201" else None
        if item is not None:
            yield from _importing(tree, file, finding, span, *item)
        relations = stated(finding.help)
        around = _around(tree, span.start, relations or "")
        if relations is not None and around is not None:
            edit = _stating(file, around, relations)
            if edit is not None:
                title = f"state `where {relations}` in `{around.name.text}`"
                yield Action(title, finding, (edit,), False)


def _importing(
    tree: ast.Module, file: SourceFile, finding: Diagnostic, span: Span, module: str, name: str
) -> Iterator[Action]:
    """Import `name`, and write it in the place of `span` where that says something else: `ReLU`,
    or the `F` of `F.softmax`."""
    use = importing(file, tree, module, name)
    if use is None:
        return
    title = f"add `use {module}::{{{name}}}`"
    if span.text == name:
        yield Action(title, finding, (use,), True)
        return
    member = _MEMBER.match(file.text, span.end)
    end = member.end() if member is not None else span.end
    title = f"{title}, and write `{name}` instead of `{file.text[span.start : end]}`"
    yield Action(title, finding, (use, Edit(span.start, end, name)), False)


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
    # A default in the signature may have braces of its own; in the head of a struct is none.
    head = item.name.span.end if isinstance(item, ast.StructDecl) else item.head.end
    before = None
    for token in lex(file, Sink()).tokens:
        if token.type == "LBRACE" and token.start >= head:
            break
        before = token
    if before is None:
        return None
    if not item.where:
        return Edit(before.end, before.end, f" where {relations}")
    comma = "" if before.type == "COMMA" else ","
    return Edit(before.end, before.end, f"{comma} {relations}")
