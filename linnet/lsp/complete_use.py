"""What may follow in a `use`: modules of packages, and the public items of a module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from linnet.lsp.analysis import unit_of
from linnet.packages.manifest import load_manifest
from linnet.packages.package import Package, standard_library
from linnet.packages.text import read_source
from linnet.source.diagnostics import Sink
from linnet.syntax import ast
from linnet.syntax.parser import parse

Overlay = Mapping[Path, str]


def next_parts(path: Path, parts: Sequence[str], overlay: Overlay) -> list[str]:
    """The names that may follow `parts` of a module path in the file at a real path."""
    roots = _roots(path)
    if not parts:
        return sorted(roots)
    package = roots.get(parts[0])
    if package is None:
        return []
    wanted = tuple(parts[1:])
    modules = map(package.parts_of, package.modules(overlay))
    return sorted({m[len(wanted)] for m in modules if m[: len(wanted)] == wanted != m})


def items_of(path: Path, parts: Sequence[str], overlay: Overlay) -> Iterable[ast.Item]:
    """The public items of the module that `parts` name in the file at a real path."""
    package = _roots(path).get(parts[0]) if parts else None
    if package is None:
        return ()
    file = package.file_of(tuple(parts[1:]))
    source = read_source(file, file.as_posix(), "E1202", overlay, Sink())
    tree = parse(source, Sink()) if source is not None else None
    return [item for item in tree.items if item.public] if tree is not None else ()


def _roots(path: Path) -> dict[str, Package]:
    """The packages that the file at a real path may name, by the name they have there."""
    std = Package("std", standard_library(), standard_library(), None)
    unit = unit_of(path)
    if unit == path or unit == standard_library():
        return {"std": std}
    return {"std": std, **_own(unit)}


def _own(folder: Path) -> dict[str, Package]:
    found = _package(folder)
    if found is None or found.manifest is None:
        return {}
    dependencies = {k: _package(at) for k, at in found.manifest.dependencies.items()}
    return {"crate": found, **{k: p for k, p in dependencies.items() if p is not None}}


def _package(folder: Path) -> Package | None:
    manifest = load_manifest(folder, Sink())
    return manifest and Package(manifest.name, folder, folder / "src", manifest)
