"""How lowering reports what only bound generics can bring up."""

from __future__ import annotations

from typing import NoReturn

from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.files import Span


def fail(
    code: str,
    message: str,
    span: Span | None,
    *,
    label: str = "",
    notes: tuple[str, ...] = (),
    help: str | None = None,
) -> NoReturn:
    """Raise a `LinnetError` of one finding."""
    raise LinnetError([Diagnostic(code, message, span, label=label, notes=notes, help=help)])
