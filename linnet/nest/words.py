"""Names, values and sizes as a report shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linnet.source.shown import shown


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


def shape_text(shape: Sequence[int]) -> str:
    """A shape as `[2, 3]`."""
    return f"[{', '.join(map(str, shape))}]"


def counted(count: int, noun: str) -> str:
    """`1 byte`, `2 bytes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def size_text(count: int) -> str:
    """A number of bytes in a unit that suits it."""
    units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    unit = min(max(count.bit_length() - 1, 0) // 10, len(units) - 1)
    if unit == 0:
        return counted(count, "byte")
    # Rounded half up in integers: no count is too large for them.
    tenths = (count * 20 // 1024**unit + 1) // 2
    return f"{tenths // 10}.{tenths % 10} {units[unit]}"
