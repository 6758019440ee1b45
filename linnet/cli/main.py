"""The `linnet` command. Exit 0 fine, 1 errors in the input, 2 wrong command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn, cast

from linnet import __version__
from linnet.cli.streams import STDOUT, failure, occupy
from linnet.source.shown import shown
from linnet.source.suggest import did_you_mean

# A command's module is imported only when the command is used: `linnet check`
# must start fast. Each one has `run(options) -> int` and `configure(parser)`.
COMMANDS = {
    "init": "write a new package with a small model in it",
    "check": "check files, folders and cards",
    "lint": "check, and say what is right and could be better",
    "fmt": "format files and folders, in the one style",
    "nest": "the shipped cards: list, show, check",
    "inspect": "the tokens, tree, IR or parameters of a source or card",
    "explain": "what a code means, or what a card's or file's library ops are run by, and why",
    "run": "run an entry of a card",
    "torch": "write a card or a file as a file of PyTorch",
    "generate": "go on with a text, by a card that makes text",
    "lsp": "serve an editor: the language server",
}

# What other tools call an option.
OTHERS = {"--max-tokens": "--max-new", "--max-new-tokens": "--max-new"}


class _UsageError(Exception):
    """A wrong command line: the usage of the command, and what is wrong."""


class _Parser(argparse.ArgumentParser):
    # Options are written in full: an abbreviation may mean another one in a later version.
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        # Each command refuses what it does not know: its own usage says what it knows. An option
        # that is misspelt is told before the one that lacks because of it.
        words = list(sys.argv[1:] if args is None else args)
        if self._subparsers is None:
            self._refuse_unknown(words)
        found, rest = super().parse_known_args(words, namespace)
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found, rest

    def _refuse_unknown(self, words: Sequence[str]) -> None:
        known = self._option_string_actions
        before = words[: words.index("--")] if "--" in words else words
        names = [word.partition("=")[0] for word in before if word.startswith("--")]
        # One with a space in it is a value to argparse.
        unknown = [name for name in names if name not in known and " " not in name]
        if unknown:
            first = unknown[0].replace("_", "-")
            meant = OTHERS.get(first)
            near = f"did you mean `{meant}`?" if meant in known else did_you_mean(first, known)
            listed = ", ".join(dict.fromkeys(unknown))
            self.error(f"unrecognized arguments: {listed}" + (f": {near}" if near else ""))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        # Its own words show Python's texts in quotes.
        known = [str(choice) for choice in action.choices or ()]
        if known and value not in known:
            near = did_you_mean(str(value), known)
            way_out = near or f"choose one of {', '.join(known)}"
            raise argparse.ArgumentError(action, f"{shown(str(value))} is not known: {way_out}")

    def error(self, message: str) -> NoReturn:
        raise _UsageError(self.format_usage() + f"{self.prog}: error: ", message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line and returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    occupy()
    _print_any_name()
    try:
        try:
            options = parser_of(words).parse_args(words)
            status = int(options.run(options))
        except _UsageError as error:
            print(*error.args, sep="", file=sys.stderr)
            form = _form(words)
            if form != "text":
                _print_document(form, error.args[-1])
            status = 2
        except SystemExit as done:  # after `--help` and `--version`
            status = int(done.code or 0)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (`head`, say) has gone.
        _discard_output()
        return 1
    except OSError as error:
        # Of the output, or of the working folder; one of a file would have its name.
        if error.filename is not None:
            raise
        _discard_output()
        _print_failure(error)
        return 1
    return status


def _discard_output() -> None:
    """What is still buffered goes nowhere, or Python would complain about it at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)


def _print_failure(error: OSError) -> None:
    from linnet.cli.report import report

    report([failure(error)])


def parser_of(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of a command line: only the commands that occur in it know their options."""
    parser = _Parser(
        prog="linnet", description="A typed tensor language for neural-network architectures."
    )
    parser.add_argument("--version", action="version", version=f"linnet {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if name in words:
            module = import_module(f"linnet.cli.{name}")
            module.configure(command)
            command.set_defaults(run=module.run)
    return parser


def _print_any_name() -> None:
    """Names of files and tensors may have no form in the output's encoding."""
    output: object = sys.stdout
    if isinstance(output, TextIOWrapper):
        cast("TextIOWrapper[Any]", output).reconfigure(errors="backslashreplace")


def _form(words: Sequence[str]) -> str:
    """The form of findings that a command line asks for, though it is wrong."""
    form = "text"
    for word, after in zip(words, [*words[1:], ""], strict=False):
        option, _, value = word.partition("=")
        if word == "--json":
            form = "json"
        elif option == "--format" and (value or after) in ("json", "sarif", "text"):
            form = value or after
    return form


def _print_document(form: str, message: str) -> None:
    from linnet.cli.report import report_as
    from linnet.source.diagnostics import Diagnostic

    report_as(form, [Diagnostic("E2102", message, None)])


if __name__ == "__main__":
    sys.exit(main())
