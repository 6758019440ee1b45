"""What a caller asks of a text, each of its kind before a model runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, cast

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import raise_errors
from linnet.source.shown import shown


@dataclass(frozen=True, slots=True)
class Settings:
    """`max_new` None is as many tokens as there is room for; a temperature of 0 takes the likeliest
    token and leaves `top_k`, `top_p` and `seed` without a use; without a seed each text has its
    own randomness."""

    max_new: int | None = None
    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()


def check_settings(
    max_new: Any, temperature: Any, top_k: Any, top_p: Any, seed: Any, stop: Any
) -> Settings:
    """The settings; a `LinnetError` (E2102) that lists all that are wrong."""
    sink = Sink()
    texts = _texts(stop)
    wanted = "a text that is not empty, or a list of such"
    _check("max_new", max_new, _is_count, "an integer above 0", sink)
    _check("temperature", temperature, _is_temperature, "a number from 0, not infinite", sink)
    _check("top_k", top_k, _is_count, "an integer above 0", sink)
    _check("top_p", top_p, _is_share, "a number above 0, at most 1", sink)
    _check("seed", seed, _is_seed, "an integer from 0", sink)
    _check("stop", stop, lambda _: _are_texts(texts), wanted, sink)
    raise_errors(sink)
    return Settings(
        max_new=_integer(max_new),
        temperature=float(temperature),
        top_k=_integer(top_k),
        top_p=None if top_p is None else float(top_p),
        seed=_integer(seed),
        stop=texts,
    )


def _texts(stop: Any) -> Any:
    """The stop texts, if there can be any; an iterator gives them but once."""
    if stop is None or isinstance(stop, str):
        return () if stop is None else (stop,)
    return tuple(cast("Iterable[Any]", stop)) if isinstance(stop, Iterable) else stop


def _integer(value: Any) -> int | None:
    return None if value is None else int(value)


def _check(name: str, value: Any, accepts: Callable[[Any], bool], wanted: str, sink: Sink) -> None:
    optional = value is None and name != "temperature"
    if not optional and not accepts(value):
        message = f"`{name}` must be {wanted}, not {_words(value)}"
        sink.add(Diagnostic("E2102", message, None))


def _words(value: Any) -> str:
    if isinstance(value, str):
        return shown(value) if value else "an empty text"
    if isinstance(value, bool | int | float):
        text = str(value)
        return f"`{text}`" if len(text) < 40 else "a longer number"
    return f"a value of type `{type(value).__name__}`"


def _is_count(value: Any) -> bool:
    return _is_integer(value) and value > 0


def _is_seed(value: Any) -> bool:
    return _is_integer(value) and value >= 0


def _is_integer(value: Any) -> bool:
    """Whether it is one; those of NumPy are."""
    return not isinstance(value, bool) and isinstance(value, Integral)


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float is
        return False


def _is_temperature(value: Any) -> bool:
    return _is_finite(value) and value >= 0


def _is_share(value: Any) -> bool:
    return _is_finite(value) and 0 < value <= 1


def _are_texts(value: Any) -> bool:
    if not isinstance(value, tuple):
        return False
    return all(isinstance(text, str) and text for text in cast("tuple[Any, ...]", value))
