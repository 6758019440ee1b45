"""Which source files paths stand for, and putting new bytes in the place of old ones."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from linnet.packages.package import SUFFIX, folder_of, walk
from linnet.packages.text import Names, link_out_message, real, unreadable_folder
from linnet.source.diagnostics import Diagnostic, Sink


def source_files(paths: Sequence[Path], names: Names, sink: Sink) -> list[Path]:
    """The real files of `paths`, each once: files, and of folders all sources below. A link out of
    its folder is reported and left alone."""
    found: dict[Path, None] = {}
    for path in paths:
        path = folder_of(path)
        files = _below(path, names, sink) if os.path.isdir(path) else [real(path)]
        found.update(dict.fromkeys(files))
    return list(found)


def _below(path: Path, names: Names, sink: Sink) -> Iterator[Path]:
    folder, empty = real(path), True
    for file in walk(folder, lambda error: unreadable_folder(error, names, sink)):
        empty = False
        if real(file).is_relative_to(folder):
            yield real(file)
        else:
            message = link_out_message(names(file), "the folder that was given")
            sink.add(Diagnostic("E1202", message, None))
    if empty and not sink.errors:
        message = f"there is no {SUFFIX} file in {names(folder)}"
        sink.add(Diagnostic("E1202", message, None))


def replace_data(path: Path, data: bytes) -> None:
    """Gives a file new bytes, all of it or, with an `OSError`, nothing; its permissions stay."""
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        shutil.copymode(path, name)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
