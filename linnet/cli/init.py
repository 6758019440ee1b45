"""`linnet init NAME`: a new package that checks and runs, to be made into something else.

It is `example`, the package beside this file, under another name.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from linnet.cli.common import word
from linnet.cli.report import report
from linnet.packages.manifest import why_misnamed
from linnet.packages.text import shown as shown_path
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.shown import reason, shown

EXAMPLE = Path(__file__).parent / "example"
_FILES = ("linnet.toml", "nest.toml", "README.md", "src/lib.linnet")
# The working folder may have one of its own, which stays.
_README = "README.md"
_CARD_NAME = 'name = "example"'


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("name", metavar="NAME", type=word, help="the package's, and its folder's")
    parser.add_argument(
        "--here",
        action="store_true",
        help="write into the working folder, beside what is there, instead of a new one",
    )


def run(options: argparse.Namespace) -> int:
    """Writes the files, all of them or none, and never over another."""
    name: str = options.name
    sink = Sink()
    folder = Path() if options.here else Path(name)
    problem = _of_name(name) or _of_folder(folder, options.here)
    if problem is not None:
        return report([problem])
    try:
        for path in _write(folder, name):
            print(f"created {path.as_posix()}")
    except FileExistsError as error:
        sink.add(_in_the_way([str(error.filename)]))
    except OSError as error:
        place = shown_path(Path(str(error.filename or folder)))
        sink.add(Diagnostic("E1202", f"cannot write {place}: {reason(error)}", None))
    else:
        print(f"check it: linnet check {folder}\nrun it:   linnet run {folder} --tiny")
    return report(sink)


def _of_name(name: str) -> Diagnostic | None:
    problem = why_misnamed(name, "package name") or _why_unusual(name)
    if problem is None:
        return None
    message, hint = problem[0], problem[1] or "choose another name"
    likely = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    if name.isascii() and likely != name and why_misnamed(likely, "package name") is None:
        hint = f"write {shown(likely)}, for instance"
    if os.sep in name or "/" in name:
        hint = "give a name, no path: change into the folder in which the package is to be"
    return Diagnostic("E2102", message, None, help=hint)


def _why_unusual(name: str) -> tuple[str, str | None] | None:
    """Why a name that a package can have would bring a lint (W2007) into the new one."""
    lower = name.lower()
    if lower == name:
        return None
    usable = why_misnamed(lower, "package name") is None
    hint = f"write {shown(lower)}, for instance" if usable else None
    return f"{shown(name)} is not how a package is named: it has capital letters", hint


def _of_folder(folder: Path, here: bool) -> Diagnostic | None:
    """Why nothing is written to a folder. The working folder may have other files than ours."""
    try:
        return _occupied(folder, here)
    except OSError as error:
        place = shown(str(folder))
        return Diagnostic("E1202", f"cannot look into {place}: {reason(error)}", None)


def _occupied(folder: Path, here: bool) -> Diagnostic | None:
    if here:
        there = [name for name in _FILES if name != _README and os.path.lexists(name)]
        if there:
            return _in_the_way(there)
        card = Path.cwd().name
        if card.strip() and card.isprintable():
            return None
        message = f"the folder {shown(card)} gives a card no name"
        return Diagnostic("E2102", message, None, help="a card has its folder's name: rename it")
    if not os.path.lexists(folder):
        return None
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        return None
    message = f"{shown(str(folder))} is there already and no empty folder"
    help_ = "choose another name, or change into the folder and write `--here` behind the name"
    return Diagnostic("E2102", message, None, help=help_)


def _in_the_way(paths: list[str]) -> Diagnostic:
    there = ", ".join(map(shown, paths))
    message = f"{there} {'is' if len(paths) == 1 else 'are'} there already: nothing was written"
    help_ = "move away what is there, or make the package in a folder of its own"
    return Diagnostic("E2102", message, None, help=help_)


def _write(folder: Path, name: str) -> list[Path]:
    """Creates the files; what was created is gone again if one cannot be."""
    made: list[Path] = []
    try:
        for path, text in _texts(folder, name):
            for parent in (folder, path.parent):
                if not parent.is_dir():
                    parent.mkdir()
                    made.append(parent)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                made.append(path)
                file.write(text)
    except BaseException:
        for path in reversed(made):
            with suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        raise
    return [path for path in made if not path.is_dir()]


def _texts(folder: Path, name: str) -> Iterator[tuple[Path, str]]:
    for file in _FILES:
        if file == _README and os.path.lexists(folder / file):
            continue
        text = (EXAMPLE / file).read_text("utf-8")
        if file == "nest.toml":
            # A card is named after its folder, which `--here` did not choose.
            own = json.dumps(folder.resolve().name, ensure_ascii=False)
            before, after = text.split(_CARD_NAME)
            yield folder / file, _renamed(before, name) + f"name = {own}" + _renamed(after, name)
        else:
            yield folder / file, _renamed(text, name)


def _renamed(text: str, name: str) -> str:
    return re.sub(r"\bexample\b", name, text)
