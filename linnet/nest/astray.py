"""Tensors of a checkpoint that nothing is bound to: what to say of them, and what they may be."""

from __future__ import annotations

from collections.abc import Iterator

from linnet.nest.match import Report
from linnet.nest.misspelt import nearest
from linnet.nest.report import Kind, Problems
from linnet.source.diagnostics import Diagnostic
from linnet.source.shown import shown

ASTRAY = Kind(
    "a tensor of the checkpoint is bound to nothing, and an optional parameter is absent",
    "{} tensors of the checkpoint are bound to nothing, and optional parameters are absent",
)
_FEW = 5


def astray(report: Report) -> dict[str, str]:
    """The unbound tensors that may be an absent optional parameter under a misspelt name, each
    with its path."""
    return nearest((t.name for t in report.unbound), (p.path for p in report.absent))


def reported(report: Report) -> Iterator[Diagnostic]:
    """These as findings (E5002), for a model that has another number of weights than its card
    says. Where the number is right they are a warning, as any tensor that is bound to nothing."""
    problems = Problems((ASTRAY,))
    declared = {p.path: p.span for p in report.absent}
    for name, path in astray(report).items():
        problems.add(ASTRAY, shown(name), declared[path], f"did you mean {shown(path)}?")
    yield from problems.diagnostics()


def listed(report: Report) -> str:
    """The first few unbound tensors, in words."""
    meant = astray(report)
    names = [
        f"{shown(t.name)} (did you mean {shown(meant[t.name])}?)"
        if t.name in meant
        else shown(t.name)
        for t in report.unbound[:_FEW]
    ]
    return ", ".join(names) + (", ..." if len(report.unbound) > _FEW else "")
