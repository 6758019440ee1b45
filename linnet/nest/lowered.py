"""A card's entries as tensor IR, and the states that they share: what a backend is given."""

from __future__ import annotations

from collections.abc import Mapping

from linnet.backends.base import Sources, Stored
from linnet.dtypes import BY_NAME
from linnet.lower.module import (
    AsWritten,
    Functions,
    LoweredEntry,
    lower_entry_as_written,
    lowered_entry,
)
from linnet.lower.outline import outline_of
from linnet.nest.presence import Present
from linnet.nest.program import CardProgram


def lower_card(
    program: CardProgram, entry: str, present: Present, given: Mapping[str, bool] | None = None
) -> LoweredEntry:
    """An entry, the root's generics bound, its own left open."""
    return lowered_entry(program.program, program.root, program.generics, entry, present, given)


def card_sources(program: CardProgram, present: Present) -> Sources:
    """The card as it is written."""
    written = Functions.of(program.program, own_symbols=True)

    def lower(entry: str, given: Mapping[str, bool]) -> AsWritten:
        return lower_entry_as_written(
            program.program, program.root, program.generics, entry, present, given, written
        )

    return Sources(
        lambda entry, given: lower(entry, dict(given)),
        lambda: outline_of(program.program, program.root, program.generics, present),
    )


def stored_states(program: CardProgram, present: Present) -> tuple[Stored, ...]:
    """The states, those of absent blocks left out."""
    return tuple(
        Stored(i.path, i.shape, BY_NAME[i.dtype])
        for i in program.instances
        if i.kind == "state" and (i.holder is None or present(i.holder))
    )
