"""Why a file cannot be reached: links in a circle, say, are not simply missing."""

from __future__ import annotations

import errno
from pathlib import Path

from linnet.source.shown import reason

MISSING = "is missing"


def absence(path: Path) -> str | None:
    """Why nothing is found at `path`, in words that follow its name; None if something is."""
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "is part of a circle of links, so that no file is ever reached"
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            return MISSING
        return f"cannot be read: {reason(error)}"
    except ValueError:  # a name that no file has
        return MISSING
    return None
