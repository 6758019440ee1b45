"""`linnet fmt PATH...`: source files in the one style."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from linnet.cli.common import word
from linnet.cli.report import report
from linnet.packages.rewrite import replace_text, source_files
from linnet.packages.text import Names, read_source, source_of
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, read_file
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
        type=_existing,
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
    source = read_source(path, name, "E1202", {}, sink)
    text = formatted(source, sink) if source else None
    if text is None or not _differs(path, text):
        return False
    if check:
        print(name)
        return True
    try:
        replace_text(path, text)
    except OSError as error:
        sink.add(Diagnostic("E1202", f"cannot write {name}: {reason(error)}", None))
        return False
    print(f"formatted {name}")
    return True


def _differs(path: Path, text: str) -> bool:
    """Whether a file is other than a text, byte for byte: a source has lost its byte order mark."""
    return read_file(path) != text.encode("utf-8")


def _standard_input(check: bool, sink: Sink) -> bool:
    data = sys.stdin.buffer.read() if sys.stdin is not None else b""
    source: SourceFile | None = source_of(data, _STDIN_NAME, sink)
    text = formatted(source, sink) if source else None
    if text is None:
        return False
    result = text.encode("utf-8")
    if not check and sys.stdout is not None:
        # Not through the text layer: a source is UTF-8 with line feeds, whatever the terminal.
        sys.stdout.flush()
        sys.stdout.buffer.write(result)
    elif check and result != data:
        print(_STDIN_NAME)
    return result != data


def _existing(text: str) -> Path:
    path = Path(word(text))
    try:
        found = path == _STDIN or path.exists()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be read: {reason(error)}") from None
    if not found:
        raise argparse.ArgumentTypeError(f"no such file or folder: {text}")
    return path
