"""`linnet run CARD`: one call of an entry, and what came out."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from linnet.backends.base import TIERS
from linnet.check.substitute import in_type
from linnet.check.types import ScalarType, TensorType, Type
from linnet.cli.common import add_card, generics_of, integers, word
from linnet.cli.report import report
from linnet.dims.dims import Dim
from linnet.lower.bindings import bind
from linnet.nest.card import Card, load_card
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError
from linnet.source.shown import shown

if TYPE_CHECKING:
    from linnet.nest.model import Model

TOP = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_card(parser)
    parser.add_argument("--entry", type=word, help="default: the card's entry")
    parser.add_argument("--backend", type=word, default="numpy", help="default: numpy")
    parser.add_argument("--device", type=word, help="default: the backend's")
    parser.add_argument("--numerics", default="fast", choices=TIERS, help="default: fast")
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
        "--tokens", type=integers, metavar="1,2,3", help="the entry's first input, default 0 to S-1"
    )
    parser.add_argument(
        "--input",
        dest="inputs",
        action="append",
        default=[],
        type=_input,
        metavar="NAME=1,2,3",
        help="another input of the entry, as often as wanted",
    )


def run(options: argparse.Namespace) -> int:
    """Loads the card, runs the entry once and prints the result's shape, dtype and top five."""
    sink = Sink()
    card = load_card(options.card, sink)
    if card is None:
        return report(sink)
    try:
        model = _load(card, options)
        entry = options.entry or card.entry
        inputs = _inputs(model, entry, card, options)
        start = time.perf_counter()
        result = model.run(entry, (), inputs)
        seconds = time.perf_counter() - start
    except LinnetError as error:
        return report(error.diagnostics)
    results = cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)
    for value in results:
        print(_shown(entry, value))
    print(f"{seconds:.3f} s on {model.backend}")
    return 0


def _load(card: Card, options: argparse.Namespace) -> Model:
    from linnet.nest import load  # brings NumPy

    generics: dict[str, int | str] = {}
    if options.tiny:
        if not card.tiny:
            message = f"the card `{card.name}` has no table [tiny]"
            hint = "leave out --tiny and bind generics with --set"
            raise LinnetError([Diagnostic("E5001", message, card.place("tiny"), help=hint)])
        generics.update(card.tiny)
    generics.update(generics_of(options))
    return load(
        card.directory,
        options.backend,
        numerics=options.numerics,
        generics=generics,
        weights=options.weights or ("random" if options.tiny else None),
        cast_dtype=options.cast_dtype,
        device=options.device,
        progress=sys.stderr.isatty(),
    )


# --- inputs ------------------------------------------------------------------


def _inputs(model: Model, entry: str, card: Card, options: argparse.Namespace) -> dict[str, Any]:
    """The named inputs; tokens are the entry's first one."""
    model.entry(entry)  # an entry that is not there is reported
    program = model.program
    function = program.program.functions[program.block.methods[entry]]
    scope = bind((*program.block.generics, *function.generics), program.generics)
    types = {p.local.name: in_type(p.local.type, scope) for p in function.params}
    first = next(iter(types), None)
    named: list[tuple[str, list[int]]] = list(options.inputs)
    if first is not None and options.tokens is not None:
        named.append((first, options.tokens))
    given: dict[str, list[int]] = {}
    for name, values in named:
        if name in given:
            message = f"the input {shown(name)} is given twice"
            raise LinnetError([Diagnostic("E2102", message, None)])
        given[name] = values
    if first is not None:
        given.setdefault(first, list(range(card.check.get("S", 8))))
    return {name: _arranged(values, types.get(name)) for name, values in given.items()}


def _arranged(values: Sequence[int], type_: Type | None) -> Any:
    """The numbers as the declared type asks for them; what does not fit is reported later."""
    if isinstance(type_, ScalarType) and len(values) == 1:
        return values[0]
    if not isinstance(type_, TensorType) or len(type_.dims) != 2:
        return list(values)
    rows = _extent(type_, 0) or len(values) // (_extent(type_, 1) or len(values) or 1)
    if rows == 0 or len(values) % rows:
        return [list(values)]
    width = len(values) // rows
    return [list(values[i * width : (i + 1) * width]) for i in range(rows)]


def _extent(type_: TensorType, axis: int) -> int | None:
    dim = type_.dims[axis]
    return dim.as_int() if isinstance(dim, Dim) else None


def _input(text: str) -> tuple[str, list[int]]:
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME=1,2,3")
    return name, integers(values)


# --- the result --------------------------------------------------------------


def _shown(entry: str, value: Any) -> str:
    """Shape and dtype, and the five largest of the last position, the largest first."""
    import numpy as np

    array = np.asarray(value)
    lines = [f"{entry}: {list(array.shape)} {array.dtype}"]
    if array.ndim and array.size:
        last = array.reshape(-1, array.shape[-1])[-1].astype(np.float64)
        order = np.argsort(-last, kind="stable")[:TOP]
        lines += [f"  {int(i):>8}  {last[i]:.6g}" for i in order]
    elif array.size:
        lines.append(f"  {array.item()}")
    return "\n".join(lines)
