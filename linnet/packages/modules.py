"""From paths on a command line to the modules of a run, dependencies first.

Nothing that a package brings is executed, and nothing is read outside the
packages in question, the dependencies they declare and the standard library.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linnet.packages.absent import MISSING, absence
from linnet.packages.manifest import is_identifier, load_manifest
from linnet.packages.order import Node, dependencies_first
from linnet.packages.package import (
    SUFFIX,
    Package,
    folder_of,
    package_folder,
    package_folders,
    standard_library,
    walk,
)
from linnet.packages.resolve import Resolver
from linnet.packages.text import (
    Names,
    Overlay,
    exists,
    link_out_message,
    read_source,
    real,
    real_overlay,
    unreadable_folder,
)
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile
from linnet.syntax import ast
from linnet.syntax.parser import parse


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """A parsed module. `uses` gives the key of the module that the n-th `use` names.

    A `use` that is absent there was reported already. `root` tells a module
    that was asked for from one that another module needs.
    """

    key: str
    file: SourceFile
    tree: ast.Module
    package: str
    uses: dict[int, str]
    root: bool


@dataclass(frozen=True, slots=True)
class ModuleGraph:
    """The modules of a run: each one stands after those that it uses."""

    modules: tuple[LoadedModule, ...]

    def by_key(self, key: str) -> LoadedModule | None:
        return next((m for m in self.modules if m.key == key), None)

    @property
    def roots(self) -> tuple[LoadedModule, ...]:
        return tuple(m for m in self.modules if m.root)


def load_modules(
    paths: Sequence[Path],
    sink: Sink,
    overlay: Mapping[Path, str] | None = None,
    folder: Path | None = None,
) -> ModuleGraph:
    """Loads the modules at `paths` (files, packages, folders of these) and all that they use.

    `overlay` holds texts that count instead of those on disk. Mistakes are
    reported in `sink`, and the graph holds what could be read. Files are named as the paths
    are written, or `folder`, if they lie in these.
    """
    names = Names([*paths, *([folder] if folder else [])])
    loader = _Loader(sink, real_overlay(overlay), names)
    for path in paths:
        loader.add_path(path)
    return loader.finish()


class _Loader:
    def __init__(self, sink: Sink, overlay: Overlay, names: Names) -> None:
        self.sink = sink
        self.shown = names
        self.overlay = overlay
        self.packages: dict[Path, Package | None] = {}
        self.nodes: dict[Path, Node | None] = {}
        self.pending: list[Node] = []
        self.keys: set[str] = set()
        self.std = Package("std", standard_library(), standard_library(), None)

    # --- what was asked for ---

    def add_path(self, path: Path) -> None:
        """A file, a package's folder, or a folder in which these are looked for."""
        path = folder_of(path)
        if os.path.isdir(path):
            self._add_folder(real(path))
        elif exists(path, self.overlay):
            self._add_root(real(path))
        elif os.path.lexists(path):
            # It cannot be read, which is said as if a folder had been given that holds it.
            self._add_root(real(path.parent) / path.name)
        else:
            why = absence(path) or MISSING
            what = "does not exist" if why == MISSING else why
            self.sink.add(Diagnostic("E1202", f"{path.as_posix()} {what}", None))

    def _add_folder(self, folder: Path) -> None:
        found = False
        packages = package_folders(folder, self._unreadable)
        for directory in packages:
            package = self.package(directory)
            for file in package.modules(self.overlay, self._unreadable) if package else ():
                self._add_root(file)
            found = True
        for file in walk(folder, self._unreadable):
            if any(file.is_relative_to(p) for p in packages):
                continue
            found = True
            if real(file).is_relative_to(folder):
                self._add_root(file)
            else:
                self._leads_out(file, "the folder that is checked")
        if not found and not self.sink.errors:
            message = f"nothing to check in {self.shown(folder)}: there is no {SUFFIX} file"
            self.sink.add(Diagnostic("E1202", message, None))

    def _unreadable(self, error: OSError) -> None:
        unreadable_folder(error, self.shown, self.sink)

    def _leads_out(self, file: Path, place: str) -> None:
        self.sink.add(Diagnostic("E1202", link_out_message(self.shown(file), place), None))

    def _add_root(self, file: Path) -> None:
        package = self._package_of(file)
        if package is not None and not package.holds(file):
            self._leads_out(file, "its package")
            return
        # A link to nowhere is told by its own name.
        found = real(file) if exists(file, self.overlay) else file
        node = self.node(found, package, root=True)
        if node is not None:
            node.root = True

    def _package_of(self, file: Path) -> Package | None:
        if file.is_relative_to(self.std.source):
            return self.std
        folder = package_folder(file)
        return self.package(folder) if folder else None

    # --- packages and modules, each once ---

    def package(self, directory: Path) -> Package | None:
        """The package in a real folder; None if its manifest is wrong, which is reported once."""
        if directory not in self.packages:
            manifest = load_manifest(directory, self.sink, self.shown)
            package = None
            if manifest is not None:
                taken = {p.key for p in self.packages.values() if p}
                key = _unique(manifest.name, taken)
                package = Package(key, directory, directory / "src", manifest)
            self.packages[directory] = package
        return self.packages[directory]

    def node(self, file: Path, package: Package | None, root: bool = False) -> Node | None:
        """The parsed module of a real file; None if it cannot be read or parsed."""
        if file in self.nodes:
            return self.nodes[file]
        self.nodes[file] = None
        source = read_source(file, self.shown(file), "E1202", self.overlay, self.sink)
        tree = parse(source, self.sink) if source else None
        if source is None or tree is None:
            return None
        if package is None:
            key, parts = tree.path.dotted() or file.stem, ()
            # The library's names are its own: kernels are chosen by them.
            key = f"{key}~" if key.split(".")[0] == "std" else key
        else:
            parts = package.parts_of(file) if file.is_relative_to(package.source) else (file.stem,)
            key = ".".join((package.key, *parts))
            self._check_header(tree, package, parts, file)
        key = _unique(key, self.keys)
        self.keys.add(key)
        node = Node(key, file, source, tree, package, parts, root)
        self.nodes[file] = node
        self.pending.append(node)
        return node

    def _check_header(
        self, tree: ast.Module, package: Package, parts: tuple[str, ...], file: Path
    ) -> None:
        expected = ".".join((package.name, *parts))
        bad = next((part for part in parts if not is_identifier(part)), None)
        # A header that is not there, or could not be read, was reported.
        if not tree.path.span.text or (bad is None and tree.path.dotted() == expected):
            return
        if bad is not None:
            message = f"`{bad}` in the path of this file cannot be part of a module's name"
            hint = "rename it: letters, digits and `_`, no digit first, no keyword"
        else:
            message = f"this file is the module `{expected}`, not `{tree.path.dotted()}`"
            hint = f"write `module {expected}`"
        note = f"the name follows from {self.shown(file)} in the package `{package.name}`"
        self.sink.add(
            Diagnostic("E1202", message, tree.path.span, "module named here", (), (note,), hint)
        )

    # --- following the uses ---

    def finish(self) -> ModuleGraph:
        resolver = Resolver(self.sink, self.overlay, self.std, self.package, self.shown)
        while self.pending:
            node = self.pending.pop()
            for index, use in enumerate(node.tree.uses):
                target = resolver.target(node, use)
                found = self.node(target.file, target.package) if target else None
                if found is not None:
                    node.uses[index] = found
        nodes = [n for n in self.nodes.values() if n is not None]
        ordered = dependencies_first(nodes, self.sink)
        return ModuleGraph(tuple(_loaded(node) for node in ordered))


def _loaded(node: Node) -> LoadedModule:
    package = node.package.key if node.package else node.key
    uses = {index: target.key for index, target in node.uses.items()}
    return LoadedModule(node.key, node.source, node.tree, package, uses, node.root)


def _unique(name: str, taken: set[str]) -> str:
    """The name, marked until it is new; a mark cannot occur in a name that was written."""
    while name in taken:
        name += "~"
    return name
