"""The change that imports a name: into the `use` of its module, or as a line of its own."""

from __future__ import annotations

from linnet.lsp.edits import Edit
from linnet.source.files import SourceFile
from linnet.syntax import ast


def importing(file: SourceFile, tree: ast.Module, module: str, name: str) -> Edit | None:
    """Import the item `name` of a module, whose path is as it is written in a `use`. None in a file
    that does not begin with its `module`."""
    for use in tree.uses:
        if use.names and use.path.dotted() == module:
            return _among(use.names, name)
    if tree.uses:
        return _line(file, tree.uses[-1].span.end, "\n", module, name)
    if not tree.path.span.text:
        return None
    return _line(file, tree.path.span.end, "\n\n", module, name)


def _among(names: tuple[ast.UseName, ...], name: str) -> Edit:
    """The name in the order of the alphabet, if the others are."""
    for other in names:
        if other.name.text > name:
            start = other.name.span.start
            return Edit(start, start, f"{name}, ")
    last = names[-1]
    end = (last.alias or last.name).span.end
    return Edit(end, end, f", {name}")


def _line(file: SourceFile, end: int, gap: str, module: str, name: str) -> Edit:
    """A line behind the one that ends at `end`, and behind the comment on it."""
    stop = file.text.find("\n", end)
    stop = len(file.text) if stop < 0 else stop
    rest = file.text[end:stop].strip()
    at = stop if not rest or rest.startswith("//") else end
    return Edit(at, at, f"{gap}use {module}::{{{name}}}")
