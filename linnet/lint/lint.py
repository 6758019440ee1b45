"""Every lint, in the order of their codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from linnet.check.names import SourceModule
from linnet.check.typed import Program
from linnet.lint import casts, documented, hiding, known, naming, quotients, renames, unused
from linnet.lint.subject import Subject
from linnet.source.diagnostics import Diagnostic

LINTS: tuple[Callable[[Subject], Iterator[Diagnostic]], ...] = (
    unused.generics,
    unused.items,
    unused.parameters,
    hiding.hidden,
    renames.renames,
    unused.variables,
    naming.names,
    documented.documentation,
    known.comparisons,
    known.relations,
    casts.casts,
    quotients.quotients,
)


def lint(modules: Iterable[SourceModule], program: Program) -> list[Diagnostic]:
    """What there is to say about the modules that were asked for, in a program without errors."""
    subjects = [Subject(m.key, m.tree, program) for m in modules if m.root]
    return [found for subject in subjects for each in LINTS for found in each(subject)]
