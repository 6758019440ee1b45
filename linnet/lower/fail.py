"""How lowering reports what only bound generics or a missing feature can bring up."""

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


def place_of(span: Span) -> str:
    """`file:line`, as operations carry it."""
    return f"{span.file.path}:{span.file.position(span.start).line}"


def refuse_unguarded(span: Span, where: str) -> NoReturn:
    """Refuse a read that its condition does not guard in index notation."""
    fail(
        "E2190",
        f"{where} reads at a runtime position in index notation",
        span,
        label="both sides are evaluated at every point",
        help="compute a position that is always within the axis first, and read there",
    )


def refuse_at_points(span: Span) -> NoReturn:
    """Refuse an operation that index notation has no scalar form of."""
    fail(
        "E2190",
        "this operation in index notation",
        span,
        label="cannot be evaluated element by element",
        help="name the intermediate tensor with a `let` of its own",
    )
