"""Where a name is declared, and where else it is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from linnet.lsp.analysis import Analysis, path_of
from linnet.lsp.declared import Declaration, Mention
from linnet.source.files import SourceFile, Span

# A place that is the same in any check of the same texts.
Place = tuple[Path, int, int]


def place(span: Span) -> Place:
    """The place of a span."""
    return path_of(span.file), span.start, span.end


def definition(analysis: Analysis, file: SourceFile, offset: int) -> Span | None:
    """Where the name at a place is declared."""
    found = analysis.names.at(file, offset)
    return found.declaration.meant.span if found and found.declaration else None


def same(analysis: Analysis, declaration: Declaration) -> Declaration | None:
    """The declaration in another check."""
    where = place(declaration.span)
    file = analysis.source(where[0])
    found = analysis.names.at(file, where[1]) if file is not None else None
    return found.declaration if found is not None else None


def mentions(analysis: Analysis, declaration: Declaration) -> Iterator[Mention]:
    """The mentions of a declaration, under other names too."""
    for mention in analysis.names.mentions:
        if mention.declaration is not None and mention.declaration.meant is declaration:
            yield mention


def references(
    analyses: Iterable[Analysis], declaration: Declaration, declared: bool
) -> dict[Place, Span]:
    """All that names a declaration in some checks; the place where it is `declared` on demand."""
    found: dict[Place, Span] = {}
    for analysis in analyses:
        here = same(analysis, declaration)
        for mention in mentions(analysis, here) if here is not None else ():
            found.setdefault(place(mention.span), mention.span)
    if not declared:
        found.pop(place(declaration.span), None)
    return found
