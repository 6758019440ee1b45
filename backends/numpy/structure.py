"""Moving elements: slices, gathers, broadcasts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from linnet.backends.contract import RuntimeFault, no_index
from linnet.backends.numpy.dtypes import Array

GatherAxis = tuple[Literal["axis", "index"], int]


def broadcast(x: Array, axes: Sequence[int], shape: Sequence[int]) -> Array:
    """Operand axis i becomes result axis `axes[i]`."""
    placed = [1] * len(shape)
    for extent, axis in zip(x.shape, axes, strict=True):
        placed[axis] = extent
    return np.broadcast_to(x.reshape(placed), tuple(shape))


def cut(x: Array, start: Sequence[int], stop: Sequence[int], step: Sequence[int]) -> Array:
    """Every `step`-th element of each axis from `start` to before `stop`."""
    for axis, (first, end, by, extent) in enumerate(zip(start, stop, step, x.shape, strict=True)):
        if first < 0 or end > extent or end - first <= -by:
            raise RuntimeFault(
                f"{first}:{end} is out of range for axis {axis} of {extent} elements"
            )
    # To Python, a stop below 0 is counted from the end.
    ends = [max(first, end) for first, end in zip(start, stop, strict=True)]
    return np.asarray(x[tuple(map(slice, start, ends, step))])


def index(x: Array, at: Sequence[Array], axes: Sequence[int]) -> Array:
    """Drops `axes` at runtime positions."""
    places: list[slice | int] = [slice(None)] * x.ndim
    for position, axis in zip(at, axes, strict=True):
        _check(position, x.shape[axis], axis)
        places[axis] = int(position)
    return np.asarray(x[tuple(places)])


def gather(
    base: Array, indices: Sequence[Array], axes: Sequence[GatherAxis], shape: Sequence[int]
) -> Array:
    """`out[o] = base[p]`, p taken from o and from the index tensors at o."""
    shape = tuple(shape)
    for axis, (kind, number) in enumerate(axes):
        if kind == "index":
            _check(indices[number], base.shape[axis], axis)
        elif shape[number] > base.shape[axis]:
            raise RuntimeFault(
                f"axis {axis} has {base.shape[axis]} elements, {shape[number]} are gathered"
            )
    if 0 in shape:
        return np.empty(shape, base.dtype)
    whole = _whole_axes(base, indices, axes, shape)
    outer = [k for k in range(len(shape)) if k not in whole]
    looked_up = [a for a, (kind, k) in enumerate(axes) if kind == "index" or k not in whole]
    order = looked_up + list(whole.values())
    positions = [_positions(indices, axes[a], outer, whole, shape) for a in looked_up]
    found = np.transpose(base, order)[tuple(positions)] if order else base
    full = (*(shape[k] for k in outer), *(shape[k] for k in whole))
    grown = found.reshape((1,) * (len(full) - found.ndim) + found.shape)
    result_axes = outer + list(whole)
    back = [result_axes.index(k) for k in range(len(shape))]
    return np.transpose(np.broadcast_to(grown, full), back)


def _whole_axes(
    base: Array, indices: Sequence[Array], axes: Sequence[GatherAxis], shape: tuple[int, ...]
) -> dict[int, int]:
    """Result axes that run over a whole base axis whatever the indices: they are copied as rows."""
    whole: dict[int, int] = {}
    for k in range(len(shape)):
        at = [a for a, axis in enumerate(axes) if axis == ("axis", k)]
        varies = any(i.shape[k] != 1 for i in indices)
        if len(at) == 1 and not varies and base.shape[at[0]] == shape[k]:
            whole[k] = at[0]
    return whole


def _positions(
    indices: Sequence[Array],
    axis: GatherAxis,
    outer: list[int],
    whole: dict[int, int],
    shape: tuple[int, ...],
) -> Array:
    kind, number = axis
    if kind == "index":
        return np.squeeze(indices[number], tuple(whole))
    extents = [shape[k] if k == number else 1 for k in outer]
    return np.arange(shape[number]).reshape(extents)


def _check(positions: Array, extent: int, axis: int) -> None:
    bad = positions[(positions < 0) | (positions >= extent)]
    if bad.size:
        raise no_index(int(bad.ravel()[0]), axis, extent)
