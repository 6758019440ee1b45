"""Packages on disk: which one a file belongs to, and which file a module path names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import linnet
from linnet.packages.manifest import MANIFEST, Manifest
from linnet.packages.text import Overlay, is_file, real

SUFFIX = ".linnet"

Failed = Callable[[OSError], None]  # what is told of a folder that cannot be read


@dataclass(frozen=True, slots=True)
class Package:
    """A package in a run. `key` is its name, made unique; `source` the real folder of its modules.

    The standard library is the package `std`, without a manifest.
    """

    key: str
    directory: Path
    source: Path
    manifest: Manifest | None

    @property
    def name(self) -> str:
        """The first name of its modules' headers."""
        return self.manifest.name if self.manifest else self.key

    def file_of(self, parts: tuple[str, ...]) -> Path:
        """The file of `crate.a.b`, given `("a", "b")`; `()` is the package's own module."""
        return self.source.joinpath(*(parts or ("lib",))).with_suffix(SUFFIX)

    def parts_of(self, file: Path) -> tuple[str, ...]:
        """The inverse of `file_of`, for a file below `source`."""
        parts = file.relative_to(self.source).with_suffix("").parts
        return () if parts == ("lib",) else parts

    def holds(self, file: Path) -> bool:
        """Whether the file, links followed, lies in the package. What we ship is trusted."""
        return self.manifest is None or real(file).is_relative_to(self.directory)

    def modules(self, overlay: Overlay, failed: Failed | None = None) -> list[Path]:
        """The files of all its modules, in order."""
        unsaved = [p for p in overlay if p.suffix == SUFFIX and p.is_relative_to(self.source)]
        return sorted({*walk(self.source, failed), *unsaved})


def standard_library() -> Path:
    """The folder of the shipped library, installed or in a checkout."""
    inside = Path(linnet.__file__).parent
    installed = inside / "stdlib"
    return real(installed if installed.is_dir() else inside.parent / "stdlib")


def package_folder(file: Path) -> Path | None:
    """The folder of the package whose `src` holds the file, None for a file outside any."""
    for folder in file.parents:
        if is_file(folder / MANIFEST):
            return folder if file.is_relative_to(folder / "src") else None
    return None


def folder_of(path: Path) -> Path:
    """The package's folder where a path is its manifest, else the path itself."""
    manifest = path.name == MANIFEST and not os.path.isdir(path)
    return path.parent if manifest else path


def walk(folder: Path, failed: Failed | None = None) -> Iterator[Path]:
    """The `.linnet` files below a folder, hidden ones aside; links to folders are not followed."""
    for here, folders, files in os.walk(folder, onerror=failed):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        names = sorted(f for f in files if f.endswith(SUFFIX) and not f.startswith("."))
        yield from (Path(here, name) for name in names)


def package_folders(folder: Path, failed: Failed | None = None) -> list[Path]:
    """The packages below a folder, itself included; none is looked for inside another."""
    found: list[Path] = []
    for here, folders, files in os.walk(folder, onerror=failed):
        if MANIFEST in files:
            found.append(Path(here))
            folders.clear()
        folders[:] = sorted(f for f in folders if not f.startswith("."))
    return found
