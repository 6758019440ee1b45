"""The pieces of generated source, compiled by TorchInductor when they first run.

Dimensions are symbols, but for 0 and 1, and parameters are inputs of what is compiled: a piece is
compiled once for each set of ranks, dtypes, and dimensions that are 0 or 1, and for each kind of
block that it is given, whatever the number of blocks.
"""

from __future__ import annotations

import ast
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from linnet.backends.torch.emit.module import Source
from linnet.backends.torch.inductor.pieces import cut
from linnet.backends.torch.kernels.opaque import SHAPES, as_operation

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Inductor:
    """`variants`: how often each piece has been compiled, in all. A `trainable` model has
    gradients of every kernel, so those that cannot be looked into end what is compiled. An `exact`
    one rounds to f16 and bf16 between operations that are compiled into one, too."""

    trainable: bool = False
    exact: bool = False
    variants: Counter[str] = field(default_factory=Counter[str])

    def tree(self, source: Source) -> tuple[ast.Module, tuple[str, ...]]:
        """What runs in place of the text, and the names of the pieces in it."""
        outside = source.functions
        entries = [
            ("" if key in outside else source.root, w.name) for key, w in source.entries.items()
        ]
        found = cut(source.text, entries)
        return found.tree, found.pieces

    def compile(self, space: dict[str, Any], pieces: tuple[str, ...]) -> None:
        """Put what is compiled in place of the pieces."""
        for kernel in SHAPES:
            if space.get(kernel.__name__) is kernel:
                space[kernel.__name__] = self._opaque(kernel)
        framework: Any = torch
        for name in pieces:
            space[name] = framework.compile(space[name], dynamic=True, backend=self._backend(name))

    def _opaque(self, kernel: Callable[..., Any]) -> Any:
        if self.trainable:
            whole: Any = torch.compiler
            return whole.disable(kernel)
        return as_operation(kernel)

    def _backend(self, name: str) -> Callable[..., Any]:
        """TorchInductor, with a count of what it is given."""

        patches = {"emulate_precision_casts": True} if self.exact else None

        def run(graph: torch.fx.GraphModule, inputs: list[Any]) -> Any:
            from torch._inductor.compile_fx import compile_fx

            self.variants[name] += 1
            _log.info("compiling %s, variant %d", name, self.variants[name])
            return compile_fx(graph, inputs, config_patches=patches)

        return run
