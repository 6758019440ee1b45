"""A card with its source and bindings, read in one go: a mistake in one hides none in another."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from linnet.nest.bindings import Bindings, load_bindings
from linnet.nest.card import Card, Draft, bindings_path, check_tiny_names, draft_card
from linnet.nest.generics import Generics, Values, resolve
from linnet.nest.hub import is_beside
from linnet.nest.program import (
    CardProgram,
    CardRoot,
    check_source,
    module_of,
    open_program,
    open_root,
)
from linnet.pipeline import CheckResult
from linnet.source.diagnostics import Diagnostic, Sink


@dataclass(frozen=True, slots=True)
class Opened:
    """What could be read of a card: `root` is None if source or root are not known, `program`
    if one of the generics is not known either. Bindings that could not be read are not whole.

    `overridden`: the generics are not the card's own.
    """

    card: Card | None
    root: CardRoot | None
    program: CardProgram | None
    bindings: Bindings
    overridden: bool


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
    draft = draft_card(name, sink)
    if draft is None:
        return None
    card = draft.card
    source = _source(draft, checked, sink)
    if card is None:
        bindings = load_bindings(bindings_path(draft.directory, {}), sink)
        return Opened(None, None, None, bindings, overridden=tiny or bool(generics))
    if tiny:
        _check_there(card, sink)
    values = Values(card, generics or {}, tiny)
    root = open_root(card, source, sink) if source is not None else None
    program, missing = None, ()
    if root is not None:
        resolved = resolve(values, root.block, card.root, sink)
        missing = resolved.missing
        program = open_program(root, values, resolved, sink)
    check_tiny_names(card, sink, missing)
    return Opened(card, root, program, _bindings(card, sink), values.overridden)


def _check_there(card: Card, sink: Sink) -> None:
    if "tiny" not in card.toml.values and card.knows("tiny"):
        message = f"the card `{card.name}` has no table [tiny]"
        if is_beside(card):
            hint = "its own checkpoint is in its folder: leave `tiny=True` out"
        else:
            hint = 'give generics that make it small, and weights="random"'
        sink.add(Diagnostic("E5001", message, card.place("tiny"), help=hint))


def _bindings(card: Card, sink: Sink) -> Bindings:
    if card.weights.bindings is None and not card.knows("weights", "bindings"):
        return Bindings(whole=False)
    return load_bindings(card.weights.bindings, sink, card.toml.value("weights", "bindings"))


def _source(draft: Draft, checked: CheckResult | None, sink: Sink) -> CheckResult | None:
    """The check of the card's source; what is wrong with it is reported once."""
    if draft.source is None:
        return None
    if checked is None:
        return check_source(draft.source, draft.directory, sink)
    if _covers(checked, draft.source) and not checked.sink.errors:
        return checked
    # The errors of the check may be of another card, and it passes hidden folders over.
    own = Sink()
    source = check_source(draft.source, draft.directory, own)
    said = {_identity(finding) for finding in checked.sink}
    for finding in own:
        if _identity(finding) not in said:
            sink.add(finding)
    return source


def _covers(checked: CheckResult, source: Path) -> bool:
    """Whether a check of the card's folder read the source, or all there is to be read."""
    return source.is_dir() or module_of(source, checked) is not None


def _identity(finding: Diagnostic) -> tuple[str, str, tuple[str, int] | None]:
    """What tells a finding from others, whenever its file was read."""
    span = finding.span
    return finding.code, finding.message, span and (span.file.path, span.start)
