"""Names, values and sizes as a report shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A help line with the nearest known name, if one is near."""
    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean {shown(near[0])}?" if near else None


def kind(value: Any) -> str:
    """A TOML or JSON value in words."""
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            text = str(value) if abs(value) < 10**18 else "a large number"
            return f"the number {text}" if text[0] != "a" else text
        case str():
            return shown(value) if value else "an empty text"
        case list():
            return "a list"
        case dict():
            return "a table"
        case None:
            return "null"
        case _:
            return f"a {type(value).__name__}"


def shown(name: str, limit: int = 200) -> str:
    """A name from a file in backticks, with nothing in it that a terminal would obey."""
    short = name if len(name) <= limit else name[: limit - 3] + "..."
    return "`" + "".join(c if c.isprintable() else _escaped(c) for c in short) + "`"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def shape_text(shape: Sequence[int]) -> str:
    """A shape as `[2, 3]`."""
    return f"[{', '.join(map(str, shape))}]"


def size_text(count: int) -> str:
    """A number of bytes in a unit that suits it."""
    size, units = float(count), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    return f"{count} bytes" if units[0] == "bytes" else f"{size:.1f} {units[0]}"
