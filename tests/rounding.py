"""How far the rounding of a dtype may move what a program computes: the program itself says.

Stochastic arithmetic: with `T` f64, each result of dtype `T` that bf16 would round is changed by a
random part of up to one unit roundoff of bf16, and the effect on the results is seen, choices of
experts that flip included. A run in bf16 is one draw of such errors, so that its deviation may not
be beyond twice the largest of several draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from linnet.backends.numpy.interpreter import DISPATCH
from linnet.ir.ops import UNARY_FLOAT

# Half the distance of two bf16 values over the lesser one: the most that a rounding changes.
UNIT = 2.0**-8
ROUNDS = {*UNARY_FLOAT, "add", "sub", "mul", "div", "cast", "reduce", "contract", "cumsum"}


@contextmanager
def rounding_at_random(seed: int) -> Iterator[None]:
    """Within it, the NumPy interpreter changes each f64 that bf16 would round."""
    generator = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        for name in ROUNDS:
            patch.setitem(DISPATCH, name, _disturbed(DISPATCH[name], generator))
        yield


def _disturbed(operation: Any, generator: np.random.Generator) -> Any:
    def run(frame: Any, op: Any, args: Any) -> list[Any]:
        return [
            r * (1 + generator.uniform(-UNIT, UNIT, r.shape)) if r.dtype == np.float64 else r
            for r in operation(frame, op, args)
        ]

    return run


def rms(x: Any) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(x**2)))


def most(x: Any) -> float:
    """What nineteen of twenty are not beyond. One choice that flips in an early layer may move all
    logits of a position by as much as they are, so that the very largest says nothing."""
    return float(np.quantile(np.abs(x), 0.95))
