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
            large = isinstance(value, int) and abs(value) >= 10**18
            return "a large number" if large else f"the number {value}"
        case str():
            return shown(value) if value else "an empty text"
        case list():
            return "a list"
        case dict():
            return "a table"
        case None:
            return "null"
        case _:
            return f"a value of type `{type(value).__name__}`"


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
    units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    unit = min(max(count.bit_length() - 1, 0) // 10, len(units) - 1)
    if unit == 0:
        return f"{count} bytes"
    # Rounded half up in integers: no count is too large for them.
    tenths = (count * 20 // 1024**unit + 1) // 2
    return f"{tenths // 10}.{tenths % 10} {units[unit]}"
