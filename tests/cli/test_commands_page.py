"""docs/commands.md says of every command what its parser takes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from linnet.cli import main as cli

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "commands.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")


def children(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands below a parser, by name."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(action.choices)
    return found


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command, `nest show` and the like as one, with its parser."""
    for name in cli.COMMANDS:
        parser = children(cli.parser_of([name]))[name]
        inner = children(parser)
        yield from [(f"{name} {n}", p) for n, p in inner.items()] if inner else [(name, parser)]


PARSERS = dict(commands())
# The page writes several targets of `explain` as forms of their own.
USAGE = re.compile(r"^    linnet ((?:[a-z]+ )?[a-z]+)((?: .*)?(?:\n     +\S.*)*)$", re.MULTILINE)


def usages(name: str) -> list[str]:
    """The words behind a command in the lines that show how it is written."""
    found: list[str] = []
    for line in USAGE.finditer(PAGE):
        words = line[0].split()[1:]
        if words[: len(name.split())] == name.split():
            found.append(" ".join(words[len(name.split()) :]))
    return found


def options(text: str) -> set[str]:
    return set(re.findall(r"--[a-z][a-z-]*", text))


def test_every_command_is_on_the_page_and_no_other() -> None:
    shown = {
        " ".join(w for w in m[0].split()[1:3] if w.isalpha() and w.islower())
        for m in USAGE.finditer(PAGE)
    }
    assert shown == set(PARSERS)
    for name in cli.COMMANDS:
        assert re.search(rf"`linnet {name}[ `]", README), name


@pytest.mark.parametrize("name", PARSERS)
def test_options_are_those_of_the_parser(name: str) -> None:
    parser = PARSERS[name]
    known = {o for a in parser._actions for o in a.option_strings if o.startswith("--")}
    shown = set[str]().union(*map(options, usages(name)))
    assert shown == known - {"--help"}


@pytest.mark.parametrize("name", PARSERS)
def test_required_words_and_values_are_those_of_the_parser(name: str) -> None:
    """What stands for a value of an option is there, and a choice is told with its choices."""
    text = " ".join(usages(name))
    for action in PARSERS[name]._actions:
        if not action.option_strings:
            for part in str(action.metavar or action.dest).split("|"):
                assert re.search(rf"\b{part}\b", text), part
        elif action.nargs == 0:
            for option in action.option_strings:
                assert not re.search(rf"{option} [A-Z]", text), option
        elif action.choices is not None and action.dest != "numerics":
            assert f"{action.option_strings[0]} {'|'.join(map(str, action.choices))}" in text
        else:
            assert re.search(rf"{action.option_strings[0]} [A-Z0-9]", text), action


def test_what_may_be_repeated_is_marked() -> None:
    for name, parser in PARSERS.items():
        for action in parser._actions:
            if isinstance(action, argparse._AppendAction):
                option = action.option_strings[0]
                assert re.search(rf"\[{option} \S+ \.\.\.\]", " ".join(usages(name))), (
                    name,
                    option,
                )


def test_the_exit_statuses_are_told() -> None:
    assert PAGE.split("\n\n")[1].startswith(
        "Exit status: 0 fine, 1 errors in the input, 2 a wrong command line."
    )
