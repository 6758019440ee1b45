"""Which parameters the paths that name none were most likely meant to be."""

from __future__ import annotations

import re
from collections.abc import Iterable

from linnet.source.suggest import closest

_NUMBER = re.compile(r"\d+")
# Comparisons of two names in all: some seconds at most, however many names there are.
_BUDGET = 500_000


def nearest(unknown: Iterable[str], unused: Iterable[str]) -> dict[str, str]:
    """Each unknown path with the unused one that it may stand for, if one is near; none twice.

    `layers.3.atn` was meant to be in layer 3: paths with the same numbers come first, and in a
    model of many layers they are few.
    """
    free = dict.fromkeys(unused)
    alike: dict[tuple[str, ...], dict[str, None]] = {}
    for path in free:
        alike.setdefault(_numbers(path), {})[path] = None
    found: dict[str, str] = {}
    left = _BUDGET
    for path in unknown:
        for candidates in (alike.get(_numbers(path), {}), free):
            left -= len(candidates)
            near = closest(path, candidates) if left >= 0 else None
            if near is not None:
                found[path] = near
                del free[near], alike[_numbers(near)][near]
                break
    return found


def _numbers(path: str) -> tuple[str, ...]:
    return tuple(_NUMBER.findall(path))
