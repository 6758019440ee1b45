"""`linnet nest list|show|check`: the shipped cards, and a card against its checkpoint."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from linnet.cli.common import add_card, generics_of, word
from linnet.cli.nest_show import document
from linnet.cli.report import report
from linnet.nest.astray import astray
from linnet.nest.card import Card, list_cards, load_card
from linnet.nest.locate import find_files
from linnet.nest.opened import Opened, open_whole
from linnet.nest.own import open_own, own_headers
from linnet.nest.survey import Survey, size, survey
from linnet.nest.words import shape_text
from linnet.source.diagnostics import Sink
from linnet.source.shown import shown

if TYPE_CHECKING:
    from linnet.nest.checkpoint import Checkpoint

BESIDE = "in the card's folder"


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="the shipped cards")
    show = actions.add_parser("show", help="a card's parameters, entries and sizes")
    add_card(show)
    show.add_argument("--json", action="store_true", help="print one JSON document")
    check = actions.add_parser("check", help="a card against its source and a checkpoint")
    add_card(check)
    check.add_argument("--weights", type=word, metavar="DIR", help="the checkpoint to compare with")
    check.add_argument(
        "--cast-dtype", action="store_true", help="accept floats that would be converted"
    )
    check.add_argument("--json", action="store_true", help="print one JSON document")


def run(options: argparse.Namespace) -> int:
    """Runs the action that was asked for."""
    if options.action == "list":
        return _list()
    if options.action == "show":
        return _show(options)
    return _check(options)


def _list() -> int:
    sink = Sink()
    cards = [card for card in (load_card(name, sink) for name in list_cards()) if card]
    width = max((len(card.name) for card in cards), default=0)
    for card in cards:
        print(f"{card.name:<{width}}  {_rounded(card.parameters):>7}  {card.title}")
    return report(sink)


def _rounded(count: int) -> str:
    """A number of weights in millions, or in billions."""
    return f"{count / 1e9:.1f}B" if count >= 1e9 else f"{count / 1e6:.1f}M"


def _show(options: argparse.Namespace) -> int:
    sink = Sink()
    found = open_own(options.card, sink, generics_of(options))
    if found is None:
        return report(sink, options.json)
    if options.json:
        print(json.dumps(document(found), indent=2))
        return 0
    _print_head(found)
    bound = found.bound
    width = max((len(p.path) for p in bound), default=0)
    print(f"\nparameters ({len(bound)} bound, {size(bound)}):")
    for p in bound:
        print(f"  {p.path:<{width}}  {shape_text(p.shape)} {p.dtype}")
    if found.absent:
        which = "there if the checkpoint has them" if found.is_open else "that it lacks"
        print(f"\noptional parameters {which} ({len(found.absent)}):")
        for p in found.absent:
            print(f"  {p.path}")
    if found.states:
        print(f"\nstate ({len(found.states)} tensors, {size(found.states)})")
    return report(sink)


def _print_head(found: Survey) -> None:
    card = found.card
    print(f"{card.name}: {card.title}\n{card.summary}\n")
    print(f"{_weights(found)}, license {card.license}")
    where = f"{card.weights.repo} at {card.weights.revision}" if card.weights.repo else BESIDE
    print(f"checkpoint {where}")
    print(f"generics {', '.join(f'{k} = {v}' for k, v in found.program.generics.items())}")
    print(f"\nentries of {card.root} (`{card.entry}` is the one that a call of the model runs):")
    for text in found.entries():
        print(f"  {text}")


def _weights(found: Survey) -> str:
    few = f"{found.weights:,} weights"
    more = f" (up to {found.most:,} with optional parameters)"
    return few + (more if found.most > found.weights else "")


def _check(options: argparse.Namespace) -> int:
    sink = Sink()
    opened = open_whole(options.card, sink, generics_of(options))
    found = _survey(opened, options, sink) if opened else None
    status = report(sink, options.json)
    if found is not None and status == 0 and not options.json:
        beside = f"the checkpoint {BESIDE}" if found.checkpoint is not None else None
        _print_outcome(found, options.weights or beside)
    return status


def _survey(opened: Opened, options: argparse.Namespace, sink: Sink) -> Survey | None:
    """The card against itself, and against the headers if there are weights."""
    checkpoint = _headers(opened.card, options.weights, sink)
    return survey(opened, sink, checkpoint, cast_dtype=options.cast_dtype)


def _headers(card: Card | None, weights: str | None, sink: Sink) -> Checkpoint | None:
    """Those of the checkpoint that was given, else of the card's own if it is here."""
    if weights is None:
        return own_headers(card, sink)
    files = find_files(Path(weights), card, sink)
    if files is None:
        return None
    from linnet.nest.checkpoint import read_headers  # brings NumPy

    return read_headers(files, sink)


def _print_outcome(found: Survey, weights: str | None) -> None:
    meant = astray(found.report)
    for tensor in found.report.unbound:
        near = f"; did you mean {shown(meant[tensor.name])}?" if tensor.name in meant else ""
        print(f"not bound: {shown(tensor.name)} {shape_text(tensor.shape)} {tensor.dtype}{near}")
    against = f" and fits {weights}" if weights else ""
    bound = len(found.bound)
    noun = "parameter" if bound == 1 else "parameters"
    print(f"{found.card.name}: {bound} {noun}, {_weights(found)}{against}")
