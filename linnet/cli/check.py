"""`linnet check PATH...`: files, folders and cards."""

from __future__ import annotations

import argparse
from pathlib import Path

from linnet.cli.report import report
from linnet.pipeline import check_paths


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", type=_existing)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(options: argparse.Namespace) -> int:
    """Checks the paths; with a card also what `nest check` can check without its weights."""
    paths: list[Path] = options.paths
    result = check_paths(paths)
    return report(result.sink, options.json)


def _existing(text: str) -> Path:
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"no such file or folder: {text}")
    return path
