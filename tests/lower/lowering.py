"""What the tests of lowering share: source text in, IR or numbers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linnet.backends.numpy.interpreter import run
from linnet.check.typed import Program
from linnet.dims.prover import Facts
from linnet.ir.core import Module, Operation
from linnet.ir.verify import verify
from linnet.lower.module import lower_entry, lower_function
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic
from linnet.source.render import render_text


@dataclass(frozen=True)
class Source:
    """A checked module named `m`."""

    program: Program

    def function(
        self,
        name: str,
        generics: Mapping[str, Any] | None = None,
        given: Mapping[str, bool] | None = None,
    ) -> Module:
        key = f"m::{name}"
        module = lower_function(self.program, key, generics, given)
        verify(module, Facts(self.program.functions[key].facts))
        return module

    def entry(
        self,
        block: str,
        entry: str,
        generics: Mapping[str, Any] | None = None,
        absent: Sequence[str] = (),
        given: Mapping[str, bool] | None = None,
    ) -> Module:
        key = f"m::{block}"
        there = set(absent)
        module = lower_entry(
            self.program, key, generics, entry, lambda path: path not in there, given
        )
        verify(module, Facts(self.program.blocks[key].facts))
        return module

    def call(self, name: str, *args: Any, **generics: Any) -> list[np.ndarray]:
        """What the function gives for `args`."""
        return run(self.function(name, generics), [np.asarray(a) for a in args])


def source(folder: Path, text: str) -> Source:
    """Check `text` as the module `m`; it must be without errors."""
    path = folder / "m.linnet"
    path.write_text("module m\n" + text)
    result = check_paths([path])
    assert not result.sink.errors, "\n".join(render_text(d) for d in result.sink)
    return Source(result.program)


def refused(folder: Path, text: str, code: str = "E2190") -> Diagnostic:
    """The one finding of `text` as the module `m`, by default that it cannot be run yet."""
    path = folder / "m.linnet"
    path.write_text("module m\n" + text)
    (finding,) = check_paths([path]).sink
    assert finding.code == code and finding.span is not None, finding
    return finding


def nested(body: Sequence[Operation]) -> list[Operation]:
    """The operations of `body`, each followed by those in its regions."""
    return [
        found
        for op in body
        for found in (op, *(o for region in op.regions for o in nested(region.body)))
    ]


def operations(module: Module) -> list[Operation]:
    """Every operation, those in regions included."""
    return [op for function in module.functions.values() for op in nested(function.body)]


def names(module: Module) -> list[str]:
    """The names of the operations, in the order of `operations`."""
    return [op.name for op in operations(module)]
