"""What stands behind `--input NAME=`: numbers, `random`, or a file of NumPy's."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linnet.check.types import ScalarType, TensorType, Type, present
from linnet.cli.common import Rows, existing, numbers
from linnet.dims.dims import Dim
from linnet.dtypes import FLOATS, admits
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.shown import reason, shown

# The size of a last axis of which neither the source nor the card tells the size.
LENGTH = 8


@dataclass(frozen=True, slots=True)
class Drawn:
    """Random numbers, the same in every run."""


Given = Rows | Drawn | Path


def given(text: str) -> tuple[str, Given]:
    """The argument of `--input`."""
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME=1,2,3")
    if values == "random":
        return name, Drawn()
    return name, existing(values) if values.endswith(".npy") else numbers(values)


def drawn(name: str, type_: Type) -> Any:
    """Numbers of a normal distribution for the input `name`; sizes that are not known are 1, and
    `LENGTH` for the last."""
    import numpy as np

    inner = present(type_)
    if not isinstance(inner, ScalarType | TensorType) or not admits(inner.dtype) <= FLOATS:
        message = f"`random` draws floats, and {shown(name)} is `{type_}`"
        raise LinnetError([Diagnostic("E2102", message, None)])
    dims = inner.dims if isinstance(inner, TensorType) else ()
    sizes = [d.as_int() if isinstance(d, Dim) else None for d in dims]
    shape = [1 if n is None else n for n in sizes]
    if sizes and sizes[-1] is None:
        shape[-1] = LENGTH
    try:
        return np.random.default_rng(0).standard_normal(shape).tolist()
    except (MemoryError, ValueError, OverflowError):  # what NumPy says depends on the size
        message = f"{shown(name)} in the shape {shape} needs more memory than there is"
        raise LinnetError([Diagnostic("E5004", message, None)]) from None


def stored(name: str, path: Path) -> Any:
    """The array in a file that `numpy.save` wrote."""
    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else "it is no array of `numpy.save`"
        message = f"{shown(name)} cannot be read from {shown(str(path))}: {why}"
        raise LinnetError([Diagnostic("E5003", message, None)]) from None
