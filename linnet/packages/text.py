"""Reading what lies in packages, and reporting what cannot be read; sources as UTF-8, an editor's
unsaved text first."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from pathlib import Path

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span, read_file
from linnet.source.shown import reason

Overlay = Mapping[Path, str]


def real(path: Path) -> Path:
    """The path with every symbolic link followed; it need not exist."""
    return Path(os.path.realpath(path))


def shown(path: Path) -> str:
    """A path that the user did not write: relative to the working folder if it lies in there."""
    try:
        here = Path.cwd()
        # Everything lies in the root of all folders: nobody thinks of it as relative to that.
        return path.as_posix() if here == here.parent else path.relative_to(here).as_posix()
    except (ValueError, OSError):
        return path.as_posix()


class Names:
    """How messages name files: as the user wrote them where they lie in what was given."""

    def __init__(self, given: Iterable[Path]) -> None:
        self.given: dict[Path, Path] = {}
        for path in given:
            self._add(path)

    def _add(self, path: Path) -> None:
        self.given.setdefault(real(path), path)
        folder = path if os.path.isdir(path) else path.parent
        self.given.setdefault(real(folder), folder)
        # The rest of its package is named in the same way.
        if folder is not path and folder.name == "src":
            self.given.setdefault(real(folder.parent), folder.parent)

    def __call__(self, path: Path) -> str:
        at = real(path.parent) / path.name
        for folder in (at, *at.parents):
            if folder in self.given:
                return (self.given[folder] / at.relative_to(folder)).as_posix()
        return shown(at)


def real_overlay(overlay: Overlay | None) -> dict[Path, str]:
    """The overlay by real paths, so that it is found however a file was named."""
    return {real(path): text for path, text in (overlay or {}).items()}


def exists(path: Path, overlay: Overlay) -> bool:
    """Whether there is such a file, on disk or in the (real) overlay; a device is none."""
    return is_file(path) or real(path) in overlay


def is_file(path: Path) -> bool:
    """Whether there is such a file, as far as can be seen. Any text may be asked for."""
    return os.path.isfile(path)


def read_source(
    path: Path, name: str, code: str, overlay: Overlay, sink: Sink
) -> SourceFile | None:
    """The file's text, shown as `name`; `code` is what an unreadable file is reported as."""
    unsaved = overlay.get(real(path))
    if unsaved is not None:
        return SourceFile(name, unsaved.removeprefix("\ufeff"))
    data = read_data(path, name, code, sink)
    return None if data is None else source_of(data, name, sink)


def read_data(
    path: Path, name: str, code: str, sink: Sink, place: Span | None = None
) -> bytes | None:
    """The bytes of a file, shown as `name`; None if it is unreadable, which `code` reports at the
    `place` that names it."""
    try:
        return read_file(path)
    except OSError as error:
        sink.add(Diagnostic(code, f"cannot read {name}: {reason(error)}", place))
        return None


def decoded(data: bytes, name: str, code: str, sink: Sink) -> str | None:
    """The text of a file of settings, shown as `name`; None if it is not UTF-8, which `code`
    reports. A source's mistake has a place: see `source_of`."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{name} is not UTF-8: byte {error.start} cannot be decoded"
        sink.add(Diagnostic(code, message, None))
        return None


def unreadable_folder(error: OSError, names: Names, sink: Sink) -> None:
    """Reports a folder that the system did not list."""
    folder = names(Path(str(error.filename)))
    sink.add(Diagnostic("E1202", f"cannot look into {folder}: {reason(error)}", None))


def link_out_message(name: str, place: str) -> str:
    """What is said of a link that is not followed, since its target is not within `place`."""
    return f"{name} is a symbolic link out of {place}"


def source_of(data: bytes, name: str, sink: Sink) -> SourceFile | None:
    """The text that bytes say, shown as `name`; None if they are not UTF-8, which is reported."""
    data = data.removeprefix(BOM_UTF8)
    try:
        return SourceFile(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        file = SourceFile(name, data.decode("utf-8", errors="replace"))
        # The replaced text agrees with the bytes up to the first bad one.
        at = len(data[: error.start].decode("utf-8"))
        finding = Diagnostic(
            "E1001",
            "this file is not UTF-8",
            Span(file, at, at + 1),
            f"byte 0x{data[error.start]:02x} here",
            help="save the file as UTF-8",
        )
        sink.add(finding)
        return None
