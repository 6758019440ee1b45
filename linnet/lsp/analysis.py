"""One check of a package, or of a file outside any, as the editor's requests look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from linnet.lsp.declared import Names
from linnet.lsp.resolve import resolve
from linnet.lsp.types_at import TypesAt, types_of
from linnet.packages.package import package_folder, standard_library
from linnet.packages.text import real
from linnet.pipeline import CheckResult, check_paths
from linnet.source.files import SourceFile
from linnet.syntax import ast


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a check of `unit` found. `paths` are the real paths of its sources."""

    unit: Path
    checked: CheckResult
    paths: dict[SourceFile, Path]

    @cached_property
    def types(self) -> TypesAt:
        """The types of expressions and names."""
        return types_of(self.checked.program)

    @cached_property
    def names(self) -> Names:
        """What each name means."""
        return resolve(self.checked.graph.modules, self.types)

    def tree(self, path: Path) -> ast.Module | None:
        """The syntax of a real path, as far as it could be read."""
        modules = self.checked.graph.modules
        return next((m.tree for m in modules if self.paths[m.file] == path), None)

    def source(self, path: Path) -> SourceFile | None:
        """The text of a real path as it was checked."""
        return next((file for file, at in self.paths.items() if at == path), None)


def analyze(unit: Path, overlay: Mapping[Path, str]) -> Analysis:
    """Check `unit`, the unsaved texts of `overlay` first."""
    checked = check_paths(unit, overlay)
    files = [module.file for module in checked.graph.modules]
    return Analysis(unit, checked, {file: path_of(file) for file in files})


def path_of(file: SourceFile) -> Path:
    """The real path of a file of a check whose paths were absolute."""
    return real(Path(file.path))


def unit_of(path: Path) -> Path:
    """What is checked to know about a real path: the folder of its package, or the file alone."""
    if path.is_relative_to(standard_library()):
        return standard_library()
    return package_folder(path) or path
