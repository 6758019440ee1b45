"""Values of a page: what functions and models give, one a line.

    H = 2                         a generic is bound
    up.weight = [[1, 2], [3, 4]]  a parameter of the model has this value
    weights = random              all parameters have seeded values
    forward([1, 1]) = [3.0, 7.0]  a call, and what the interpreter gives
    seen = [1]                    a state after the calls above

The last block with an entry is the model, in a card of its own; calls of other names are of
functions. Floats are shown with four digits after the point.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from safetensors.numpy import save_file

from linnet import nest
from linnet.backends.base import Compiled, get_backend
from linnet.check.typed import Program, TBlock, TFunction
from linnet.lower.bindings import bind
from linnet.lower.instances import Instance, parameters
from linnet.lower.module import lower_function
from linnet.nest.inputs import check_inputs
from linnet.nest.random_weights import array_dtype
from linnet.pipeline import CheckResult

CARD = """\
[model]
name = "card"
title = "Card"
summary = "The card around an example."
license = "MIT"
family = "card"
parameters = {count}

[links]
huggingface = "https://huggingface.co/a/card"

[source]
path = "src/lib.linnet"
root = "{root}"
entry = "{entry}"

[generics]
{generics}

[weights]
repo = "a/card"
revision = "0000000000000000000000000000000000000000"
files = ["model.safetensors"]
"""
PACKAGE = '[package]\nname = "{name}"\nversion = "0.1.0"\nlanguage = "0.1"\n'


@dataclass(frozen=True)
class Call:
    name: str
    args: list[Any]
    named: dict[str, Any]


def read(text: str) -> Any:
    """A value as it is written on a page."""
    names = {"true": True, "false": False, "none": None}

    def of(node: ast.expr) -> Any:
        match node:
            case ast.Name(id) if id in names:
                return names[id]
            case ast.List(elts):
                return [of(e) for e in elts]
            case _:
                return ast.literal_eval(node)

    match ast.parse(text, mode="eval").body:
        case ast.Call(ast.Name(name), args, named):
            return Call(name, [of(a) for a in args], {str(k.arg): of(k.value) for k in named})
        case node:
            return of(node)


def write(value: Any) -> str:
    """A value as pages show it: numbers, arrays, and lists and tuples of these."""
    if hasattr(value, "dtype"):
        value = value.tolist() if value.dtype.kind in "iub" else value.astype(np.float64).tolist()
    if isinstance(value, list | tuple):
        items = ", ".join(map(write, cast(Sequence[Any], value)))
        return f"[{items}]" if isinstance(value, list) else f"({items})"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isfinite(value):
        return str(round(value, 4) + 0.0)  # no negative zero
    return str(value)


class Peer(Protocol):
    """The same program elsewhere: is given the parameters, then each call and its result."""

    def load(self, tensors: dict[str, Any]) -> None: ...

    def check(self, call: Call, got: Any) -> None: ...


@dataclass
class Runner:
    """Runs the lines of one example in order."""

    result: CheckResult
    peer: Peer | None = None
    given: dict[str, Any] = field(default_factory=dict[str, Any])
    random: bool = False
    model: nest.Model | None = None

    @property
    def program(self) -> Program:
        return self.result.program

    def root(self) -> TBlock | None:
        """The last block of the example that has an entry."""
        keys = {m.key for m in self.result.graph.roots}
        blocks = [b for key, b in self.program.blocks.items() if key.split("::")[0] in keys]
        with_entry = [b for b in blocks if self.entries(b)]
        return with_entry[-1] if with_entry else None

    def entries(self, block: TBlock) -> list[str]:
        functions = self.program.functions
        return [n for n, key in block.methods.items() if functions[key].kind == "entry"]

    def line(self, line: str) -> str:
        """The line as it should be."""
        if called := re.match(r"(\w+\(.*\)) =", line):
            call: Call = read(called[1])
            got = self.call(call)
            if self.peer is not None:
                self.peer.check(call, got)
            return f"{called[1]} = {write(got)}"
        left, _, right = line.partition(" = ")
        if self.model is not None:
            left = left.removesuffix(" =")
            return f"{left} = {write(self.model.state[left])}"
        if line == "weights = random":
            self.random = True
        else:
            self.given[left] = right if right in ("f32", "f64", "bf16") else read(right)
        return line

    def call(self, call: Call) -> Any:
        root = self.root()
        if root is not None and call.name in self.entries(root):
            if self.model is None:
                self.model = self.load(root)
            return self.model.entry(call.name)(*call.args, **call.named)
        (function,) = (
            f
            for f in self.program.functions.values()
            if f.key.endswith(f"::{call.name}") and f.block is None and self.shown(f)
        )
        return self.run(function, call)

    def shown(self, function: TFunction) -> bool:
        return function.key.split("::")[0] in {m.key for m in self.result.graph.roots}

    def run(self, function: TFunction, call: Call) -> Any:
        own = {g.name: self.given[g.name] for g in function.generics if g.name in self.given}
        scope = bind(function.generics, own)
        inputs = check_inputs(function, scope, call.args, call.named)
        lowered = lower_function(self.program, function.key, own, dict(inputs.given))
        compiled = Compiled(call.name, (call.name,), lambda _entry, _given: lowered, {}, ())
        runtime = get_backend("numpy").load(compiled, numerics="exact", device=None)
        values = runtime.call(call.name, inputs.arrays, inputs.given)
        return values[0] if len(values) == 1 else values

    def load(self, root: TBlock) -> nest.Model:
        """The model, from a card and a checkpoint in the folder `card`."""
        generics = {g.name: self.given.pop(g.name) for g in root.generics if g.name in self.given}
        declared = parameters(self.program, root.key, generics)
        wanted = [p for p in declared if p.kind != "state"]
        shown = [p for p in wanted if p.path in self.given or (self.random and not p.optional)]
        self.write_card(root, generics, shown)
        if self.random:
            return nest.load("./card", backend="numpy", weights="random", progress=False)
        assert self.given.keys() == {p.path for p in shown}
        tensors = self.tensors()
        if self.peer is not None:
            self.peer.load(tensors)
        save_file(tensors, "card/model.safetensors")
        return nest.load("./card", backend="numpy", weights="card", progress=False)

    def write_card(
        self, root: TBlock, generics: Mapping[str, Any], shown: Sequence[Instance]
    ) -> None:
        (source,) = (m for m in self.result.graph.roots if m.key == root.key.split("::")[0])
        folder = Path("card")
        (folder / "src").mkdir(parents=True)
        name = source.tree.path.dotted()
        (folder / "linnet.toml").write_text(PACKAGE.format(name=name))
        (folder / "src/lib.linnet").write_text(source.file.text)
        lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in generics.items())
        text = CARD.format(
            count=sum(math.prod(p.shape) for p in shown),
            root=root.key.split("::")[1],
            entry=self.entries(root)[0],
            generics=lines,
        )
        (folder / "nest.toml").write_text(text)
        self.dtypes = {p.path: p.dtype for p in shown}

    def tensors(self) -> dict[str, Any]:
        return {p: np.array(v, array_dtype(self.dtypes[p])) for p, v in self.given.items()}


def values(result: CheckResult, shown: str, peer: Peer | None = None) -> str:
    """The lines of `shown` with the values that the interpreter gives, and `peer` too."""
    runner = Runner(result, peer)
    return "".join(f"{runner.line(line)}\n" for line in shown.splitlines())
