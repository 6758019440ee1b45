"""`linnet fmt PATH...`: source files in the one style."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from linnet.cli.common import existing
from linnet.cli.report import report
from linnet.packages.sources import replace_data, source_files
from linnet.packages.text import Names, read_data, source_of
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.shown import reason
from linnet.syntax.format.source import formatted

_STDIN = Path("-")
_STDIN_NAME = "<stdin>"


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        type=_path,
        help="a file, or a folder for all sources below it; `-` is standard input, formatted to "
        "standard output",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing, list what would change, and exit with 1 if anything would",
    )


def run(options: argparse.Namespace) -> int:
    """Formats what the paths stand for; a text with syntax errors is reported and left alone."""
    paths: list[Path] = options.paths
    sink = Sink()
    names = Names(path for path in paths if path != _STDIN)
    changed = False
    if _STDIN in paths:
        changed |= _standard_input(options.check, sink)
    for file in source_files([path for path in paths if path != _STDIN], names, sink):
        changed |= _file(file, names(file), options.check, sink)
    return report(sink) or int(changed and options.check)


def _file(path: Path, name: str, check: bool, sink: Sink) -> bool:
    """Formats a file; whether it changes, or would."""
    data = read_data(path, name, "E1202", sink)
    result = None if data is None else _formatted(data, name, sink)
    if result is None or result == data:
        return False
    if check:
        print(name)
        return True
    try:
        replace_data(path, result)
    except OSError as error:
        sink.add(Diagnostic("E1202", f"cannot write {name}: {reason(error)}", None))
        return False
    print(f"formatted {name}")
    return True


def _standard_input(check: bool, sink: Sink) -> bool:
    if sys.stdin is None:
        sink.add(Diagnostic("E1202", "cannot read standard input: it is closed", None))
        return False
    data = sys.stdin.buffer.read()
    result = _formatted(data, _STDIN_NAME, sink)
    if result is None:
        return False
    if not check:
        # Not through the text layer: a source is UTF-8 with line feeds, whatever the terminal.
        sys.stdout.flush()
        sys.stdout.buffer.write(result)
    elif result != data:
        print(_STDIN_NAME)
    return result != data


def _formatted(data: bytes, name: str, sink: Sink) -> bytes | None:
    """The bytes of a file in the one style, without a byte order mark; None after a report."""
    source = source_of(data, name, sink)
    text = formatted(source, sink) if source else None
    return None if text is None else text.encode("utf-8")


def _path(text: str) -> Path:
    return _STDIN if text == "-" else existing(text)
