"""Positions and bounds that are known only when a program runs, checked before they are used."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from linnet.backends.contract import RuntimeFault, no_index
from linnet.backends.interpret.frame import Frame
from linnet.ir.core import Operation


def _slice(frame: Frame, op: Operation, args: list[Tensor]) -> None:
    attrs = op.attrs
    for axis, (start, stop, step) in enumerate(
        zip(attrs["start"], attrs["stop"], attrs["step"], strict=True)
    ):
        first, end, extent = frame.extent(start), frame.extent(stop), args[0].shape[axis]
        if first < 0 or end > extent or end - first <= -step:
            raise RuntimeFault(
                f"{first}:{end} is out of range for axis {axis} of {extent} elements"
            )


def _index(frame: Frame, op: Operation, args: list[Tensor]) -> None:
    axes: tuple[int, ...] = op.attrs["axes"]
    for position, axis in zip(args[1:], axes, strict=True):
        _within(position, args[0].shape[axis], axis)


def _gather(frame: Frame, op: Operation, args: list[Tensor]) -> None:
    axes: tuple[tuple[str, int], ...] = op.attrs["axes"]
    for axis, (kind, number) in enumerate(axes):
        if kind == "index":
            _within(args[1 + number], args[0].shape[axis], axis)


def _within(positions: Tensor, extent: int, axis: int) -> None:
    if not positions.numel():
        return
    least, most = torch.aminmax(positions)
    if least < 0 or most >= extent:
        bad = positions[(positions < 0) | (positions >= extent)]
        raise no_index(int(bad.flatten()[0]), axis, extent)


CHECKS: dict[str, Callable[[Frame, Operation, list[Tensor]], None]] = {
    "slice": _slice,
    "index": _index,
    "gather": _gather,
}
