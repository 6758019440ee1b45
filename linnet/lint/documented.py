"""W2008: an op of a library says what it computes, for it may be run by something else."""

from __future__ import annotations

from collections.abc import Iterator

from linnet.lint.subject import Subject
from linnet.source.diagnostics import Diagnostic


def documentation(subject: Subject) -> Iterator[Diagnostic]:
    """W2008."""
    for decl, _ in subject.functions():
        if decl.kind == "op" and decl.public and not decl.doc:
            message = f"the op `{decl.name.text}` is public and has no documentation"
            help_ = "say what it computes in a `///` comment before it"
            yield Diagnostic("W2008", message, decl.name.span, help=help_)
