"""Standard streams that are closed when the command starts, as by `>&-`."""

from __future__ import annotations

import errno
import os
import sys

from linnet.source.diagnostics import Diagnostic
from linnet.source.shown import reason

_STDIN, STDOUT, _STDERR = range(3)


def occupy() -> None:
    """Give each closed stream a file that is none of the user's: the next one that is opened would
    have its number, and what is printed would be written there. Writing to standard output then
    fails, and nobody reads findings at the standard error."""
    for number, mode in ((_STDIN, os.O_RDONLY), (STDOUT, os.O_RDONLY), (_STDERR, os.O_WRONLY)):
        if not _is_open(number):
            os.open(os.devnull, mode)  # the lowest number that is free
    if sys.stdout is None:
        sys.stdout = os.fdopen(STDOUT, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_STDERR, "w", encoding="utf-8", closefd=False)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def failure(error: OSError) -> Diagnostic:
    """E1202 for an error that names no file: it is one of the output or of the working folder."""
    if error.errno == errno.ENOENT:
        return Diagnostic("E1202", "the working folder is gone", None)
    why = "it is closed" if error.errno == errno.EBADF else reason(error)
    return Diagnostic("E1202", f"cannot write to standard output: {why}", None)
