"""A card with its source and bindings, read in one go: a mistake in one hides none in another."""

from __future__ import annotations

import os
from dataclasses import dataclass

from linnet.nest.bindings import Bindings, load_bindings
from linnet.nest.card import Card, Draft, draft_card
from linnet.nest.program import CardProgram, Generics, check_source, open_card
from linnet.pipeline import CheckResult
from linnet.source.diagnostics import Diagnostic, Sink


@dataclass(frozen=True, slots=True)
class Opened:
    """What could be read of a card; each part is None if something is wrong with it.

    `overridden`: the generics are not the card's own. `sound`: nothing is wrong.
    """

    card: Card | None
    program: CardProgram | None
    bindings: Bindings | None
    overridden: bool
    sound: bool


def open_whole(
    name: str | os.PathLike[str],
    sink: Sink,
    generics: Generics | None = None,
    *,
    tiny: bool = False,
    checked: CheckResult | None = None,
) -> Opened | None:
    """Read all of a card, by its name or folder; None if there is none. All mistakes are reported.

    `generics` override the card's, or those of its table `[tiny]`. `checked` is a check of the
    card's folder, which has reported what is wrong with the source.
    """
    before = sink.errors
    draft = draft_card(name, sink)
    if draft is None:
        return None
    overrides = {**_tiny(draft, sink), **(generics or {})} if tiny else {**(generics or {})}
    source = _source(draft, checked, sink)
    program = None
    if draft.card is not None and source is not None:
        program = open_card(draft.card, sink, overrides, source)
    bindings = load_bindings(draft.bindings, sink, draft.bindings_place)
    return Opened(draft.card, program, bindings, bool(overrides), sink.errors == before)


def _tiny(draft: Draft, sink: Sink) -> Generics:
    card = draft.card
    if card is not None and draft.whole and not card.tiny:
        message = f"the card `{card.name}` has no table [tiny]"
        hint = "give generics that make it small instead"
        sink.add(Diagnostic("E5001", message, card.place("tiny"), help=hint))
    return card.tiny if card is not None else {}


def _source(draft: Draft, checked: CheckResult | None, sink: Sink) -> CheckResult | None:
    if checked is not None and not checked.sink.errors:
        return checked
    if draft.source is None:
        return None
    # The errors of the check may be of another card: this one may yet be right.
    return check_source(draft.source, draft.directory, sink if checked is None else Sink())
