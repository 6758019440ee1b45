"""How an input is written on a command line, before its type is known.

1,2,3              numbers, laid out in the shape that the entry declares
1,2;3,4            rows
[[[1, 2], [3, 4]]] lists in lists, of any rank, as JSON
@FILE.npy          an array that `numpy.save` wrote
random:2x3x4       floats near zero, in this shape
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from typing import Any

from linnet.source.shown import shown

Rows = list[list[int | float | bool]]
"""Numbers as they are written: rows parted by `;`, numbers by `,`."""

_SHAPE = re.compile(r"random:(\d{1,18}(?:x\d{1,18})*)")


@dataclass(frozen=True, slots=True)
class Nested:
    """Lists in lists; or an object, for an input that is a struct."""

    value: Any


@dataclass(frozen=True, slots=True)
class FromFile:
    """The array in a file."""

    path: str


@dataclass(frozen=True, slots=True)
class RandomIn:
    """Random floats in a shape."""

    shape: tuple[int, ...]


Given = Rows | Nested | FromFile | RandomIn


def tokens(text: str) -> Rows:
    """`1,2,3` as one row of integers, `1,2,3;4,5,6` as two."""
    try:
        return [[int(part) for part in row.split(",")] for row in text.split(";")]
    except ValueError:
        message = f"{shown(text)} is not a list of integers such as 1,2,3 or, in rows, 1,2;3,4"
        raise argparse.ArgumentTypeError(message) from None


def named(text: str) -> tuple[str, Given]:
    """`NAME=VALUE` with a value in one of the forms."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{shown(text)} is not NAME=1,2,3")
    return name, _given(value.strip())


def _given(text: str) -> Given:
    if text.startswith(("[", "{")):
        return Nested(_json(text))
    if text.startswith("@"):
        if len(text) == 1:
            raise argparse.ArgumentTypeError("no file after `@`, as in @FILE.npy")
        return FromFile(text[1:])
    if text.startswith("random:"):
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise argparse.ArgumentTypeError(f"{shown(text)} has no shape such as random:2x3x4")
        return RandomIn(tuple(int(n) for n in shape[1].split("x")))
    return _numbers(text)


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        message = f"{shown(text)} is not lists of numbers such as [[1, 2], [3, 4]]"
        raise argparse.ArgumentTypeError(message) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise argparse.ArgumentTypeError(f"the field {shown(key)} is given twice")
        found[key] = value
    return found


def _numbers(text: str) -> Rows:
    """As `tokens`, with floats, `true` and `false` as well."""
    try:
        return [[_number(part.strip()) for part in row.split(",")] for row in text.split(";")]
    except ValueError:
        message = (
            f"{shown(text)} is not a list of numbers such as 1,2,3 or 0.5 or true,false, "
            "nor [[1, 2], [3, 4]], @FILE.npy or random:2x3"
        )
        raise argparse.ArgumentTypeError(message) from None


def _number(text: str) -> int | float | bool:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text)
    except ValueError:
        return float(text)
