from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linnet.backends.numpy.interpreter import run
from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module
from linnet.ir.library import LibraryOp
from linnet.ir.passes.dce import dce
from linnet.ir.passes.inline import inline
from linnet.ir.types import Type
from linnet.ir.verify import verify
from linnet.ir.walk import operations
from tests.ir.programs import Weights, modules

X = Type(DType.F32, (Dim.of(2),))


def scale() -> Function:
    """x * w, counting its calls in `n`."""
    b = Builder()
    x = b.param(X)
    n = b.emit("state_read", [], X, {"path": ("n",)})
    w = b.emit("param", [], X, {"path": ("w",)})
    b.emit_all("state_write", [b.emit("add", [n, w], X)], [], {"path": ("n",)})
    return b.function("scale", None, [b.emit("mul", [x, w], X)])


def layers(name: str, callee: str, at: tuple[str, ...]) -> Function:
    """`callee` on each of two blocks."""
    b = Builder()
    x = b.param(X)
    inner = b.nested()
    carried = inner.param(X)
    y = inner.emit("call", [carried], X, {"callee": callee, "at": ("layers", "$layer", *at)})
    attrs: dict[str, Any] = {"array": ("layers",), "count": Dim.of(2), "var": "layer"}
    results = [b.emit("each", [x], X, attrs, [inner.region([y])])]
    op = LibraryOp("std::op", (), (("x", 0),)) if name == "middle" else None
    return b.function(name, op, results)


def module() -> Module:
    functions = [layers("main", "middle", ("own",)), layers("middle", "scale", ()), scale()]
    return Module("main", (), {f.name: f for f in functions})


def results(module: Module) -> tuple[list[float], dict[str, Any]]:
    paths = [f"layers.{i}.own.layers.{j}" for i in range(2) for j in range(2)]
    weights = {f"{p}.w": np.array([2.0 + k, 1.0], np.float32) for k, p in enumerate(paths)}
    state: dict[str, Any] = {}
    (y,) = run(module, [np.array([1.0, 5.0], np.float32)], weights=weights, state=state)
    return y.tolist(), {k: v.tolist() for k, v in state.items()}


def callees(module: Module) -> set[str]:
    ops = [op for f in module.functions.values() for op in operations(f.body)]
    return {op.attrs["callee"] for op in ops if op.name == "call"}


def outcome(module: Module, args: list[Any]) -> tuple[list[bytes], dict[str, bytes]]:
    """The bits of the results, and of the state afterwards."""
    state: dict[str, Any] = {}
    results = run(module, args, weights=Weights(), state=state)
    return [r.tobytes() for r in results], {k: v.tobytes() for k, v in state.items()}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(modules(), st.sets(st.sampled_from(["f0", "f1", "f2", "f3"])))
def test_inlining_keeps_every_bit(whole: Module, chosen: set[str]) -> None:
    verify(whole)
    args = [np.array(v, np.float32) for v in ([0.5, -1.25], [3, 0.1])]
    args = args[: len(whole.functions["main"].params)]
    wanted = outcome(whole, args)
    flat = inline(whole, lambda f: f.name in chosen)
    for version in (flat, dce(flat)):
        verify(version)
        assert not callees(version) & chosen
        assert outcome(version, args) == wanted


def test_everything() -> None:
    whole = module()
    verify(whole)
    flat = dce(inline(whole, lambda f: True))
    verify(flat)
    assert set(flat.functions) == {"main"}
    assert callees(flat) == set()
    eaches = [op for op in operations(flat.functions["main"].body) if op.name == "each"]
    assert [op.attrs["var"] for op in eaches] == ["layer", "layer_"]
    assert eaches[1].attrs["array"] == ("layers", "$layer", "own", "layers")
    assert results(flat) == results(whole)
    assert results(flat)[0] == [2.0 * 3 * 4 * 5, 5.0]
    assert len(results(flat)[1]) == 4


def test_only_what_is_chosen() -> None:
    partly = inline(module(), lambda f: f.op is None)
    verify(partly)
    assert callees(partly) == {"middle"}
    assert results(partly) == results(module())
    assert set(partly.functions) == {"main", "middle", "scale"}


def test_nothing_chosen_changes_nothing() -> None:
    whole = module()
    kept = inline(whole, lambda f: False)
    assert all(kept.functions[n] is f for n, f in whole.functions.items())


def test_a_function_called_twice_has_fresh_values() -> None:
    b = Builder()
    x = b.param(X)
    for _ in range(2):
        x = b.emit("call", [x], X, {"callee": "scale", "at": ("sub",)})
    both = Module("main", (), {"main": b.function("main", None, [x]), "scale": scale()})
    flat = dce(inline(both, lambda f: f.name == "scale"))
    verify(flat)
    names = [op.name for op in flat.functions["main"].body]
    assert names == ["state_read", "param", "add", "state_write", "mul"] * 2
