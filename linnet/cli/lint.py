"""`linnet lint [PATH...]`: what is right and could be better."""

from __future__ import annotations

import argparse
from pathlib import Path

from linnet.cli.common import add_format, card_folders, existing_or_card, sources_at
from linnet.cli.report import report_as
from linnet.lint.lint import lint
from linnet.nest.card import CARD, draft_card
from linnet.packages.text import is_file
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Sink


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        type=existing_or_card,
        default=[Path()],
        help="as for `linnet check`; default: the working folder",
    )
    add_format(parser)
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 if anything is found, an error or not"
    )


def run(options: argparse.Namespace) -> int:
    """Checks the sources; if nothing is wrong, prints what the check warns of and every lint."""
    paths: list[Path] = options.paths
    result = check_paths([sources_at(p) for p in paths])
    found = Sink()
    for finding in result.sink:
        found.add(finding)
    for folder in card_folders(paths):
        if not is_file(folder / CARD):
            draft_card(folder, found)  # says why: the folder is no plain package
    if not found.errors:
        for finding in lint(result.graph.modules, result.program):
            found.add(finding)
        found.arrange([module.file for module in result.graph.modules])
    status = report_as(options.form, found)
    return 1 if options.strict and list(found) else status
