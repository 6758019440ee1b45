"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from linnet.cli.report import FORMS
from linnet.nest.card import CARD, card_path, sources_of
from linnet.packages.text import is_file
from linnet.source.shown import reason

NUMERICS = "fast"  # the tier where none is given


def add_card(parser: argparse.ArgumentParser) -> None:
    """The card, and overrides of its generics."""
    parser.add_argument(
        "card", metavar="CARD", type=word, help="a shipped card's name or a card's folder"
    )
    add_set(parser)


def add_set(parser: argparse.ArgumentParser) -> None:
    """`--set NAME=VALUE`, as often as wanted."""
    parser.add_argument(
        "--set",
        dest="generics",
        action="append",
        default=[],
        type=_assignment,
        metavar="NAME=VALUE",
        help="a value for a generic: --set MaxSeq=512 --set T=f32",
    )


def word(text: str) -> str:
    """A value that is not empty: an empty path would be the working folder."""
    if not text:
        raise argparse.ArgumentTypeError("an empty text is no value")
    return text


def existing(text: str, find: Callable[[str], Path] = Path) -> Path:
    """The path that a text stands for, as `find` finds it; there is a file or folder."""
    try:
        path = find(word(text))
        found = path.exists()
    except OSError as error:
        message = f"{text} cannot be read: {reason(error)}"
        raise argparse.ArgumentTypeError(message) from None
    if not found:
        raise argparse.ArgumentTypeError(f"no such file or folder: {text}")
    return path


def existing_or_card(text: str) -> Path:
    """A path that is there, or a shipped card's."""
    return existing(text, card_path)


def sources_at(path: Path) -> Path:
    """Where the sources of a path are: a card's lie around its `nest.toml`, or in the package that
    this names."""
    folder = path.parent if path.name == CARD else path
    return sources_of(folder) if is_file(folder / CARD) else folder


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


def add_format(parser: argparse.ArgumentParser) -> None:
    """The form of the findings."""
    parser.add_argument(
        "--format", dest="form", choices=FORMS, default="text", help="default: text"
    )
    parser.add_argument(
        "--json", dest="form", action="store_const", const="json", help="the same as --format json"
    )


def generics_of(options: argparse.Namespace) -> dict[str, int | str]:
    """What `--set` was given; the last value of a name counts."""
    return dict(options.generics)


def add_numerics(parser: argparse.ArgumentParser) -> None:
    """The policy that says which kernels may be used."""
    from linnet.backends.base import TIERS  # a check of sources does without backends

    parser.add_argument("--numerics", default=NUMERICS, choices=TIERS, help=f"default: {NUMERICS}")


def _assignment(text: str) -> tuple[str, int | str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() or not value:
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME=VALUE")
    try:
        return name, int(value)
    except ValueError:
        return name, value
