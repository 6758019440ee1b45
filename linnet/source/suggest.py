"""Ways out that can be taken by a key: the wording of their help lines, and what it stands for.

A help line is text for everybody; `meant`, `imported` and `stated` read the forms that say what to
write and where: a name in the place of the one that the finding marks, an import, relations in the
`where` around.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache

from linnet.source.shown import shown

_NEAR = 0.65  # the least likeness, as the `ratio` of difflib measures it: `haed` is near `heads`
_COMPARED = 16  # so many of the likeliest candidates are compared letter by letter
_LISTED = 12
_LONGEST = 200  # nobody means a name of this length by another


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A help line with the candidate that `name` was most likely meant to be, or None."""
    near = closest(name, candidates)
    return f"did you mean {shown(near)}?" if near is not None else None


def listed(names: Iterable[str], marked: bool = False) -> str:
    """Names one after the other, each `marked` as code; no more of them than one reads."""
    every = [f"`{name}`" if marked else name for name in names]
    rest = len(every) - _LISTED
    return ", ".join(every) if rest <= 1 else f"{', '.join(every[:_LISTED])} and {rest} more"


_MEANT = re.compile(r"(?:did you mean|the dtype is) `([A-Za-z_][A-Za-z0-9_.]*)`\??")
_STATED = re.compile("if it always holds, state it: `where ([^`]+)`")


def meant(help: str | None) -> str | None:
    """What a help line says to write in the place that its finding marks."""
    found = _MEANT.fullmatch(help or "")
    return found[1] if found else None


_IMPORTED = re.compile(r"(?:did you mean `\w+`: )?`use ([\w.]+)::\{(\w+)\}`(?:, or .*)?")


def imported(help: str | None) -> tuple[str, str] | None:
    """The module and the name of its item that a help line says to import for what its finding
    marks."""
    found = _IMPORTED.fullmatch(help or "")
    return (found[1], found[2]) if found else None


def state(relations: Iterable[str]) -> str:
    """A help line with the relations that would settle a finding."""
    return f"if it always holds, state it: `where {', '.join(relations)}`"


def stated(help: str | None) -> str | None:
    """The relations that a help line says to write in the `where` around its finding."""
    found = _STATED.fullmatch(help or "")
    return found[1] if found else None


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` was most likely meant to be, if one is near enough.

    The letters that two names have in common, wherever they stand, bound their likeness from
    above. That is quick to compute, and mostly leaves few candidates to compare in earnest.
    """
    if not name or len(name) > _LONGEST:
        return None
    folded = name.casefold()
    letters = _letters(folded)
    bounds: list[tuple[float, str]] = []
    for candidate in set(candidates):
        if 0 < len(candidate) <= _LONGEST:
            other = _letters(candidate)
            length = letters.bit_count() + other.bit_count()
            bound = 2 * (letters & other).bit_count() / length
            if bound >= _NEAR:
                bounds.append((-bound, candidate))
    best, likeness, alike = None, 0.0, False
    matcher = SequenceMatcher(None, "", folded, autojunk=False)
    for bound, candidate in sorted(bounds)[:_COMPARED]:
        if -bound < likeness:
            break
        matcher.set_seq1(candidate.casefold())
        same_case = candidate[0].isupper() == name[0].isupper()
        if (matcher.ratio(), same_case) > (likeness, alike):
            best, likeness, alike = candidate, matcher.ratio(), same_case
    return best if likeness >= _NEAR else None


@lru_cache(maxsize=1 << 14)
def _letters(name: str) -> int:
    """The letters of a name, case aside, as a set of bits: a bit for the first `a`, one for the
    second, and so on."""
    bits = 0
    for letter in name.casefold():
        bit = 1 << ord(letter) % 128
        while bits & bit:
            bit <<= 128
        bits |= bit
    return bits
