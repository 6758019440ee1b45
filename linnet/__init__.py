"""Linnet: a typed tensor language for neural-network architectures.

`linnet.nest.load` gives a model, `linnet.LinnetError` is what is raised where something does not
fit, `linnet.Diagnostic` one finding of it, and `linnet.check_paths` checks sources.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linnet import nest
    from linnet.pipeline import check_paths
    from linnet.source.diagnostics import Diagnostic
    from linnet.source.errors import LinnetError

__version__ = "0.1.0"
__all__ = ["Diagnostic", "LinnetError", "__version__", "check_paths", "nest"]

_HOME = {
    "Diagnostic": "linnet.source.diagnostics",
    "LinnetError": "linnet.source.errors",
    "check_paths": "linnet.pipeline",
}


def __getattr__(name: str) -> Any:
    # A script that wants one of them does not wait for the others.
    if name == "nest":
        return import_module("linnet.nest")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module `linnet` has no attribute `{name}`")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
