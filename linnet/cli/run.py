"""`linnet run CARD`: one call of an entry, and what came out."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Container, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from linnet.check.substitute import in_type
from linnet.check.typed import TFunction, TGeneric
from linnet.check.types import OptionalType, ScalarType, TensorType, Type
from linnet.cli.common import Rows, add_card, add_numerics, generics_of, numbers, tokens, word
from linnet.cli.report import report
from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.lower.bindings import bind
from linnet.nest.words import counted, shape_text
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.shown import shown

if TYPE_CHECKING:
    from linnet.nest.model import Model

TOP = 5
# The size of a last axis of which neither the source nor the card tells the size.
LENGTH = 8


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_card(parser)
    parser.add_argument("--entry", type=word, help="default: the card's entry")
    parser.add_argument("--backend", type=word, default="numpy", help="default: numpy")
    parser.add_argument("--device", type=word, help="default: the backend's")
    add_numerics(parser)
    parser.add_argument(
        "--tiny", action="store_true", help="the card's small variant, random weights by default"
    )
    parser.add_argument(
        "--weights",
        type=word,
        metavar="W",
        help="a .safetensors file, a checkpoint's folder, or `random`",
    )
    parser.add_argument(
        "--cast-dtype", action="store_true", help="convert floats to the parameters' dtypes"
    )
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
        type=_input,
        metavar="NAME=1,2,3",
        help="another input: integers, floats, true or false, rows parted by `;`",
    )


def run(options: argparse.Namespace) -> int:
    """Loads the card, runs the entry once and prints the result's shape, dtype and top five."""
    from linnet.nest import load  # brings NumPy

    try:
        with _warnings_on_stderr():
            model = load(
                options.card,
                options.backend,
                numerics=options.numerics,
                generics=generics_of(options),
                weights=options.weights,
                tiny=options.tiny,
                cast_dtype=options.cast_dtype,
                device=options.device,
                progress=sys.stderr.isatty(),
            )
        entry = options.entry or model.card.entry
        inputs = _inputs(model, entry, options)
        counted_up = _counted_up(model, entry, inputs)
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
    """What the entry returns. A finding tells of a first input that nobody gave."""
    try:
        return model.run(entry, (), {**inputs, **counted_up})
    except LinnetError as error:
        notes = tuple(
            f"`{name}` was not given: it is 0, 1, 2, ... in the shape {shape_text(value.shape)}"
            for name, value in counted_up.items()
        )
        way_out = "give it by `--tokens`" if counted_up else None
        found = [
            replace(d, notes=(*d.notes, *notes), help=d.help or way_out) for d in error.diagnostics
        ]
        raise LinnetError(found) from None


@contextmanager
def _warnings_on_stderr() -> Generator[None]:
    """What Python code is warned of becomes a line such as a command writes, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            yield
        finally:
            for text in dict.fromkeys(str(w.message) for w in caught):
                print(f"warning: {text}", file=sys.stderr)


# --- inputs ------------------------------------------------------------------


def _inputs(model: Model, entry: str, options: argparse.Namespace) -> dict[str, Any]:
    """The named inputs; tokens are the entry's first one."""
    model.entry(entry)  # an entry that is not there is reported
    function, generics = _function(model, entry)
    scope = bind(generics, model.program.generics)
    types = {p.local.name: in_type(p.local.type, scope) for p in function.params}
    first = next(iter(types), None)
    named: list[tuple[str, Rows]] = list(options.inputs)
    if first is not None and options.tokens is not None:
        named.append((first, options.tokens))
    given: dict[str, Rows] = {}
    for name, rows in named:
        if name in given:
            message = f"the input {shown(name)} is given twice"
            raise LinnetError([Diagnostic("E2102", message, None)])
        given[name] = rows
    return {name: _arranged(rows, types.get(name)) for name, rows in given.items()}


def _function(model: Model, entry: str) -> tuple[TFunction, tuple[TGeneric, ...]]:
    """An entry, and the generics that its types are of."""
    program = model.program
    function = program.program.functions[program.block.methods[entry]]
    return function, (*program.block.generics, *function.generics)


def _counted_up(model: Model, entry: str, given: Container[str]) -> dict[str, Any]:
    """Rows of 0, 1, 2, ... for a first input of integers in one or two axes that is not given and
    has no default; nothing for others."""
    import numpy as np

    function, generics = _function(model, entry)
    if not function.params or function.params[0].default is not None:
        return {}
    name = function.params[0].local.name
    sizes = bind(generics, {**model.card.check, **model.program.generics})
    type_ = in_type(function.params[0].local.type, sizes)
    if name in given or not isinstance(type_, TensorType) or len(type_.dims) not in (1, 2):
        return {}
    if not isinstance(type_.dtype, DType) or not type_.dtype.is_integer:
        return {}
    *outer, width = (_extent(type_, i) for i in range(len(type_.dims)))
    shape = (*(1 if n is None else n for n in outer), LENGTH if width is None else width)
    try:
        value = np.empty(shape, np.int64)
        value[...] = np.arange(shape[-1])
    except (MemoryError, ValueError, OverflowError):  # what NumPy says depends on the size
        message = f"`{name}` in the shape {shape_text(shape)} needs more memory than there is"
        help_ = "write smaller sizes into [check], or give the input by `--tokens`"
        place = model.card.place("check")
        raise LinnetError([Diagnostic("E5004", message, place, help=help_)]) from None
    return {name: value}


def _arranged(rows: Rows, type_: Type | None) -> Any:
    """The numbers as the declared type asks for them; what does not fit is reported later."""
    if isinstance(type_, OptionalType):
        type_ = type_.inner
    if len(rows) > 1:
        return rows
    (values,) = rows
    if isinstance(type_, ScalarType) and len(values) == 1:
        return values[0]
    if not isinstance(type_, TensorType) or len(type_.dims) != 2:
        return values
    count = _extent(type_, 0) or len(values) // (_extent(type_, 1) or len(values) or 1)
    if count == 0 or len(values) % count:
        return rows
    width = len(values) // count
    return [values[i * width : (i + 1) * width] for i in range(count)]


def _extent(type_: TensorType, axis: int) -> int | None:
    dim = type_.dims[axis]
    return dim.as_int() if isinstance(dim, Dim) else None


def _input(text: str) -> tuple[str, Rows]:
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME=1,2,3")
    return name, numbers(values)


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
