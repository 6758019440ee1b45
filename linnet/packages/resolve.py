"""What module a `use` names: its root (`std`, `crate`, a dependency, ...), then the path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from linnet.packages.library import ABSENT, in_library, library_items, plain
from linnet.packages.order import Node
from linnet.packages.package import Package
from linnet.packages.text import Overlay, exists, link_out_message, real
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import Span
from linnet.source.suggest import closest
from linnet.syntax import ast


@dataclass(frozen=True, slots=True)
class Target:
    """The real file of a module and the package it lies in."""

    file: Path
    package: Package


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves the paths of `use` lines; `package` loads the package in a folder, `shown` names a
    file."""

    sink: Sink
    overlay: Overlay
    std: Package
    package: Callable[[Path], Package | None]
    shown: Callable[[Path], str]

    def target(self, user: Node, use: ast.UseDecl) -> Target | None:
        """The module that `use` names in the module `user`; None, and a finding, if none does."""
        path = use.path
        found = self._root(user, path)
        if found is None:
            return None
        package, parts = found
        file = package.file_of(parts)
        if parts[-1:] == ("lib",) and len(parts) == 1:
            hint = f"write `use {path.parts[0].text}`"
            self._report(path, f"module `{path.dotted()}` not found", hint)
        elif not exists(file, self.overlay):
            self._missing(use, package, parts)
        elif not package.holds(file):
            self._report(path, link_out_message(self.shown(file), "its package"), None)
        else:
            return Target(real(file), package)
        return None

    def _root(self, user: Node, path: ast.ModulePath) -> tuple[Package, tuple[str, ...]] | None:
        """The package and the names below its root; the head may be relative."""
        head, *names = (part.text for part in path.parts)
        if head == "std":
            return self.std, tuple(names)
        if user.package is None:
            message = f"`{head}` names no package here"
            hint = "this file belongs to no package, so that only `std` can be used"
            self._report(path, message, hint, path.parts[0].span)
            return None
        if head == "crate":
            return user.package, tuple(names)
        if head in ("self", "super"):
            return self._relative(user, user.package, path)
        manifest = user.package.manifest
        dependencies = manifest.dependencies if manifest else {}
        if head in dependencies:
            package = self.package(dependencies[head])
            return (package, tuple(names)) if package else None
        self._unknown_root(head, user.package, dependencies, path)
        return None

    def _relative(
        self, user: Node, package: Package, path: ast.ModulePath
    ) -> tuple[Package, tuple[str, ...]] | None:
        """`self.x` is below this module, `super.x` beside it, `super.super.x` a level up."""
        names = [part.text for part in path.parts]
        base = list(user.parts)
        if names[0] == "self":
            names.pop(0)
        while names and names[0] == "super":
            if not base:
                self._report(path, "`super` leads out of the package", None)
                return None
            names.pop(0)
            base.pop()
        return package, (*base, *names)

    def _unknown_root(
        self, head: str, package: Package, dependencies: dict[str, Path], path: ast.ModulePath
    ) -> None:
        near = closest(head, ["std", "crate", *dependencies])
        if head == package.name:
            hint = "a package calls itself `crate`"
        elif near:
            hint = f"did you mean `{near}`?"
        else:
            hint = f'add `{head} = {{ path = "..." }}` to [dependencies] in linnet.toml'
        message = f"`{head}` is neither `std`, `crate` nor a dependency of `{package.name}`"
        self._report(path, message, hint, path.parts[0].span)

    def _missing(self, use: ast.UseDecl, package: Package, parts: tuple[str, ...]) -> None:
        path = use.path
        names = [".".join(package.parts_of(f)) for f in package.modules(self.overlay)]
        head = path.dotted().removesuffix(".".join(parts))
        wanted = ".".join(parts)
        near = closest(wanted, [n for n in names if n not in ("", wanted)])
        if near and closest(parts[-1], [near.rpartition(".")[2]]) is None:
            near = None  # only the folders around are alike
        if len(parts) > 1 and exists(package.file_of(parts[:-1]), self.overlay):
            module = ".".join(p.text for p in path.parts[:-1])
            hint = f"to use an item of a module, write `use {module}::{{{parts[-1]}}}`"
        elif package is self.std and (there := _of_library(use, near and f"std.{near}")):
            hint = there
        elif near:
            hint = f"did you mean `{head}{near}`?"
        elif package is self.std:
            hint = f"the modules there: {', '.join(f'`std.{n}`' for n in _beside(names, parts))}"
        else:
            hint = f"it would be the file {self.shown(package.file_of(parts))}"
        self._report(path, f"module `{path.dotted()}` not found", hint)

    def _report(
        self, path: ast.ModulePath, message: str, hint: str | None, span: Span | None = None
    ) -> None:
        self.sink.add(Diagnostic("E1202", message, span or path.span, help=hint))


def _of_library(use: ast.UseDecl, near: str | None) -> str | None:
    """Where the library has what a `use` of a module that it has not asks for."""
    named = [module for n in use.names or () if (module := library_items().get(n.name.text))]
    if named:
        return f"did you mean `{named[0]}`?"
    last = use.path.parts[-1].text
    if near is not None and plain(near.rpartition(".")[2]) == plain(last):
        return None
    absent = ABSENT.get(plain(last))
    return in_library(last) if absent is None else f"there is none: {absent}"


def _beside(names: list[str], parts: tuple[str, ...]) -> list[str]:
    """The modules in the innermost folder of `parts` that there is, or all that are in none."""
    for depth in range(len(parts) - 1, -1, -1):
        around = [*parts[:depth]]
        found = [n for n in names if n and n.split(".")[:-1] == around]
        if found:
            return found
    return []
