"""Findings that are one mistake: folded into the first, or taken back for what they follow from.

    fn flat<N: Dim>(x: Tensor[N; f32]) -> .. where N % 3 == 0 { .. }    reported: needs N % 2 == 0
    flat(y)                                                             not: `y` has no third of N

A `where` is used before the body it belongs to was checked. What it asks at its uses is therefore
taken back in the end, if a finding is about the same generics of the item that asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from linnet.check.blame import Finding
from linnet.check.keys import Generics, Offered, Order, Parameters, Refused, Sought
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import Span


@dataclass(slots=True)
class Findings:
    """All findings of a run, in groups of one mistake. The first of a group stands in the sink."""

    sink: Sink
    _groups: list[list[Finding]] = field(default_factory=list[list[Finding]])
    # The number of a group.
    _by_key: dict[object, int] = field(default_factory=dict[object, int])
    _refused: dict[Refused, list[int]] = field(default_factory=dict[Refused, list[int]])
    # What may follow from another finding.
    _excused: list[tuple[Finding, Finding]] = field(default_factory=list[tuple[Finding, Finding]])

    def add(self, finding: Finding, keys: Sequence[object]) -> None:
        """Report a finding, or add it to the one that shares a key with it."""
        sought = [_bare(k) for k in keys if not isinstance(k, Offered | Refused)]
        offered = [_bare(k) for k in keys if not isinstance(k, Sought | Refused)]
        group = next((self._by_key[k] for k in sought if k in self._by_key), len(self._groups))
        if group == len(self._groups):
            self._groups.append([])
            self.sink.add(finding.diagnostic)
        self._groups[group].append(finding)
        for key in offered:
            self._by_key.setdefault(key, group)
        for refused in (k for k in keys if isinstance(k, Refused)):
            self._refused.setdefault(refused, []).append(group)

    def excuse(self, finding: Finding, cause: Finding) -> None:
        """Report of a finding only its place, along with what it may follow from."""
        self._excused.append((finding, cause))

    def settle(self, accepted: Mapping[object, int]) -> None:
        """Take back what follows from other findings, and tell of each group the further places,
        and the places of what may follow from it. To be asked once, in the end; `accepted` says
        how often an argument is right, by its parameter or generic, or by their list."""
        gone = self._explained(accepted)
        groups = self._merged(accepted)
        after = self._after(groups, gone)
        before = [group[0].diagnostic for group in self._groups]
        left = [[f.diagnostic for f in group if f not in gone] for group in groups]
        kept = {found[0] for found in left if found}
        for first, found, spans in zip(before, left, after, strict=True):
            if found:
                self.sink.replace(first, _with_places(found, spans))
            elif first not in kept:
                self.sink.remove(first)

    def _after(
        self, groups: list[list[Finding]], gone: Mapping[Finding, Finding]
    ) -> list[list[Span]]:
        """By group, the places of what may follow from it."""
        home = {f: number for number, group in enumerate(groups) for f in group}
        after: list[list[Span]] = [[] for _ in groups]
        for finding, cause in [*gone.items(), *self._excused]:
            span = finding.diagnostic.span
            if span is not None:
                after[home[gone.get(cause, cause)]].append(span)
        return after

    def _merged(self, accepted: Mapping[object, int]) -> list[list[Finding]]:
        """The groups, those that are due to one wrong parameter in the place of the first of
        them."""
        leaders = list(range(len(self._groups)))

        def leader(group: int) -> int:
            while leaders[group] != group:
                group = leaders[group]
            return group

        for refused, groups in self._refused.items():
            right = accepted.get(refused.parameter, 0)
            if right == 0 or (isinstance(refused.parameter, Order) and right < len(groups)):
                for other in groups[1:]:
                    low, high = sorted((leader(groups[0]), leader(other)))
                    leaders[high] = low
        merged: list[list[Finding]] = [[] for _ in self._groups]
        for number, group in enumerate(self._groups):
            merged[leader(number)] += group
        return merged

    def _explained(self, accepted: Mapping[object, int]) -> dict[Finding, Finding]:
        """The uses that follow from a finding which stays, at once or by way of others, and that
        finding. Uses that only follow from each other stay, and what is `accepted` elsewhere is
        not why a use is wrong."""
        every = [f for group in self._groups for f in group]
        about: dict[object, list[Finding]] = {}
        for finding in every:
            for thing in finding.about:
                if not (isinstance(thing, Parameters | Generics) and thing in accepted):
                    about.setdefault(thing, []).append(finding)
        causes = {f: _causes(f, about) for f in every}
        root = {f: f for f, of in causes.items() if not of}
        while True:
            open_ = [(f, of) for f, of in causes.items() if f not in root]
            more = {f: root[known[0]] for f, of in open_ if (known := [c for c in of if c in root])}
            if not more:
                return {f: r for f, r in root.items() if f is not r}
            root |= more


def _bare(key: object) -> object:
    return key.key if isinstance(key, Offered | Sought) else key


def _causes(finding: Finding, about: dict[object, list[Finding]]) -> list[Finding]:
    found = chain(*(about.get(thing, ()) for thing in finding.follows))
    return list(dict.fromkeys(f for f in found if f is not finding))


def _with_places(found: Sequence[Diagnostic], after: Sequence[Span]) -> Diagnostic:
    """The first of some findings of one mistake, with the places of the others, and of what may
    follow from it."""
    first = found[0]
    if first.span is None:
        return first
    further = [d.span for d in found[1:] if d.span is not None and d.span != first.span]
    notes = [
        f"{what}, at {_listed(first.span, spans)}"
        for what, spans in (
            ("the same is wrong further on", further),
            ("what may follow from it is not reported", after),
        )
        if spans
    ]
    return replace(first, notes=(*first.notes, *notes))


def _listed(first: Span, spans: Sequence[Span]) -> str:
    here = sorted({_line(s) for s in spans if s.file is first.file})
    places = [f"line{'s' if len(here) > 1 else ''} {', '.join(map(str, here))}"] if here else []
    places += sorted({f"{s.file.path}:{_line(s)}" for s in spans if s.file is not first.file})
    return ", ".join(places)


def _line(span: Span) -> int:
    return span.file.position(span.start).line
