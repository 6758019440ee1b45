"""A backend with one kernel, as docs/contributing.md says how to add it: chosen by a generic and
by a present optional of the op, else refused with the reason, and shown by `linnet explain`."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet.backends.base import CallSite, Compiled, Decision, Kernel, Runtime, Tier, decide
from linnet.backends.numpy.interpreter import run
from linnet.cli.main import main
from linnet.dims.dims import Dim
from linnet.ir.core import Module
from linnet.ir.library import Known
from linnet.lower.module import lower_entry
from linnet.pipeline import check_paths

SOURCE = """module m

pub enum Rounding { Down, Up }

pub op scaled<K: Dim, N: Dim, T: Float>(
    x: Tensor[N; T],
    m: T? = none,
    n: T? = none,
    how: Rounding = Rounding.Down,
) -> Tensor[N; T] {
    let factor = match m { some(v) => v  none => match n { some(v) => v  none => cast<T>(K) } }
    return x * factor
}

pub block Model {
    pub entry both<N: Dim>(x: Tensor[N; f32], y: f32) -> Tensor[N; f32] {
        let a = scaled<2>(x, m = some(y))
        let b = scaled<3>(a, m = some(y))
        let c = scaled<2>(b, n = some(y))
        return scaled<2>(c, how = Rounding.Up)
    }
}
"""


def twice_or_once(site: CallSite) -> str | None:
    """Made for an even `K` and a factor in `m`."""
    factor = site.generic("K")
    if factor != Dim.of(2):
        return f"`K` is {factor}, not 2"
    return None if site.present("m") else "`m` is not given"


def emit(site: CallSite, operands: Sequence[Any]) -> Sequence[Any]:
    return [site.pick("x", operands) * site.pick("m", operands)]


KERNEL = Kernel("m::scaled", "test.scaled", "exact", twice_or_once, emit)


@dataclass(frozen=True, slots=True)
class Backend:
    """What `linnet explain` asks of one."""

    name: str = "test"
    kernels: Sequence[Kernel] = (KERNEL,)
    kinds: Sequence[str] = ("cpu",)

    def check(self, device: str | None, options: Mapping[str, Any]) -> None:
        pass

    def load(
        self, compiled: Compiled, *, numerics: Tier, device: str | None, **options: Any
    ) -> Runtime:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Offered:
    """An entry point that offers it."""

    name: str = "test"

    def load(self) -> type[Backend]:
        return Backend


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "m.linnet"
    path.write_text(SOURCE, "utf-8")
    return path


def decisions(source: Path) -> tuple[Module, list[Decision]]:
    result = check_paths([source])
    assert not list(result.sink)
    module = lower_entry(result.program, "m::Model", {}, "both", lambda _: True)
    return module, decide(module, [KERNEL], "exact")


def test_it_is_chosen_by_generics_and_by_optionals(source: Path) -> None:
    _, found = decisions(source)
    assert [(d.chosen, [c.reason for c in d.considered]) for d in found] == [
        ("test.scaled", []),
        ("body", ["`K` is 3, not 2"]),
        ("body", ["`m` is not given"]),
        ("body", ["`m` is not given"]),
    ]
    # Two calls of one type, and each decision is about a function of the module of its own.
    assert [d.site.callee for d in found] == [f"m::scaled{n}" for n in ("", ".2", ".3", ".4")]
    assert found[0].site.operands == found[2].site.operands


def test_a_call_site_answers_by_the_names_of_the_op(source: Path) -> None:
    module, found = decisions(source)
    first, _, third, last = (d.site for d in found)
    assert first.generic("N") == Dim.of(module.symbols[0])
    assert [s.present("n") for s in (first, third, last)] == [False, True, False]
    assert (first.pick("m", "ab"), third.pick("m", "ab"), third.pick("n", "ab")) == ("b", None, "b")
    assert (str(first.type("x")), str(first.type("m"))) == ("tensor[N; f32]", "f32")
    assert last.type("m") is None
    assert (last.argument("how"), last.variant("how")) == (Known("Up"), "Up")
    assert (first.variant("how"), first.variant("x")) == ("Down", None)
    with pytest.raises(LookupError, match="`k` is no generic of `m::scaled`; there is K, N, T"):
        first.generic("k")
    with pytest.raises(LookupError, match="`y` is no parameter of `m::scaled`; there is x, m, n"):
        first.present("y")
    with pytest.raises(LookupError, match=r"`first` is no part in `x\.first`"):
        first.type("x.first")


@pytest.mark.parametrize("size", [0, 1, 7])
def test_it_does_as_the_body_does(source: Path, size: int) -> None:
    module, (chosen, *_) = decisions(source)
    assert chosen.kernel is not None
    operands = [np.arange(size, dtype=np.float32) / 3, np.float32(1.7)]
    body = run(replace(module, entry=chosen.site.callee), operands)
    for mine, want in zip(chosen.kernel.emit(chosen.site, operands), body, strict=True):
        assert np.array_equal(mine, want)


def test_explain_shows_it_taken_and_refused(
    source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Offered()])
    assert main(["explain", str(source), "--backend", "test", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["entries"]
    shown = {op["chosen"]: op for op in entry["ops"]}
    assert shown["test.scaled"]["tier"] == "exact"
    (call,) = shown["test.scaled"]["calls"]
    assert (call["generics"], call["params"]) == (
        {"K": "2", "N": "N", "T": "f32"},
        {"x": "tensor[N; f32]", "m": "f32", "n": "none", "how": "Down"},
    )
    reasons = [c["reason"] for c in shown["body"]["considered"]]
    assert reasons == ["`K` is 3, not 2", "`m` is not given"]
    assert main(["explain", str(source), "--backend", "test"]) == 0
    text = capsys.readouterr().out
    assert "  m::scaled  x1  test.scaled (exact): the first that applies\n" in text
    assert "      not test.scaled: `K` is 3, not 2\n" in text
    assert (
        f"x1 in Model.both ({source}:17): K = 2, N = N, T = f32, n = none, how = Down"
        in " ".join(text.split())
    )
