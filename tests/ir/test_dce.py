from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from linnet.backends.base import RuntimeFault
from linnet.backends.numpy.interpreter import run
from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Module, Value
from linnet.ir.passes.dce import dce, writing_functions
from linnet.ir.passes.vectorize import vectorize
from linnet.ir.types import Type
from linnet.ir.verify import verify
from tests.ir.generate import Case, cases
from tests.ir.oracle import assert_same
from tests.ir.samples import everything

X = Type(DType.F32, (Dim.of(2),))


def names(module: Module, function: str = "main") -> list[str]:
    verify(module)
    return [op.name for op in module.functions[function].body]


def main(b: Builder, *results: Value) -> Module:
    return Module("main", (), {"main": b.function("main", None, results)})


def write(b: Builder, x: Value) -> None:
    b.emit_all("state_write", [x], [], {"path": ("s",)})


def test_unused_chains_go() -> None:
    b = Builder()
    x = b.param(X)
    b.emit("neg", [b.emit("exp", [x], X)], X)
    module = dce(main(b, b.emit("abs", [x], X)))
    assert names(module) == ["abs"]
    assert dce(module) is module


def test_state_writes_and_what_they_need_stay() -> None:
    b = Builder()
    x = b.param(X)
    b.emit("state_read", [], X, {"path": ("s",)})
    write(b, b.emit("exp", [x], X))
    assert names(dce(main(b, x))) == ["exp", "state_write"]


def test_loop_that_writes_stays_and_is_cleaned() -> None:
    b = Builder()
    x = b.param(X)
    bounds: dict[str, Any] = {"start": Dim.of(0), "stop": Dim.of(3)}
    used = b.emit("exp", [x], X)
    for writing in (True, False):
        inner = b.nested()
        inner.param(Type(DType.I64))
        carried = inner.param(X)
        inner.emit("tanh", [carried], X)
        if writing:
            write(inner, used)
        b.emit("loop", [x], X, bounds, [inner.region([carried])])
    module = dce(main(b, x))
    assert names(module) == ["exp", "loop"]
    (region,) = module.functions["main"].body[1].regions
    assert [op.name for op in region.body] == ["state_write"]


def test_calls_stay_if_the_callee_writes_somewhere() -> None:
    leaf = Builder()
    write(leaf, leaf.param(X))
    middle = Builder()
    m = middle.param(X)
    middle.emit_all("call", [m], [], {"callee": "leaf", "at": ()})
    pure = Builder()
    p = pure.param(X)
    b = Builder()
    x = b.param(X)
    b.emit_all("call", [x], [], {"callee": "middle", "at": ("sub",)})
    b.emit("call", [x], X, {"callee": "pure", "at": ()})
    functions = [
        b.function("main", None, [x]),
        middle.function("middle", None, []),
        leaf.function("leaf", None, []),
        pure.function("pure", None, [p]),
    ]
    module = Module("main", (), {f.name: f for f in functions})
    assert writing_functions(module) == {"main", "middle", "leaf"}
    cleaned = dce(module)
    assert names(cleaned) == ["call"]
    assert set(cleaned.functions) == {"main", "middle", "leaf"}


def test_sample_stays_well_formed() -> None:
    module = dce(everything())
    verify(module)
    assert set(module.functions) == {"structure", "sums"}
    assert [op.name for op in module.functions["sums"].body] == ["indexed"]


@settings(max_examples=50, deadline=None)
@given(cases())
def test_results_are_unchanged(case: Case) -> None:
    plain = vectorize(case.module)
    cleaned = dce(plain)
    verify(cleaned)
    try:
        (wanted,) = run(plain, case.args, symbols=case.symbols)
    except RuntimeFault:
        return
    (found,) = run(cleaned, case.args, symbols=case.symbols)
    assert_same(found, wanted)
