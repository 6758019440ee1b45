"""The `linnet` command. Exit 0 fine, 1 errors in the input, 2 wrong command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from linnet import __version__

# A command's module is imported only when the command is used: `linnet check`
# must start fast. Each one has `run(options) -> int` and `configure(parser)`.
_COMMANDS = {
    "check": "check files, folders and cards",
    "nest": "the shipped cards: list, show, check",
    "explain": "what a card's or file's library ops are run by, and why",
    "run": "run an entry of a card",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line and returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="linnet", description="A typed tensor language for neural-network architectures."
    )
    parser.add_argument("--version", action="version", version=f"linnet {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
        if name in words:
            module = import_module(f"linnet.cli.{name}")
            module.configure(command)
            command.set_defaults(run=module.run)
    options = parser.parse_args(words)
    try:
        return int(options.run(options))
    except BrokenPipeError:
        # The reader (`head`, say) has gone. Python would complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
