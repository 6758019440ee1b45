"""Another name for what a text declares, everywhere it is named, or a reason why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from linnet.check.intrinsics import PRELUDE
from linnet.dtypes import BY_NAME
from linnet.lsp.analysis import Analysis, analyze, path_of
from linnet.lsp.declared import Declaration
from linnet.lsp.edits import Edit, applied, moved
from linnet.lsp.references import Place, place, same
from linnet.packages.manifest import is_identifier
from linnet.packages.package import standard_library
from linnet.source.files import SourceFile, Span
from linnet.source.shown import shown
from linnet.syntax.tokens import RESERVED

Edits = dict[Path, list[Edit]]


class RenameError(Exception):
    """Why something cannot be renamed, for the user to read."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """What can be renamed, and the place at which this was asked for."""

    span: Span
    declaration: Declaration


def renaming(analysis: Analysis, file: SourceFile, offset: int) -> Renaming:
    """What stands at a place, or a `RenameError`."""
    found = analysis.names.at(file, offset)
    if found is None:
        raise RenameError("there is no name here")
    name = shown(found.span.text)
    declaration = found.declaration
    if declaration is None:
        raise RenameError(f"nothing is known of {name}: it is a mistake, or of the prelude")
    if declaration.kind == "module":
        raise RenameError("the name of a module is that of its file: rename the file")
    home = path_of(declaration.span.file)
    if home.is_relative_to(standard_library()) and analysis.unit != standard_library():
        way_out = f"import it under another name: {name} as ..."
        raise RenameError(f"{name} is declared in the standard library; {way_out}")
    if not home.is_relative_to(analysis.unit):
        raise RenameError(f"{name} is declared in another package: rename it there")
    return Renaming(found.span, declaration)


def rename(
    analyses: Iterable[Analysis], wanted: Renaming, name: str, texts: Mapping[Path, str]
) -> Edits:
    """The changes of texts that give a declaration another name, or a `RenameError`. `analyses` are
    the checks of all packages in which it may be named, `texts` the unsaved ones."""
    declaration = wanted.declaration
    _check_name(name)
    if name == declaration.name:
        return {}
    checks = list(analyses)
    edits: Edits = {}
    for analysis in checks:
        here = same(analysis, declaration)
        if here is not None:
            _collect(analysis, here, name, edits)
    new = {path: applied(_text(checks, path), found) for path, found in edits.items()}
    for analysis in checks:
        if any(path in edits for path in analysis.paths.values()):
            _compare(analysis, analyze(analysis.unit, {**texts, **new}), edits, name)
    return edits


def _check_name(name: str) -> None:
    # `random` may be part of a module's path, but it is no name.
    if not is_identifier(name) or name in RESERVED:
        raise RenameError(f"{shown(name)} is not a name: letters, digits and `_`, and no keyword")
    if name in PRELUDE or name in BY_NAME:
        raise RenameError(f"{shown(name)} is part of the prelude")


def _collect(analysis: Analysis, declaration: Declaration, name: str, edits: Edits) -> None:
    """Add the changes in one package; those found there already stay."""
    for mention in analysis.names.mentions:
        if mention.declaration is None and mention.by_type:
            _doubt(mention.span, declaration)
    for mention in analysis.names.of(declaration):
        edit = Edit(mention.span.start, mention.span.end, name)
        found = edits.setdefault(path_of(mention.span.file), [])
        if edit not in found:
            found.append(edit)


def _doubt(span: Span, declaration: Declaration) -> None:
    """Refuse where a name may mean the declaration, but mistakes around hide whether it does."""
    if span.text == declaration.name and declaration.kind in (
        "field",
        "variant",
        "method",
        "parameter",
    ):
        where = _line(place(span), span.file)
        raise RenameError(
            f"what {shown(span.text)} means at {where} is not known: repair that first"
        )


def _compare(before: Analysis, after: Analysis, edits: Edits, name: str) -> None:
    """Refuse unless each name means afterwards what it meant before."""
    if after.checked.sink.errors > before.checked.sink.errors:
        raise RenameError(f"{shown(name)} would be a mistake: the name is taken, most likely")
    places: dict[Place, Place | None] = {}
    for mention in after.names.mentions:
        meant = mention.declaration
        places[place(mention.span)] = meant and place(meant.span)
    for mention in before.names.mentions:
        meant = mention.declaration
        now = places.get(_moved(place(mention.span), edits))
        if now != (meant and _moved(place(meant.span), edits)):
            where = _line(place(mention.span), mention.span.file)
            raise RenameError(f"{shown(mention.span.text)} at {where} would mean something else")


def _moved(at: Place, edits: Edits) -> Place:
    path, start, end = at
    found = edits.get(path, [])
    return path, moved(start, found), moved(end, found)


def _text(checks: Iterable[Analysis], path: Path) -> str:
    found = (file.text for check in checks for file, at in check.paths.items() if at == path)
    return next(found)


def _line(at: Place, file: SourceFile) -> str:
    return f"{at[0].name}:{file.position(at[1]).line}"
