"""Lines that are not too long: a statement is broken at its outermost brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

WIDTH = 99
_FOR = re.compile(r" for (?=\w+ in range\(.*$)")
_OPEN, _CLOSE = "([{", ")]}"


def laid_out(lines: Iterable[str]) -> list[str]:
    """The lines, each that is longer than `WIDTH` on several."""
    return [part for line in lines for part in _broken(line)]


def _broken(line: str) -> list[str]:
    indent = line[: len(line) - len(line.lstrip())]
    if len(line) <= WIDTH:
        return [line]
    # A shape is worth no line of its own.
    code = line.partition("  # ")[0]
    place = _outermost(code) if len(code) > WIDTH else None
    if place is None:
        return [code]
    start, stop = place
    inside = _parts(code[start + 1 : stop])
    joined = f"{indent}    {', '.join(inside)}"
    if code[start + 1 : stop].rstrip().endswith(","):
        middle = [m for part in inside for m in _broken(f"{indent}    {part},")]
    elif len(inside) == 1 and _FOR.search(inside[0]):
        element, loop = _FOR.split(inside[0])
        middle = [*_broken(f"{indent}    {element}"), f"{indent}    for {loop}"]
    elif len(joined) <= WIDTH or len(inside) == 1:
        middle = _broken(joined)
    else:
        middle = [m for part in inside for m in _broken(f"{indent}    {part},")]
    return [code[: start + 1], *middle, *_broken(f"{indent}{code[stop:]}")]


def _outermost(code: str) -> tuple[int, int] | None:
    """The places of the outermost brackets that hold most."""
    opened = 0
    best: tuple[int, int] | None = None
    for k, c, depth in _levels(code):
        if c in _OPEN and depth == 0:
            opened = k
        elif c == ")" and depth == 0 and k - opened > 1:
            longer = best is None or k - opened > best[1] - best[0]
            best = (opened, k) if longer else best
    return best


def _parts(inside: str) -> list[str]:
    """What stands between commas outside any bracket."""
    parts, start = list[str](), 0
    for k, c, depth in _levels(inside):
        if c == "," and depth == 0:
            parts.append(inside[start:k].strip())
            start = k + 1
    last = inside[start:].strip()
    return [*parts, last] if last else parts


def _levels(code: str) -> Iterator[tuple[int, str, int]]:
    """The characters outside any quotes with their places and in how many brackets they stand;
    brackets stand where what is around them does."""
    depth, quote = 0, ""
    for k, c in enumerate(code):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        else:
            depth -= c in _CLOSE
            yield k, c, depth
            depth += c in _OPEN
