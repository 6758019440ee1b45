"""How a text is refused."""

from __future__ import annotations

from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError


def refused(
    message: str,
    *,
    code: str = "E5005",
    notes: tuple[str, ...] = (),
    help: str | None = None,
) -> LinnetError:
    """One finding, to be raised; no text of a file is to blame."""
    return LinnetError([Diagnostic(code, message, None, notes=notes, help=help)])
