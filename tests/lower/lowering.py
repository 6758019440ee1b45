"""What the tests of lowering share: source text in, IR or numbers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linnet.backends.contract import Sources
from linnet.check.typed import Program
from linnet.dims.prover import Facts
from linnet.ir.core import Module, Operation
from linnet.ir.parse import parse
from linnet.ir.passes.dce import dce
from linnet.ir.passes.inline import inline
from linnet.ir.passes.vectorize import vectorize
from linnet.ir.text import same, show
from linnet.ir.verify import verify
from linnet.lower.module import (
    AsWritten,
    lower_entry,
    lower_entry_as_written,
    lower_function,
    lower_function_as_written,
)
from linnet.lower.outline import outline_of
from linnet.pipeline import check_paths
from linnet.source.render import render_text
from tests.backends.each import HERE, run
from tests.backends.written import NO_BLOCK, know

NO_FACTS = Facts(())


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
        written = lower_function_as_written(self.program, key, generics, given)
        self.written(written, module)
        know(module, Sources(lambda _entry, _given: written, lambda: (NO_BLOCK, {})))
        return module

    def written(self, found: AsWritten, module: Module) -> Module:
        """`found` bound, right before and after, over the symbols of `module`."""
        items = (*self.program.functions.values(), *self.program.blocks.values())
        facts = Facts(tuple(fact for item in items for fact in item.facts))
        verify(found.module, facts)
        assert same(parse(show(found.module)), found.module)
        bound = found.bound()
        verify(bound, facts)
        assert bound.symbols == module.symbols
        return bound

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
        written = lower_entry_as_written(
            self.program, key, generics, entry, lambda path: path not in there, given
        )
        self.written(written, module)
        outline = outline_of(self.program, key, generics or {}, lambda path: path not in there)
        know(module, Sources(lambda _entry, _given: written, lambda: outline))
        return module

    def call(self, name: str, *args: Any, **generics: Any) -> list[np.ndarray]:
        """What the function gives for `args`."""
        found = on_each(self.function(name, generics), args)
        written = lower_function_as_written(self.program, f"m::{name}", generics)
        equal(on_each(written.bound(), args), found)
        return found


def source(folder: Path, text: str) -> Source:
    """Check `text` as the module `m`; it must be without errors."""
    path = folder / "m.linnet"
    path.write_text("module m\n" + text)
    result = check_paths([path])
    assert not result.sink.errors, "\n".join(render_text(d) for d in result.sink)
    return Source(result.program)


def everywhere(
    module: Module,
    args: Sequence[Any],
    facts: Facts = NO_FACTS,
    state: Mapping[str, Any] | None = None,
    **named: Any,
) -> list[np.ndarray]:
    """What `module` gives for `args`, once its text has been read back, and whatever passes have
    run. `state` is as it was afterwards."""
    verify(module, facts)
    assert same(parse(show(module), module.symbols), module)
    whole = dce(inline(vectorize(module), lambda _: True))
    verify(whole, facts)
    found: list[list[np.ndarray]] = []
    for version in (module, vectorize(module), whole):
        found.append(on_each(version, args, state, **named))
    for other in found[1:]:
        equal(found[0], other)
    return found[0]


def on_each(
    module: Module, args: Sequence[Any], state: Mapping[str, Any] | None = None, **named: Any
) -> list[np.ndarray]:
    """What `module` gives for `args` on every backend."""
    found: list[list[np.ndarray]] = []
    for backend in HERE:
        held = {path: np.asarray(value) for path, value in (state or {}).items()}
        found.append(run(backend, module, [np.asarray(a) for a in args], state=held, **named))
        equal(found[0], found[-1])
    return found[0]


def equal(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> None:
    for mine, its in zip(found, wanted, strict=True):
        assert mine.dtype == its.dtype
        np.testing.assert_array_equal(mine, its)


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
