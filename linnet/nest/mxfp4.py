"""What the pair of a `blocks` and a `scales` tensor means for counting and for checking.

The layout is the published one: `blocks` holds two 4-bit weights a byte, its
last dimension being one block; `scales` holds an exponent byte a block, its
shape being that of `blocks` without the last dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TypeAlias

import numpy as np

from linnet.nest.checkpoint import CHUNK, Array
from linnet.nest.words import shape_text, shown
from linnet.source.diagnostics import Diagnostic

Shape: TypeAlias = tuple[int, ...]
NAN_SCALE = 255


def scale_names(tensors: Mapping[str, tuple[Shape, str]]) -> dict[str, str]:
    """Each name of a scales tensor with its blocks', told by names, shapes and `u8`."""
    found: dict[str, str] = {}
    for name, (shape, dtype) in tensors.items():
        if not name.endswith("scales") or dtype.lower() != "u8":
            continue
        blocks = name.removesuffix("scales") + "blocks"
        other, other_dtype = tensors.get(blocks, ((), ""))
        if other_dtype.lower() == "u8" and other[:-1] == shape and other:
            found[name] = blocks
    return found


def count_parameters(tensors: Mapping[str, tuple[Shape, str]]) -> int:
    """The number of weights: a block's byte counts two, a block's scale none."""
    scales = scale_names(tensors)
    blocks = {*scales.values()}
    return sum(
        prod(shape) * (2 if name in blocks else 1)
        for name, (shape, _) in tensors.items()
        if name not in scales
    )


def refuse_nan_scales(name: str, array: Array) -> Diagnostic | None:
    """An E5002 if a scale byte is 255, the format's NaN, which no weight can have."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        wrong = np.flatnonzero(flat[start : start + CHUNK] == NAN_SCALE)
        if wrong.size:
            at = np.unravel_index(start + int(wrong[0]), array.shape)
            place = shape_text([int(i) for i in at])
            message = f"tensor {shown(name)}: the scale at {place} is 255, which is not a number"
            hint = "the file is damaged: scales are powers of two, bytes 0 to 254"
            return Diagnostic("E5002", message, None, help=hint)
    return None
