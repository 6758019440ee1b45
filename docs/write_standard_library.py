"""Writes `docs/standard-library` from the library's sources, `stdlib`.

python docs/write_standard_library.py
"""

from __future__ import annotations

import re
from pathlib import Path

from folder_of_pages import write

from linnet.packages.modules import load_modules
from linnet.source.diagnostics import Sink
from linnet.syntax import ast

FOLDER = Path(__file__).parent / "standard-library"
LIBRARY = Path(__file__).parents[1] / "stdlib"
INTRODUCTION = """\
# The standard library, module by module

Signatures as they are in the source, and what the comment above each says: shapes, where it rounds,
the source, and after "Reference" the function of another project that the tests compare it with.
[The standard library](../standard-library.md) says what holds for all of them.

These pages are made by `docs/write_standard_library.py` from `stdlib`: change them there.

| module | | |
| --- | --- | --- |
"""


def pages() -> dict[str, str]:
    """The text of every file of the folder."""
    modules = _modules()
    found = {f"{m.path.dotted()}.md": _page(m) for m in modules}
    return {"README.md": INTRODUCTION + "".join(map(_row, modules)), **found}


def _modules() -> list[ast.Module]:
    loaded = load_modules([LIBRARY], Sink()).modules
    return sorted((m.tree for m in loaded), key=lambda tree: tree.path.dotted())


def _public(module: ast.Module) -> list[ast.Item]:
    return [item for item in module.items if item.public]


def _row(module: ast.Module) -> str:
    """The module's line of the index: a link, what it is, its names."""
    path = module.path.dotted()
    summary = " ".join((module.doc or "").split("\n\n")[0].split())
    names = ", ".join(f"[`{i.name.text}`]({path}.md#{_anchor(i)})" for i in _public(module))
    return f"| [`{path}`]({path}.md) | {summary} | {names} |\n"


def _page(module: ast.Module) -> str:
    items = _public(module)
    parts = [f"# {module.path.dotted()}", module.doc or "", _use(module), *map(_section, items)]
    return "\n\n".join(parts) + "\n"


def _use(module: ast.Module) -> str:
    """The line that imports all of it, as the formatter lays it out."""
    names = sorted(item.name.text for item in _public(module))
    line = f"use {module.path.dotted()}::{{{', '.join(names)}}}"
    if len(line) > 100:
        lines = "".join(f"    {name},\n" for name in names)
        line = f"use {module.path.dotted()}::{{\n{lines}}}"
    return f"```rust\n{line}\n```"


def _section(item: ast.Item) -> str:
    title = f"## {_kind(item)} {item.name.text}"
    return f"{title}\n\n```rust\n{_outline(item)}\n```\n\n{item.doc or ''}"


def _kind(item: ast.Item) -> str:
    """The word that declares it. In a heading it tells `linear` from `Linear`, whose links would
    be the same without it."""
    return item.span.file.text[item.span.start :].split(maxsplit=2)[1]


def _anchor(item: ast.Item) -> str:
    """How a page's heading is linked to."""
    return f"{_kind(item)}-{item.name.text.lower()}"


def _outline(item: ast.Item) -> str:
    """An item as it is written, without the bodies of its functions and without what is private."""
    text = item.span.file.text
    if isinstance(item, ast.FunctionDecl):
        return text[item.span.start : _before_body(item)]
    if not isinstance(item, ast.BlockDecl):
        return text[item.span.start : item.span.end]
    kept = text[item.span.start : item.span.end]
    for method in reversed(item.methods):
        start = _before_body(method) if method.public else method.span.start
        kept = kept[: start - item.span.start] + kept[method.span.end - item.span.start :]
    return re.sub(r"\n\s*\n(?=\s*\n|\})", "\n", kept)


def _before_body(function: ast.FunctionDecl) -> int:
    """Where the signature ends, its `where` included."""
    text = function.span.file.text
    end = function.where[-1].span.end if function.where else function.head.end
    return len(text[: text.index("{", end)].rstrip())


if __name__ == "__main__":
    write(FOLDER, pages())
