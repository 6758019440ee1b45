"""Findings as data. Rendering them is `render.py`'s work, their meaning stands in `codes.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from linnet.source.codes import CODES, severity_of
from linnet.source.files import SourceFile, Span


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that a finding speaks of, and what it has to do with it."""

    span: Span
    label: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `span` is None only where no text is to blame (a missing file, say)."""

    code: str
    message: str
    span: Span | None
    label: str = ""
    related: tuple[Related, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None

    def __post_init__(self) -> None:
        assert self.code in CODES, self.code

    @property
    def severity(self) -> str:
        """`error` or `warning`."""
        return severity_of(self.code)


@dataclass(slots=True)
class Sink:
    """Collects the findings of a run; an equal finding is kept once."""

    found: dict[Diagnostic, None] = field(default_factory=dict[Diagnostic, None])

    def add(self, diagnostic: Diagnostic) -> None:
        self.found.setdefault(diagnostic)

    def remove(self, diagnostic: Diagnostic) -> None:
        """Take a finding back."""
        del self.found[diagnostic]

    def replace(self, old: Diagnostic, new: Diagnostic) -> None:
        """Put `new` where `old` was reported."""
        if new == old:
            return
        self.found = {(new if d == old else d): None for d in self.found}

    def arrange(self, files: Sequence[SourceFile]) -> None:
        """Put the findings in the order of the files and of the places in them."""
        order = {id(file): number for number, file in enumerate(files)}

        def place(found: Diagnostic) -> tuple[int, int]:
            span = found.span
            return (-1, 0) if span is None else (order.get(id(span.file), -1), span.start)

        self.found = dict.fromkeys(sorted(self.found, key=place))

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.found)

    @property
    def errors(self) -> int:
        return sum(d.severity == "error" for d in self.found)
