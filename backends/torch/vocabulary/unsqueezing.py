"""Axes of extent 1 that a value gets, known as such to the operations that drop them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linnet.backends.code import ATOM, Code, name, subscript
from linnet.dims.dims import ONE, Dim


@dataclass(frozen=True, slots=True)
class Unsqueezed(Code):
    """`base[:, None]`: `base` with `axes`, counted in the result, of extent 1."""

    base: Code = Code("")  # noqa: RUF009, it is frozen
    axes: tuple[int, ...] = ()


def unsqueezed(base: Code, axes: Sequence[int]) -> Code:
    """`base` with `axes`, counted in the result, new and of extent 1."""
    if not axes:
        return base
    places = [name("None" if k in axes else ":") for k in range(max(axes) + 1)]
    found = subscript(base, *places)
    return Unsqueezed(found.text, found.functions, ATOM, "value", base, tuple(axes))


def added_axes(source: Sequence[Dim], target: Sequence[Dim]) -> tuple[int, ...] | None:
    """The axes of `target` that are of extent 1 and not in `source`; None if it is something
    else than `source` with more of those."""
    left = list(source)
    added: list[int] = []
    for k, extent in enumerate(target):
        if left and left[0] == extent:
            left.pop(0)
        elif extent == ONE:
            added.append(k)
        else:
            return None
    return None if left else tuple(added)
