"""`linnet torch CARD|FILE`: a model as a file of ordinary PyTorch."""

from __future__ import annotations

import argparse
from pathlib import Path

from linnet.backends.base import check_numerics, get_backend
from linnet.cli.common import add_numerics, add_set, generics_of, word
from linnet.cli.report import report
from linnet.cli.whole import chosen, whole_model
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError
from linnet.source.shown import reason, shown


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument(
        "target", metavar="CARD|FILE", type=word, help="a card's name or folder, or a file"
    )
    parser.add_argument(
        "-o", dest="output", type=word, metavar="FILE", help="default: standard output"
    )
    parser.add_argument(
        "--entry",
        type=word,
        action="append",
        default=[],
        metavar="E",
        help="an entry that the file is to have; default: all",
    )
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), default="cpu", help="what kernels are chosen for"
    )
    parser.add_argument(
        "--kernels",
        choices=("inline", "import"),
        default="inline",
        help="write out the functions that the model calls (the default), or import them",
    )
    add_numerics(parser)
    add_set(parser)


def run(options: argparse.Namespace) -> int:
    """Writes the file as a whole, or says what is wrong."""
    sink = Sink()
    try:
        text = _text(options, sink)
    except LinnetError as error:
        return report([*sink, *error.diagnostics])
    if text is None:
        return report(sink)
    if options.output is None:
        print(text, end="")
        return 0
    try:
        Path(options.output).write_text(text, "utf-8", newline="\n")
    except OSError as error:
        message = f"{shown(options.output)} cannot be written: {reason(error)}"
        return report([Diagnostic("E2102", message, None)])
    return 0


def _text(options: argparse.Namespace, sink: Sink) -> str | None:
    """None where something is wrong, which is then in `sink`."""
    backend = get_backend("torch")
    numerics = check_numerics(options.numerics)
    found = whole_model(options.target, generics_of(options), sink)
    entries = () if found is None else chosen(found, options.entry, sink)
    if found is None or sink.errors:
        return None
    from linnet.backends.torch.emit.module import Selecting  # brings PyTorch
    from linnet.backends.torch.emit.standalone import standalone

    selecting = Selecting(backend.kernels, numerics, options.device)
    return standalone(found.title, found.sources, entries, selecting, options.kernels, found.names)
