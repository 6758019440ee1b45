"""`linnet run CARD`: one call of an entry, and what came out."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from linnet.cli.common import word
from linnet.cli.given import named, tokens
from linnet.cli.inputs import FORMS, count_up, examples, given_inputs
from linnet.cli.loading import add_loading, loaded
from linnet.cli.report import report
from linnet.nest.words import counted, shape_text
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError

if TYPE_CHECKING:
    from linnet.nest.model import Model

TOP = 5
NO_VALUE = "no value for the input"


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_loading(parser)
    parser.add_argument("--entry", type=word, help="default: the card's entry")
    parser.add_argument(
        "--tokens",
        type=tokens,
        metavar="1,2,3",
        help="the entry's first input; where it is one or two axes of integers, the default is "
        "0, 1, 2, ... in the sizes of the card's table [check]; two prompts: 1,2,3;4,5,6",
    )
    parser.add_argument(
        "--input",
        dest="inputs",
        action="append",
        default=[],
        type=named,
        metavar="NAME=1,2,3",
        help="another input: integers, floats, true or false, rows parted by `;`; lists in lists, "
        "[[[1, 2], [3, 4]]]; a file, @FILE.npy; or random floats in a shape, random:2x3x4",
    )


def run(options: argparse.Namespace) -> int:
    """Loads the card, runs the entry once and prints the result's shape, dtype and top five."""
    try:
        model = loaded(options)
        entry = options.entry or model.card.entry
        inputs = given_inputs(model, entry, options.tokens, options.inputs)
        counted_up = count_up(model, entry, inputs)
        start = time.perf_counter()
        result = _run(model, entry, inputs, counted_up)
        seconds = time.perf_counter() - start
    except LinnetError as error:
        return report(error.diagnostics)
    for name, value in _parts(entry, result):
        _print(name, value)
    print(f"{seconds:.3f} s on {model.backend}")
    return 0


def _run(model: Model, entry: str, inputs: dict[str, Any], counted_up: dict[str, Any]) -> Any:
    """What the entry returns. A finding tells how its inputs are given on a command line, and of a
    first input that nobody gave."""
    try:
        return model.run(entry, (), {**inputs, **counted_up})
    except LinnetError as error:
        notes = tuple(
            f"`{name}` was not given: it is 0, 1, 2, ... in the shape {shape_text(value.shape)}"
            for name, value in counted_up.items()
        )
        way_out = "give it by `--tokens`" if counted_up else None
        missing = examples(model, entry, {*inputs, *counted_up})
        found = [
            _told(replace(d, notes=(*d.notes, *notes)), missing, way_out) for d in error.diagnostics
        ]
        raise LinnetError(found) from None


def _told(finding: Diagnostic, missing: str | None, way_out: str | None) -> Diagnostic:
    """A finding with its way out on a command line; `missing` gives the inputs that lack."""
    if finding.code == "E2102" and missing is not None and finding.message.startswith(NO_VALUE):
        notes = (finding.help, *finding.notes) if finding.help else finding.notes
        return replace(finding, notes=notes, help=f"give it by {missing}")
    about_an_input = finding.span is None and finding.related
    if finding.help is None and about_an_input:
        return replace(finding, help=way_out or FORMS)
    return finding


# --- the result --------------------------------------------------------------


def _parts(name: str, result: Any) -> Iterator[tuple[str, Any]]:
    """What a result holds, a field of a struct under its path."""
    if isinstance(result, tuple):
        for item in cast("tuple[Any, ...]", result):
            yield from _parts(name, item)
    elif isinstance(result, dict):
        for field, item in cast("dict[str, Any]", result).items():
            yield from _parts(f"{name}.{field}", item)
    else:
        yield name, result


def _print(entry: str, value: Any) -> None:
    """Shape and dtype, and the five largest of the last position, the largest first; of an enum the
    variant, of an optional that is not there `none`.

    Values that are not finite have no order that means anything: they are told, not listed.
    """
    import numpy as np

    if value is None or isinstance(value, str):
        print(f"{entry}: {value or 'none'}")
        return
    array = np.asarray(value)
    print(f"{entry}: {list(array.shape)} {array.dtype}")
    values = array.astype(np.float64)
    wrong = int(np.count_nonzero(~np.isfinite(values)))
    if wrong:
        _warn(entry, wrong, array)
    if not array.ndim:
        print(f"  {array.item()}")
    elif array.size:
        # Of several prompts each has a last position.
        rows = values[..., -1, :] if array.ndim > 2 else values.reshape(-1, values.shape[-1])[-1:]
        rows = rows.reshape(-1, values.shape[-1])
        for number, row in enumerate(rows):
            if len(rows) > 1:
                print(f"  row {number}")
            order = np.argsort(-row, kind="stable")
            for i in [int(i) for i in order if np.isfinite(row[i])][:TOP]:
                print(f"  {i:>8}  {row[i]:.6g}")


def _warn(entry: str, wrong: int, array: Any) -> None:
    values = counted(array.size, "value")
    verb = "is" if wrong == 1 else "are"
    text = f"warning: {wrong} of {values} of `{entry}` {verb} nan or infinite"
    if array.dtype == "float16":
        text += "; f16 ends at 65504: try a wider dtype, such as --set T=f32"
    print(text, file=sys.stderr)
