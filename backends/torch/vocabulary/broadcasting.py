"""Implicit broadcasting: which operands of an elementwise operation need not be expanded."""

from __future__ import annotations

from collections.abc import Mapping

from linnet.backends.code import Code
from linnet.backends.torch.vocabulary.moving import unexpanded
from linnet.dims.dims import ONE, Dim
from linnet.ir.core import Operation
from linnet.ir.ops import ELEMENTWISE

SPREADING = frozenset({"broadcast", "fill"})
"""Operations whose operand may stand for their result beside a larger one."""


def implicit(op: Operation, operand: Code) -> Code:
    """The code of the operand of a `broadcast` or a `fill` as it stands beside an operand of the
    result's shape: a scalar or a vector of the last axis as it is, others as `x[:, None]`."""
    return operand if op.name == "fill" else unexpanded(op, operand)


def left_implicit(op: Operation, spread: Mapping[int, Operation]) -> frozenset[int]:
    """Of the operands of the elementwise `op` at the positions of `spread`, which say the
    `broadcast` or `fill` that makes them, those that may be given as `implicit`: PyTorch then
    gives the result its whole shape from the others."""
    assert op.name in ELEMENTWISE
    shape = op.results[0].type.shape
    left = {k for k, made in spread.items() if made.name in SPREADING}
    for position in sorted(left, key=lambda k: -len(_covered(spread[k], shape))):
        seen = [_covered(spread[k], shape) for k in left]
        whole = len(left) < len(op.operands)
        if whole or frozenset().union(*seen) == frozenset(range(len(shape))):
            break
        left.discard(position)
    return frozenset(left)


def _covered(made: Operation, shape: tuple[Dim, ...]) -> frozenset[int]:
    """The axes of the result that the operand of `made` has in full where it is not expanded."""
    if made.name == "fill":
        return frozenset()
    axes = dict(zip(made.attrs["axes"], made.operands[0].type.shape, strict=True))
    first = min(axes, default=len(shape))
    return frozenset(
        k for k in range(first, len(shape)) if axes.get(k, ONE) == shape[k] or shape[k] == ONE
    )
