"""What is worked out about an item when somebody first asks, and once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from linnet.check.names import ItemRef
from linnet.source.files import Span

Found = TypeVar("Found")

# Items are declared in the order of their dependencies, so only circles of items get deep.
_DEEPEST = 12
_CIRCLES = {"E2119": "calls itself", "E2122": "is defined in terms of itself"}


class Reports(Protocol):
    """The scope of who asks."""

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        related: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
    ) -> object: ...


@dataclass(slots=True)
class Progress:
    """The items that are being worked out, each for the one before it, and those that were found
    to ask for themselves. All the tables of a run share it."""

    active: list[str] = field(default_factory=list[str])
    circular: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class OnDemand(Generic[Found]):
    """A table of items of one form. `make` gives None after a report; an item that is asked for
    while it is made is defined by itself, which is reported with `code`."""

    progress: Progress
    make: Callable[[ItemRef], Found | None]
    code: str = "E2122"
    found: dict[str, Found | None] = field(default_factory=dict[str, "Found | None"])

    def of(self, ref: ItemRef, user: Reports, span: Span) -> Found | None:
        """What was found out about `ref`, which `user` names at `span`; None after a report."""
        if ref.key in self.found:
            return self.found[ref.key]
        active = self.progress.active
        if ref.key in active:
            self._circle(ref, user, span)
            return None
        if len(active) == _DEEPEST:
            names = [_short(key) for key in active]
            notes = [f"by way of {' -> '.join(names)} and more"]
            user.error(self.code, f"{names[0]} {_CIRCLES[self.code]}", span, notes=notes)
            return None
        active.append(ref.key)
        try:
            made = self.make(ref)
        finally:
            active.pop()
        self.found[ref.key] = made
        return made

    def _circle(self, ref: ItemRef, user: Reports, span: Span) -> None:
        active, circular = self.progress.active, self.progress.circular
        if ref.key in circular:
            return
        circular.add(ref.key)
        chain = [*active[active.index(ref.key) :], ref.key]
        user.error(
            self.code,
            f"`{ref.item.name.text}` {_CIRCLES[self.code]}",
            span,
            related=[(ref.item.name.span, "declared here")],
            notes=[f"by way of {' -> '.join(_short(key) for key in chain)}"],
        )


def _short(key: str) -> str:
    return f"`{key.rpartition('::')[2]}`"
