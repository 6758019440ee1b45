"""Generated source compiled by TorchInductor: what is compiled how often, and what it gives."""

from __future__ import annotations

import os

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linnet import nest
from linnet.backends.base import get_backend
from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.torch.inductor.compiling import Inductor
from linnet.backends.torch.inductor.pieces import cut
from linnet.dtypes import DType
from linnet.source.errors import LinnetError
from tests.backends.torch.layered import load, write_card
from tests.stdlib.conftest import compiled

UNITS = {"f32": 2.0**-24, "bf16": 2.0**-9}
"""Half the distance from 1 to the next number: what rounding once may change, relatively."""


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_card(tmp_path_factory.mktemp("compiled"))


def tolerance(model: Any, dtype: str) -> float:
    """How far two runs of `layered` may be apart: twice the error of one.

    A sum of `n` products is off by at most `n` roundings in f32 and one of its dtype, relative to
    the sum of their magnitudes; a share that weighs what was seen is rounded once, and shares sum
    to one; tanh passes no more than the error of its argument on, and is off by four units at
    most. `most` bounds the magnitude of what goes from layer to layer, `error` its error.
    """
    unit, single = UNITS[dtype], UNITS["f32"]
    sizes = dict(model.named_parameters())
    most, error = float(sizes["table"].abs().max()), 0.0

    def product(name: str, error: float, most: float) -> float:
        weight = sizes[f"{name}.weight"].double().abs()
        bias = float(sizes[f"{name}.bias"].abs().max()) if f"{name}.bias" in sizes else 0.0
        norm = float(weight.sum(1).max())
        return norm * error + (weight.shape[1] * single + 2 * unit) * (norm * most + bias)

    for k in range(model.generics["Layers"]):
        seen = error + (model.generics["MaxSeq"] * single + 2 * unit) * most
        error += product(f"layers.{k}.mix", seen, most) + 4 * unit
        most += 1
        error += unit * most
    return 2 * product("head", error, most)


def agree(found: Any, wanted: Any, within: float) -> None:
    assert found.dtype == wanted.dtype
    apart = float((found.double() - wanted.double()).abs().max())
    assert apart <= within, (apart, within)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_texts_of_every_length_run_what_was_compiled_once(card: Path, dtype: str) -> None:
    """D2: prompts of 5, 6 and 7 tokens, 64 steps each. A single token is a shape of its own."""
    model = load(card, "inductor", generics={"T": dtype})
    plain = load(card, False, generics={"T": dtype})
    within = tolerance(plain, dtype)
    tokens = np.random.default_rng(0).integers(0, 32, 128)
    torch._dynamo.utils.counters.clear()
    for count in (5, 6, 7):
        model.reset_state()
        plain.reset_state()
        prompt = tokens[:count], 0
        agree(model.prefill(*prompt), plain.prefill(*prompt), within)
        for place in range(count, count + 64):
            step = tokens[place : place + 1], place
            agree(model.decode(*step), plain.decode(*step), within)
    parts = [f"{entry}_{k}" for entry in ("prefill", "decode") for k in (1, 2, 3)]
    assert model.variants == dict.fromkeys(parts, 1)
    assert not torch._dynamo.utils.counters["graph_break"]
    assert model.state["layers.1.kept"].any()
    for path, held in model.state.items():
        agree(held, plain.state[path], within)


def test_layers_share_what_is_compiled_and_faults_are_named(card: Path) -> None:
    """The counts are those of two layers."""
    model = load(card, "inductor", generics={"Layers": 6})
    plain = load(card, False, generics={"Layers": 6})
    within = tolerance(plain, "f32")
    agree(model.decode([3], 0), plain.decode([3], 0), within)
    agree(model.decode([4], 1), plain.decode([4], 1), within)
    assert model.variants == {"decode_1": 1, "decode_2": 1, "decode_3": 1}
    for token in (32, -1):
        with pytest.raises(LinnetError, match="out of range for an axis of 32 elements") as caught:
            model.decode([token], 2)
        assert caught.value.diagnostics[0].code == "E2209"


def test_a_position_without_axes_is_looked_up_in_the_graph(card: Path) -> None:
    """Read on the host, it would end the graph, and on a GPU be waited for."""
    model = load(card, "inductor")
    torch._dynamo.utils.counters.clear()
    for token in (3, 31, 0):
        assert torch.equal(model.row(token), model.table[token])
    assert model.variants == {"row_1": 1}
    assert not torch._dynamo.utils.counters["graph_break"]
    for token in (32, -1):
        with pytest.raises(LinnetError, match="out of range for an axis of 32 elements"):
            model.row(token)


def test_a_state_that_is_replaced_is_replaced(card: Path) -> None:
    model = load(card, "inductor")
    assert [int(model.count()) for _ in range(3)] == [1, 2, 3]
    assert int(model.state["calls"]) == 3
    model.reset_state()
    assert int(model.count()) == 1
    assert sum(model.variants.values()) == 1


def test_exact_numerics_round_between_operations() -> None:
    """NumPy rounds to bf16 after each of the three."""
    source = (
        "module probe\n\n"
        "pub entry probe(x: Tensor[64; bf16], y: Tensor[64; bf16]) -> Tensor[64; bf16] {\n"
        "    return (x + y) * y - x\n}\n"
    )
    x, y = np.random.default_rng(0).standard_normal((2, 64)).astype(NUMPY[DType.BF16])
    how: dict[str, Any] = {"numerics": "exact", "device": None, "compile": "inductor"}
    (found,) = get_backend("torch").load(compiled(source), **how).call("probe", [x, y])
    assert np.array_equal(found.float().numpy(), ((x + y) * y - x).astype(np.float32))


