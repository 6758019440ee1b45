"""`linnet check PATH...`: files, folders and cards."""

from __future__ import annotations

import argparse
from pathlib import Path

from linnet.cli.common import add_format, card_folders, existing_or_card, sources_at
from linnet.cli.report import report_as
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


def run(options: argparse.Namespace) -> int:
    """Checks the paths; of a card also its `nest.toml` and bindings, under its generics."""
    paths: list[Path] = options.paths
    result = check_paths([sources_at(p) for p in paths])
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
