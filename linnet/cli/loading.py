"""A model as a command line asks for it, for the commands that run one."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from linnet.cli.common import add_card, add_numerics, generics_of, word

if TYPE_CHECKING:
    from linnet.nest.model import Model


def add_loading(parser: argparse.ArgumentParser) -> None:
    """The card, and how it is loaded."""
    add_card(parser)
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


def loaded(options: argparse.Namespace) -> Model:
    """The model; a `LinnetError` of what does not fit."""
    from linnet.nest import load  # brings NumPy

    with _warnings_on_stderr():
        return load(
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