# --- pieces ------------------------------------------------------------------


class Uncompiled(Inductor):
    """Pieces that run as they are."""

    __slots__ = ("names",)

    def compile(self, space: dict[str, Any], pieces: tuple[str, ...]) -> None:
        self.names = pieces


def test_the_shipped_card_in_pieces_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnet.backends.torch.backend.Inductor", Uncompiled)
    rng = np.random.default_rng(0)
    runs: list[tuple[str, Sequence[Any]]] = [
        ("prefill", (rng.integers(0, 320, (2, 6)), 0)),
        ("decode", (rng.integers(0, 320, (2, 1)), 6)),
        ("forward", (rng.integers(0, 320, (2, 3)),)),
        ("next_token", (rng.integers(0, 320, (2, 3)),)),
        ("decode_rows", (rng.integers(0, 320, (2, 1)), [7, 2])),
    ]
    found: dict[Any, list[torch.Tensor]] = {}
    for compile in (True, "inductor"):
        model: Any = nest.load("gpt-oss-20b", tiny=True, progress=False, compile=compile)
        found[compile] = [model.run(entry, given, {}) for entry, given in runs]
        found[compile] += list(model.state.values())
    for one, other in zip(found[True], found["inductor"], strict=True):
        assert torch.equal(one, other)


CONTROL = """
class Inner(nn.Module):
    def __init__(self) -> None:
        self.low = nn.ModuleList(Leaf() for _ in range(2))

    def forward(self, x):
        for leaf in self.low:
            x = leaf(x) + 1
        return x


class Leaf(nn.Module):
    def __init__(self) -> None:
        self.by = 2

    def forward(self, x):
        return x * self.by


class Root(nn.Module):
    def __init__(self) -> None:
        self.first = Inner()
        self.last = Leaf()

    def run(self, x, n):
        y = self.last(self.first(x + 1) * 3)
        if y.sum() > n:
            y = helper(y, n=n) - self.last(x)
        while True:
            y = y / 2
            if not y.sum() > 1:
                break
        return y if n else x, self.last(y)


def helper(x, *, n):
    return x - n


def model():
    return Root()
"""


def test_what_stays_python() -> None:
    """Loops, branches, and calls of what has any; all else is in pieces, which have none."""
    made = cut(CONTROL, [("Root", "run")])
    functions = {n.name: n for n in made.tree.body if isinstance(n, ast.FunctionDef)}
    assert made.pieces == tuple(functions)[2:]
    control = (ast.For, ast.While, ast.If, ast.IfExp)
    for name in made.pieces:
        assert not any(isinstance(n, control) for n in ast.walk(functions[name]))
    texts = {name: ast.unparse(functions[name]) for name in made.pieces}
    assert "x = leaf(x) + 1" in texts["forward_1"]
    assert sum("self.last(" in text for text in texts.values()) == 3
    assert not any("self.first(" in text for text in texts.values())


def test_pieces_do_what_the_whole_does() -> None:
    scopes: list[Any] = []
    for tree in (ast.parse(CONTROL), cut(CONTROL, [("Root", "run")]).tree):

        class Module:
            def __call__(self, x: Any) -> Any:
                return self.forward(x)

        space: dict[str, Any] = {}
        space["nn"] = type("nn", (), {"Module": Module, "ModuleList": list})
        exec(compile(tree, "control", "exec"), space)
        scopes.append(space["model"]())
    for start in (-4.0, 0.25, 7.0):
        for n in (0, 3):
            x = torch.tensor([start, 1.0])
            one, other = (root.run(x, n) for root in scopes)
            assert all(map(torch.equal, one, other))


# --- what is not asked for ---------------------------------------------------

APART = """
import sys, warnings
import numpy as np, torch
before = torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled(), np.geterr()
filters = list(warnings.filters)
from linnet import nest
model = nest.load(sys.argv[1], weights="random", progress=False, compile=True)
model.prefill(np.asarray([1, 2, 3], np.int64), 0)
model.decode([1], 3)
model.source()
after = torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled(), np.geterr()
assert before == after, (before, after)
assert filters == warnings.filters
print(*(m for m in ("torch._dynamo", "torch._inductor", "triton") if m in sys.modules))
"""


def test_generated_source_alone_loads_no_compiler_and_changes_no_setting(card: Path) -> None:
    """D3, with every warning an error."""
    command = [sys.executable, "-W", "error", "-c", APART, str(card)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_a_compiler_that_is_not_there_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    for compiler in (None, str(tmp_path / "c++")):
        if compiler is not None:
            monkeypatch.setenv("CXX", compiler)
        with pytest.raises(LinnetError) as caught:
            get_backend("torch").check(None, {"compile": "inductor"})
        (found,) = caught.value.diagnostics
        assert found.code == "E2190" and f"no C++ compiler `{compiler or 'g++'}`" in found.message
        assert found.help is not None and found.help.endswith("or use compile=True")
    get_backend("torch").check(None, {"compile": True})
