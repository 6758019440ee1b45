"""Reading source files: as UTF-8, an editor's unsaved text first."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span, read_file

Overlay = Mapping[Path, str]


def real(path: Path) -> Path:
    """The path with every symbolic link followed; it need not exist."""
    return Path(os.path.realpath(path))


def shown(path: Path) -> str:
    """The path as messages show it: relative to the working folder if it lies in there."""
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix() or "."
    except (ValueError, OSError):
        return path.as_posix()


def real_overlay(overlay: Overlay | None) -> dict[Path, str]:
    """The overlay by real paths, so that it is found however a file was named."""
    return {real(path): text for path, text in (overlay or {}).items()}


def exists(path: Path, overlay: Overlay) -> bool:
    """Whether there is such a file, on disk or in the (real) overlay; a device is none."""
    return is_file(path) or real(path) in overlay


def is_file(path: Path) -> bool:
    """Whether there is such a file, as far as can be seen. Any text may be asked for."""
    return os.path.isfile(path)


def read_source(path: Path, code: str, overlay: Overlay, sink: Sink) -> SourceFile | None:
    """The file's text; `code` is what an unreadable file is reported as."""
    name = shown(path)
    unsaved = overlay.get(real(path))
    if unsaved is not None:
        return SourceFile(name, unsaved.removeprefix("\ufeff"))
    try:
        data = read_file(path).removeprefix(BOM_UTF8)
    except OSError as error:
        reason = error.strerror or "unreadable"
        sink.add(Diagnostic(code, f"cannot read {name}: {reason}", None))
        return None
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
