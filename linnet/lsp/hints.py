"""The types of `let` and `var` that the source leaves to the checker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from linnet.check.types import LiteralType
from linnet.lsp.analysis import Analysis
from linnet.source.files import SourceFile
from linnet.syntax import ast


@dataclass(frozen=True, slots=True)
class Hint:
    """What could be written at a place: `: Tensor[B, S; f32]`. It may be written there only where
    the language has a place for a type."""

    at: int
    text: str
    writable: bool


def hints(analysis: Analysis, file: SourceFile, start: int, end: int) -> Iterator[Hint]:
    """The hints between two places of a file."""
    for mention in analysis.names.within(file):
        declaration = mention.declaration
        if (
            declaration is None
            or declaration.kind != "local"
            or declaration.span != mention.span
            or not start <= mention.span.end <= end
        ):
            continue
        type_ = analysis.types.names.get(declaration.span)
        if type_ is None or isinstance(type_, LiteralType):
            continue
        match declaration.node:
            case ast.LetStmt(type=None, indices=None):
                yield Hint(mention.span.end, f": {type_}", True)
            case ast.LetStmt(type=None, indices=indices) if indices:
                closing = file.text.find("]", indices[-1].span.end)
                yield Hint(closing + 1, f": {type_}", False)
            case ast.LetTupleStmt():
                yield Hint(mention.span.end, f": {type_}", False)
            case _:
                pass
