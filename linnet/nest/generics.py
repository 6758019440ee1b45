"""What the generics of a card's root block are: from `nest.toml`, or from the caller over it.

A mistake in `nest.toml` is E5001 at its place. What a caller gives (`--set`, `generics=`) are
generic arguments, and a mistake in them has the code that it has in a source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from linnet.check.typed import TBlock, TGeneric
from linnet.dims.atoms import sorted_symbols
from linnet.lower.bindings import misfit, misfit_code, unknown_generic, unknown_names
from linnet.lower.instances import Violation
from linnet.nest import words
from linnet.nest.card import Card
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.files import Span
from linnet.source.suggest import closest

Generics = Mapping[str, int | str]

_PACK = "a shape pack, which a card cannot bind"


@dataclass(frozen=True, slots=True)
class Values:
    """The card's table `[generics]`, over it `[tiny]` if `tiny`, over these what is `given`."""

    card: Card
    given: Generics
    tiny: bool = False

    @property
    def merged(self) -> Generics:
        small = self.card.tiny if self.tiny else {}
        return {**self.card.generics, **small, **self.given}

    @property
    def overridden(self) -> bool:
        """Whether they are not the card's own."""
        return bool(self.given) or self.tiny

    def place(self, name: str) -> Span | None:
        """Where the value of a generic stands; None if the caller gave it."""
        if name in self.given:
            return None
        table = "tiny" if self.tiny and name in self.card.tiny else "generics"
        return self.card.place(table, name)

    def code(self, names: Iterable[str], given: str) -> str:
        """`given` for a mistake in what the caller gives, else the code of the card's mistakes."""
        return given if any(n in self.given for n in names) else "E5001"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The sound values of the root's generics. `whole`: those are all, but for defaults.

    `missing` are the generics without any value.
    """

    values: dict[str, int | str]
    whole: bool
    missing: tuple[str, ...] = ()


def resolve(values: Values, block: TBlock, root: str, sink: Sink) -> Resolved:
    """Each generic of the root with its value, what is unknown, missing or of a wrong kind
    reported; a misspelt name is not reported again as the missing one that it stands for."""
    merged = values.merged
    card = values.card
    wanting = [
        g
        for g in block.generics
        if g.name not in merged and g.default is None and card.knows("generics", g.name)
    ]
    meant = _unknown(values, block, root, [g.name for g in wanting], sink)
    for generic in wanting:
        if generic.name not in meant:
            message = f"the generic `{generic.name}` of `{root}` has no value"
            hint = f"add `{generic.name} = ...` to `[generics]`"
            related = _declared_at(generic)
            place = card.place("generics")
            sink.add(Diagnostic("E5001", message, place, related=related, help=hint))
    sound: dict[str, int | str] = {}
    unsure = bool(wanting)
    for generic in block.generics:
        name = generic.name
        if name in merged and _fits(values, generic, sink):
            sound[name] = merged[name]
        elif name in merged or not card.knows("generics", name):
            unsure = True
    return Resolved(sound, not unsure, tuple(g.name for g in wanting))


def _unknown(values: Values, block: TBlock, root: str, wanting: list[str], sink: Sink) -> set[str]:
    """Report names that are no generics; returns those of `wanting` that may have been meant."""
    declared = [g.name for g in block.generics]
    meant: set[str] = set()
    for name in unknown_names(block.generics, values.merged):
        near = closest(name, [w for w in wanting if w not in meant]) or closest(name, declared)
        if near in wanting:
            meant.add(near)
        code, place = values.code((name,), "E2111"), values.place(name)
        nobody = f"`{root}` has no generic"
        sink.add(unknown_generic(name, nobody, declared, near=near, code=code, place=place))
    return meant


def _fits(values: Values, generic: TGeneric, sink: Sink) -> bool:
    value = values.merged[generic.name]
    wanted = _PACK if generic.kind == "Shape" else misfit(generic, value)
    if wanted is not None:
        message = f"`{generic.name}` is {wanted}, not {words.kind(value)}"
        code = values.code((generic.name,), misfit_code(generic, value))
        related = _declared_at(generic)
        sink.add(Diagnostic(code, message, values.place(generic.name), related=related))
    return wanted is None


def violated(values: Values, root: str, violation: Violation) -> Diagnostic:
    """The report of a `where` that the values do not satisfy."""
    names = [s.name for s in sorted_symbols(violation.relation.symbols())]
    there = [n for n in names if n in values.merged]
    place = values.place(there[0]) if there else values.card.place("generics")
    return violation.report(values.code(names, "E2206"), place, root)


def _declared_at(generic: TGeneric) -> tuple[Related, ...]:
    return (Related(generic.span, "declared here"),)
