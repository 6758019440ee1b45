"""The arguments of `nest.load`, each of its kind before anything is opened.

A flag must be a bool: `cast_dtype="false"` would count as true. An empty path is
refused, as it would be the working folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from linnet.nest.card_keys import Rule
from linnet.nest.words import kind
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import raise_errors
from linnet.source.suggest import did_you_mean


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_path(value: Any) -> bool:
    if isinstance(value, os.PathLike):
        given: Any = os.fspath(cast("os.PathLike[Any]", value))
        return isinstance(given, str)
    return isinstance(value, str) and bool(value)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text, cast("Mapping[Any, Any]", value)))


_DEVICE = re.compile(r"[a-z]+(:\d+)?")


def device_name(device: object) -> object:
    """A device as its name, which is what PyTorch's `torch.device` is as text; anything else as it
    is."""
    if device is None or isinstance(device, str):
        return device
    name = str(device)
    return name if _DEVICE.fullmatch(name) else device


_FLAG = "True or False"
_SAVED = "write them to a file: `safetensors.torch.save_file(model.state_dict(), path)`"
RULES = {
    "card": Rule("a shipped card's name or the path of a card's folder", _is_path),
    "backend": Rule("a backend's name", _is_text),
    "numerics": Rule("the name of a numerics policy", _is_text),
    "generics": Rule('a mapping from names, such as {"MaxSeq": 512}', _is_mapping),
    "weights": Rule('a path or "random"', _is_path),
    "tiny": Rule(_FLAG, _is_flag),
    "cast_dtype": Rule(_FLAG, _is_flag),
    "device": Rule("a device or its name", _is_text),
    "offline": Rule(_FLAG, _is_flag),
    "progress": Rule(_FLAG, _is_flag),
}
MAY_BE_NONE = frozenset({"generics", "weights", "device", "offline"})


def check_arguments(given: Mapping[str, Any]) -> None:
    """A `LinnetError` (E2102) that lists all that are of a wrong kind."""
    sink = Sink()
    for name, value in given.items():
        rule = RULES[name]
        if not rule.accepts(value) and not (value is None and name in MAY_BE_NONE):
            message = f"`{name}` must be {rule.wanted}, not {_words(value)}"
            tensors = name == "weights" and isinstance(value, Mapping)
            sink.add(Diagnostic("E2102", message, None, help=_SAVED if tensors else None))
    raise_errors(sink)


def misspelt(backend: str, options: Iterable[str]) -> list[Diagnostic]:
    """Findings about options of a backend that were most likely meant as arguments of `load`."""
    found: list[Diagnostic] = []
    for name in options:
        near = did_you_mean(name, RULES)
        if near is not None:
            message = f"neither `nest.load` nor the backend `{backend}` has an argument `{name}`"
            found.append(Diagnostic("E2102", message, None, help=near))
    return found


def plain(generics: Mapping[str, Any]) -> dict[str, Any]:
    """Generics with NumPy's integers as Python's; other values are judged later."""
    return {name: _number(value) for name, value in generics.items()}


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    try:
        return int(value.__index__())
    except TypeError:  # an array of several
        return value


def _words(value: Any) -> str:
    """As `kind`, in words of Python."""
    if value is None or isinstance(value, bool):
        return f"`{value}`"
    if isinstance(value, int | float | str):
        return kind(value)
    return f"a value of type `{type(value).__name__}`"
