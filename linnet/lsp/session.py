"""The open buffers of an editor, and what is known of the packages they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from linnet.lsp.analysis import Analysis, analyze, unit_of
from linnet.packages.package import package_folders
from linnet.packages.text import real


@dataclass(frozen=True, slots=True)
class Buffer:
    """An open text. `uri` is how the editor names it."""

    uri: str
    text: str
    version: int | None


@dataclass(slots=True)
class Session:
    """`buffers` are the open texts by real path; they win over files."""

    buffers: dict[Path, Buffer] = field(default_factory=dict[Path, Buffer])
    _analyses: dict[Path, Analysis] = field(default_factory=dict[Path, Analysis])

    def open(self, path: Path, buffer: Buffer) -> None:
        """Take the text of a real path from the editor."""
        self.buffers[path] = buffer
        self.forget()

    def close(self, path: Path) -> None:
        """Take the text of a real path from its file again."""
        self.buffers.pop(path, None)
        self.forget()

    def forget(self) -> None:
        """Some text is another one: a module may be used by any other."""
        self._analyses.clear()

    def analysis(self, path: Path) -> Analysis:
        """What is known now of the package of a real path."""
        return self._of_unit(unit_of(path))

    def every(self, folders: Iterable[Path] = ()) -> Iterator[Analysis]:
        """What is known of all packages that have an open text, or lie in some folders."""
        packages = (real(package) for folder in folders for package in package_folders(folder))
        for unit in dict.fromkeys([*map(unit_of, self.buffers), *packages]):
            yield self._of_unit(unit)

    def texts(self) -> dict[Path, str]:
        """The open texts, which count instead of those on disk."""
        return {at: buffer.text for at, buffer in self.buffers.items()}

    def _of_unit(self, unit: Path) -> Analysis:
        if unit not in self._analyses:
            self._analyses[unit] = analyze(unit, self.texts())
        return self._analyses[unit]
