"""`linnet lsp`: the language server, for an editor to start."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec

from linnet.cli.report import report
from linnet.source.diagnostics import Diagnostic

_NEEDS = ("pygls", "lsprotocol")


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "--stdio",
        action="store_true",
        help="serve at standard input and output; the only way, so that it may be left out",
    )


def run(options: argparse.Namespace) -> int:
    """Serves until the editor leaves."""
    missing = [name for name in _NEEDS if find_spec(name) is None]
    if missing:
        message = f"`linnet lsp` needs `{missing[0]}`, which is not installed"
        help = 'install it with: pip install "linnet[lsp]"'
        report([Diagnostic("E2190", message, None, help=help)])
        return 2
    os.write(sys.stdout.fileno(), b"")  # fails at once where nothing can be written
    from linnet.lsp.serve import serve  # imports what may not be installed

    serve()
    return 0
