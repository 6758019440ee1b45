"""The passes by their names, for those who ask for one in words."""

from __future__ import annotations

from collections.abc import Callable

from linnet.ir.core import Module
from linnet.ir.passes.dce import dce
from linnet.ir.passes.inline import inline
from linnet.ir.passes.vectorize import vectorize

Pass = Callable[[Module], Module]


def _inline_all(module: Module) -> Module:
    """The module in which the entry calls nothing."""
    return inline(module, lambda function: function.name != module.entry)


PASSES: dict[str, Pass] = {"dce": dce, "inline": _inline_all, "vectorize": vectorize}
