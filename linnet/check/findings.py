"""Findings that are one mistake: folded into the first, or taken back for what they follow from.

    fn flat<N: Dim>(x: Tensor[N; f32]) -> .. where N % 3 == 0 { .. }    reported: needs N % 2 == 0
    flat(y)                                                             not: `y` has no third of N

A `where` is used before the body it belongs to was checked. What it asks at its uses is therefore
taken back in the end, if a finding is about the same generics of the item that asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from linnet.check.blame import Offered, Refused, Sought
from linnet.check.typed import Local
from linnet.dims.dims import Symbol
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import Span


@dataclass(frozen=True, slots=True)
class WhereUse:
    """A use of `item` at which relations of its `where` do not hold; `symbols` are the generics
    of the item that these relations mention."""

    item: str
    symbols: frozenset[Symbol]


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """`about` are the symbols of the relation that is not provable, `use` what asked for it."""

    diagnostic: Diagnostic
    about: frozenset[Symbol]
    use: WhereUse | None


@dataclass(slots=True)
class Findings:
    """All findings of a run, in groups of one mistake. The first of a group stands in the sink."""

    sink: Sink
    _groups: list[list[Finding]] = field(default_factory=list[list[Finding]])
    # The number of a group.
    _by_key: dict[object, int] = field(default_factory=dict[object, int])
    _refused: dict[Refused, list[int]] = field(default_factory=dict[Refused, list[int]])

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

    def settle(self, accepted: AbstractSet[Local]) -> None:
        """Take back what follows from other findings, and tell of each group the further places.
        To be asked once, in the end; `accepted` are the parameters for which some argument is
        right."""
        gone = self._explained()
        before = [group[0].diagnostic for group in self._groups]
        left = [[f.diagnostic for f in g if f not in gone] for g in self._merged(accepted)]
        kept = {found[0] for found in left if found}
        for first, found in zip(before, left, strict=True):
            if found:
                self.sink.replace(first, _with_places(found))
            elif first not in kept:
                self.sink.remove(first)

    def _merged(self, accepted: AbstractSet[Local]) -> list[list[Finding]]:
        """The groups, those that are due to one wrong parameter in the place of the first of
        them."""
        leaders = list(range(len(self._groups)))

        def leader(group: int) -> int:
            while leaders[group] != group:
                group = leaders[group]
            return group

        for refused, groups in self._refused.items():
            if refused.parameter not in accepted:
                for other in groups[1:]:
                    low, high = sorted((leader(groups[0]), leader(other)))
                    leaders[high] = low
        merged: list[list[Finding]] = [[] for _ in self._groups]
        for number, group in enumerate(self._groups):
            merged[leader(number)] += group
        return merged

    def _explained(self) -> set[Finding]:
        """The uses that follow from a finding which stays, at once or by way of others. Uses that
        only follow from each other stay."""
        every = [f for group in self._groups for f in group]
        about: dict[Symbol, list[Finding]] = {}
        for finding in every:
            for symbol in finding.about:
                about.setdefault(symbol, []).append(finding)
        causes = {f: _causes(f, about) for f in every}
        roots = {f for f, of in causes.items() if not of}
        known = set(roots)
        while True:
            more = {f for f, of in causes.items() if f not in known and not known.isdisjoint(of)}
            if not more:
                return known - roots
            known |= more


def _bare(key: object) -> object:
    return key.key if isinstance(key, Offered | Sought) else key


def _causes(finding: Finding, about: dict[Symbol, list[Finding]]) -> set[Finding]:
    asked = finding.use.symbols if finding.use is not None else frozenset[Symbol]()
    return {f for symbol in asked for f in about.get(symbol, ())} - {finding}


def _with_places(found: Sequence[Diagnostic]) -> Diagnostic:
    """The first of some findings of one mistake, with the places of the others."""
    first = found[0]
    spans = [d.span for d in found[1:] if d.span is not None and d.span != first.span]
    if not spans or first.span is None:
        return first
    here = sorted({_line(s) for s in spans if s.file is first.span.file})
    places = [f"line{'s' if len(here) > 1 else ''} {', '.join(map(str, here))}"] if here else []
    places += sorted({f"{s.file.path}:{_line(s)}" for s in spans if s.file is not first.span.file})
    note = f"the same is wrong further on, at {', '.join(places)}"
    return replace(first, notes=(*first.notes, note))


def _line(span: Span) -> int:
    return span.file.position(span.start).line
