"""What is counted: the elements of a shape, the positions of a slice."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.dims.dims import ONE, Dim, Symbol


def product(dims: Iterable[int | Symbol | Dim]) -> Dim:
    """All of them multiplied; 1 for none."""
    total = ONE
    for dim in dims:
        total = total * Dim.of(dim)
    return total


def steps(start: Dim, stop: Dim, step: int) -> Dim:
    """How many numbers there are from `start` to `stop`, excluded, in steps."""
    return (stop - start + (step - 1)) // step
