"""How kernels are chosen, and what the registry answers."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import pytest

from linnet.backends import registry
from linnet.backends.base import (
    TIERS,
    CallSite,
    Kernel,
    backend_names,
    call_sites,
    check_numerics,
    decide,
    get_backend,
    select,
)
from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Module, Region
from linnet.ir.library import LibraryOp
from linnet.ir.types import Type
from linnet.source.errors import LinnetError

X = Type(DType.F32, (Dim.of(2),))
RMS_NORM = LibraryOp("std.nn.norm::rms_norm", (("T", DType.F32),), (("x", 0),))
SITE = CallSite(RMS_NORM, RMS_NORM.name, "m::f", (X,), (X,), "a.linnet:3", 1)


def kernel(name: str, tier: Any, refuses: str | None = None, op: str = SITE.op) -> Kernel:
    return Kernel(op, name, tier, lambda site: refuses, lambda site, operands: operands)


@pytest.mark.parametrize(
    ("numerics", "chosen"),
    [("exact", "body"), ("equivalent", "careful"), ("fast", "quick"), ("approximate", "rough")],
)
def test_a_policy_allows_its_tier_and_the_stricter_ones(numerics: Any, chosen: str) -> None:
    kernels = [kernel("rough", "approximate"), kernel("quick", "fast")]
    kernels.append(kernel("careful", "equivalent"))
    assert select(kernels, SITE, numerics).chosen == chosen


def test_the_first_kernel_that_applies_is_taken_and_the_refused_keep_their_reasons() -> None:
    kernels = [
        kernel("other", "exact", op="std.nn.softmax::softmax"),
        kernel("rough", "approximate"),
        kernel("cuda", "exact", "the device is cpu"),
        kernel("first", "exact"),
        kernel("second", "exact"),
    ]
    decision = select(kernels, SITE, "fast")
    assert decision.chosen == "first"
    assert decision.reason == "the first that applies"
    assert [(c.kernel.name, c.reason) for c in decision.considered] == [
        ("rough", "its numerics are `approximate`, `fast` was asked for"),
        ("cuda", "the device is cpu"),
    ]


def test_without_a_kernel_it_is_the_body() -> None:
    decision = select([], SITE, "approximate")
    assert (decision.kernel, decision.chosen) == (None, "body")
    assert decision.reason == "the backend has no kernel for it"
    refused = select([kernel("cuda", "exact", "no device")], SITE, "fast")
    assert (refused.chosen, refused.reason) == ("body", "no kernel applies")


def test_numpy_has_no_kernels() -> None:
    assert list(get_backend("numpy").kernels) == []


def calling(*callees: str, array: int | None = None) -> tuple[Any, Any]:
    """A body that calls each of `callees`, inside an `each` over `array` blocks if asked for."""
    b = Builder()
    x = b.param(X)
    inner = b if array is None else b.nested()
    value = x if array is None else inner.param(X)
    for number, callee in enumerate(callees):
        attrs = {"callee": callee, "at": ()}
        value = inner.emit("call", [value], X, attrs, place=f"a.linnet:{number}")
    if array is not None:
        attrs = {"array": ("layers",), "count": Dim.of(array), "var": "layer"}
        region: Region = inner.region([value])
        value = b.emit("each", [x], X, attrs, [region])
    return b, value


def test_calls_are_counted_through_functions_and_loops() -> None:
    layer, layer_result = calling("op", "op")
    model, model_result = calling("layer", array=24)
    head, head_result = calling("model", "op")
    leaf = Builder()
    functions = [
        head.function("head", None, [head_result]),
        model.function("model", None, [model_result]),
        layer.function("layer", None, [layer_result]),
        leaf.function("op", LibraryOp("std.x::op", (), (("x", 0),)), [leaf.param(X)]),
    ]
    module = Module("head", (), {f.name: f for f in functions})
    found = [(s.op, s.caller, s.place, s.count) for s in call_sites(module)]
    assert found == [
        ("std.x::op", "layer", "a.linnet:0", 24),
        ("std.x::op", "layer", "a.linnet:1", 24),
        ("std.x::op", "head", "a.linnet:1", 1),
    ]
    seen: list[CallSite] = []
    probe = Kernel("std.x::op", "k", "exact", seen.append, lambda site, operands: operands)
    assert [d.chosen for d in decide(module, [probe], "exact", "cuda")] == ["k"] * 3
    assert {(s.device, s.operands, s.results) for s in seen} == {("cuda", (X,), (X,))}


def test_paths_of_calls_are_not_walked_one_by_one() -> None:
    functions = [Builder().function("f0", LibraryOp("std.x::op"), [])]
    for k in range(1, 60):
        b = Builder()
        for _ in range(2):
            b.emit_all("call", [], [], {"callee": f"f{k - 1}", "at": ()})
        functions.append(b.function(f"f{k}", None, []))
    module = Module("f59", (), {f.name: f for f in functions})
    assert [s.count for s in call_sites(module)] == [2**58, 2**58]


def test_policies() -> None:
    assert [check_numerics(t) for t in TIERS] == list(TIERS)
    with pytest.raises(LinnetError, match="no numerics policy `loose`"):
        check_numerics("loose")


def test_unknown_backend() -> None:
    with pytest.raises(LinnetError, match="there is no backend `mxnet`") as caught:
        get_backend("mxnet")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.help is not None and "`numpy`, `torch`, `jax`" in diagnostic.help


@pytest.mark.parametrize(("name", "extra"), [("torch", "linnet[torch]"), ("jax", "linnet[jax]")])
def test_a_backend_that_is_not_installed_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, name: str, extra: str
) -> None:
    here = object()
    monkeypatch.setattr(registry, "find_spec", lambda module: here if "." in module else None)
    with pytest.raises(LinnetError) as caught:
        get_backend(name)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E2190"
    assert diagnostic.help == f'install it with: pip install "{extra}"'


def test_nothing_is_to_be_installed_for_a_backend_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda module: None)
    with pytest.raises(LinnetError) as caught:
        get_backend("torch")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.help == 'use backend="numpy"'


def test_a_third_party_backend_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Found:
        name = "other"

        @staticmethod
        def load() -> Any:
            return lambda: "the backend"

    def entry_points(group: str) -> list[Any]:
        return [Found] if group == "linnet.backends" else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert get_backend("other") == "the backend"
    assert backend_names() == ("numpy", "torch", "jax", "other")
