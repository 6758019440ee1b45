"""The nearest of some names to one that was misspelt."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was most likely meant to be, if one is near enough."""
    names = sorted(set(candidates))
    folded = name.casefold()
    for candidate in names:
        if candidate.casefold() == folded:
            return candidate
    found = get_close_matches(name, names, n=1, cutoff=0.7)
    return found[0] if found else None
