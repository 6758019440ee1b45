"""Cards, checkpoints and loading: `nest.load("gpt-oss-20b")` is a model that runs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linnet.nest.loading import load
    from linnet.nest.model import Entry, Model

__all__ = ["Entry", "Model", "load"]

_HOME = {
    "Entry": "linnet.nest.model",
    "Model": "linnet.nest.model",
    "load": "linnet.nest.loading",
}


def __getattr__(name: str) -> Any:
    # Reading a card must not cost the import of NumPy, which running a model needs.
    if name not in _HOME:
        raise AttributeError(f"module `linnet.nest` has no attribute `{name}`")
    return getattr(import_module(_HOME[name]), name)
