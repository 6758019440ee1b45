"""Lines that are not too long: a statement is broken at its outermost brackets."""

from __future__ import annotations

from collections.abc import Iterable

WIDTH = 99
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
    elif len(joined) <= WIDTH or len(inside) == 1:
        middle = _broken(joined)
    else:
        middle = [m for part in inside for m in _broken(f"{indent}    {part},")]
    return [code[: start + 1], *middle, *_broken(f"{indent}{code[stop:]}")]


def _outermost(code: str) -> tuple[int, int] | None:
    """The places of the outermost brackets that hold most."""
    depth, opened = 0, 0
    best: tuple[int, int] | None = None
    quoted = ""
    for k, c in enumerate(code):
        if quoted:
            quoted = "" if c == quoted else quoted
        elif c in "\"'":
            quoted = c
        elif c in _OPEN:
            if depth == 0:
                opened = k
            depth += 1
        elif c in _CLOSE:
            depth -= 1
            longer = best is None or k - opened > best[1] - best[0]
            if depth == 0 and k - opened > 1 and c == ")" and longer:
                best = opened, k
    return best


def _parts(inside: str) -> list[str]:
    """What stands between commas outside any bracket."""
    parts, depth, quoted, start = list[str](), 0, "", 0
    for k, c in enumerate(inside):
        if quoted:
            quoted = "" if c == quoted else quoted
        elif c in "\"'":
            quoted = c
        elif c in _OPEN:
            depth += 1
        elif c in _CLOSE:
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(inside[start:k].strip())
            start = k + 1
    last = inside[start:].strip()
    return [*parts, last] if last else parts
