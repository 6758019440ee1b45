"""Problems gathered by kind, so that a hundred of one kind are one finding that lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from linnet.source.diagnostics import Diagnostic, Related
from linnet.source.files import Span

# Searching a near name is slow among thousands, and the first few teach the rest.
HINTS = 5
PLACES = 8


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem in words: for one of them, and for `{}` of them."""

    one: str
    many: str


@dataclass(frozen=True, slots=True)
class Problem:
    text: str
    span: Span | None
    hint: str | None


@dataclass(slots=True)
class Problems:
    """The problems of a run. `kinds` is the order in which they are reported.

    `about` stands before each message, `help` is of the problems that have no hint of their own.
    """

    kinds: Sequence[Kind]
    code: str = "E5002"
    about: str = ""
    help: str | None = None
    found: dict[Kind, list[Problem]] = field(default_factory=dict[Kind, list[Problem]])

    def add(self, kind: Kind, text: str, span: Span | None, hint: str | None = None) -> None:
        self.found.setdefault(kind, []).append(Problem(text, span, hint or self.help))

    def hint(self, kind: Kind, search: Callable[[], str | None]) -> str | None:
        """What `search` finds, for the first few problems of a kind."""
        return search() if len(self.found.get(kind, ())) < HINTS else None

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """One finding for each kind that occurred."""
        return tuple(self.grouped(k, self.found[k]) for k in self.kinds if k in self.found)

    def grouped(self, kind: Kind, problems: Sequence[Problem]) -> Diagnostic:
        spans = list(dict.fromkeys(p.span for p in problems if p.span is not None))
        related = tuple(Related(s, "and this") for s in spans[1:PLACES])
        first = spans[0] if spans else None
        if len(problems) == 1:
            message = f"{self.about}{kind.one}: {problems[0].text}"
            return Diagnostic(self.code, message, first, help=problems[0].hint)
        hints = {p.hint for p in problems}
        shared = problems[0].hint if len(hints) == 1 else None
        notes = [p.text if p.hint in (None, shared) else f"{p.text}; {p.hint}" for p in problems]
        message = self.about + kind.many.format(len(problems))
        return Diagnostic(
            self.code, message, first, related=related, notes=tuple(notes), help=shared
        )
