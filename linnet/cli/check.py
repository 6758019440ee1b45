"""`linnet check PATH...`: files, folders and cards."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from linnet.cli.common import existing
from linnet.cli.report import FORMS, report_as
from linnet.nest.card import CARD, card_path
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Sink


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        type=existing_or_card,
        help="a file, a package's or a card's folder, a folder of these, or a shipped card's name",
    )
    add_format(parser)


def add_format(parser: argparse.ArgumentParser) -> None:
    """The form of the findings."""
    parser.add_argument(
        "--format", dest="form", choices=FORMS, default="text", help="default: text"
    )
    parser.add_argument(
        "--json", dest="form", action="store_const", const="json", help="the same as --format json"
    )


def run(options: argparse.Namespace) -> int:
    """Checks the paths; of a card also its `nest.toml` and bindings, under its generics."""
    paths: list[Path] = options.paths
    result = check_paths(list(map(sources_of, paths)))
    found = Sink()
    for finding in result.sink:
        found.add(finding)
    for folder in card_folders(paths):
        # Imported here: most checks are of files, and should not wait for it.
        from linnet.nest.opened import open_whole
        from linnet.nest.survey import survey

        opened = open_whole(folder, found, checked=result)
        if opened is not None:
            survey(opened, found)
    return report_as(options.form, found)


def card_folders(paths: list[Path]) -> list[Path]:
    """The cards among the paths and below them."""
    found: dict[Path, None] = {}
    for path in paths:
        if os.path.isdir(path):
            found.update(dict.fromkeys(sorted(_card_folders_below(path))))
        elif path.name == CARD:
            found[path.parent] = None
    return list(found)


def _card_folders_below(path: Path) -> Iterator[Path]:
    """A `nest.toml` that is a link to nowhere, or a folder, is a mistake in a card, too."""
    for here, folders, files in os.walk(path):
        if CARD in files or CARD in folders:
            yield Path(here)


def sources_of(path: Path) -> Path:
    """What a path stands for where sources are asked for: of a card, its folder."""
    return path.parent if path.name == CARD else path


def existing_or_card(text: str) -> Path:
    """A path that is there, or a shipped card's."""
    return existing(text, card_path)
