"""A card with what the checkpoint in its own folder tells of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from linnet.nest.card import Card
from linnet.nest.generics import Generics
from linnet.nest.hub import default_files, is_beside
from linnet.nest.opened import Opened, open_whole
from linnet.nest.survey import Survey, survey
from linnet.source.diagnostics import Sink

if TYPE_CHECKING:
    # It brings NumPy.
    from linnet.nest.checkpoint import Checkpoint


def own_headers(card: Card | None, sink: Sink) -> Checkpoint | None:
    """The headers of the checkpoint in the card's folder, None where it is not there as a whole.
    One that would have to be downloaded is not asked for."""
    if card is None or not card.weights.files or not is_beside(card):
        return None
    files = default_files(card, sink)
    if files is None:
        return None
    from linnet.nest.checkpoint import read_headers

    return read_headers(files, sink)


def open_own(
    card: str | os.PathLike[str], sink: Sink, generics: Generics | None = None
) -> Survey | None:
    """`survey` of a card as its own checkpoint has it, for whoever shows or writes the model: which
    optional parameters there are is what loading would find. Whether dtypes and shapes fit is not
    compared: under other generics they need not. None where anything is wrong, which `sink` has.
    """
    opened = open_whole(card, sink, generics)
    if opened is None:
        return None
    headers = own_headers(opened.card, sink) if _is_open(opened) else None
    if headers is not None and opened.overridden and not _has_required(opened, headers):
        headers = None  # it is of a smaller model
    found = survey(opened, sink, headers, compare=False)
    return None if sink.errors else found


def _is_open(opened: Opened) -> bool:
    """Whether the names in a checkpoint, and nothing else, tell what the model has."""
    program = opened.program
    if program is None or not opened.bindings.implicit:
        return False
    return any(p.optional for p in program.declarations(()))


def _has_required(opened: Opened, headers: Checkpoint) -> bool:
    """Whether no tensor of a parameter that the model must have is missing, ties left aside."""
    program = opened.program
    assert program is not None
    tied = {path for group in program.card.weights.tied for path in group}
    declared = program.declarations(headers.tensors)
    return all(p.optional or p.path in tied or not headers.lacks(p.path) for p in declared)
