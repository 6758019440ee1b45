"""JSON as files must have it: no key twice, no NaN, no name that is no text."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from linnet.source.shown import shown

# A count of bytes or elements has at most 19 digits; more would only cost time to read.
_DIGITS = 20


class JsonError(ValueError):
    """What is wrong, in words that follow the name of the file."""


def parse_json(data: bytes, what: str) -> Any:
    """The value in `data`. A `JsonError` calls the whole `what` ("the header", say)."""
    try:
        return json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=lambda pairs: _unique(pairs, what),
            parse_constant=lambda text: _refuse(f"{what} is no JSON: {text} is no number of it"),
            parse_int=lambda text: _integer(text, what),
        )
    except UnicodeDecodeError as error:
        raise JsonError(f"{what} is not UTF-8: byte {error.start}") from None
    except RecursionError:
        raise JsonError(f"{what} is nested too deeply") from None
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        at = f"line {error.lineno}, column {error.colno}"
        raise JsonError(f"{what} is no JSON: {reason} at {at}") from None


def _unique(pairs: list[tuple[str, Any]], what: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            _refuse(f"{what} has the key {shown(key)} twice")
        if any("\ud800" <= c <= "\udfff" for c in key):
            _refuse(f"{what} has the key {shown(key)}, which is no Unicode text")
        found[key] = value
    return found


def _integer(text: str, what: str) -> int:
    if len(text) > _DIGITS:
        _refuse(f"{what} has a number of {len(text)} digits")
    return int(text)


def _refuse(message: str) -> NoReturn:
    raise JsonError(message)
