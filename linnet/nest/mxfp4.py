"""What the pair of a `blocks` and a `scales` tensor means for counting and for checking.

The layout is the published one: `blocks` holds two 4-bit weights a byte, its
last dimension being one block; `scales` holds an exponent byte a block, its
shape being that of `blocks` without the last dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TypeAlias

from linnet.nest.card import Card
from linnet.source.diagnostics import Diagnostic, Sink

Shape: TypeAlias = tuple[int, ...]


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


def check_count(card: Card, least: int, most: int, sink: Sink) -> bool:
    """Report a `[model] parameters` that is not the number of weights (E5001), which are `most`
    where the checkpoint has all optional parameters, and `least` where it has none. Whether it is
    right."""
    if least <= card.parameters <= most:
        return True
    message = f"`parameters` says {card.parameters}, but the model has {least} weights"
    help_ = f"write `parameters = {least}`"
    if most > least:
        message += f", {most} with all that is optional"
        help_ += f", or up to {most} for what the checkpoint has"
    note = "a byte of packed 4-bit weights counts two, a block's scale none"
    place = card.toml.value("model", "parameters")
    sink.add(Diagnostic("E5001", message, place, notes=(note,), help=help_))
    return False
