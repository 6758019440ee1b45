"""Functions, blocks, state and control flow in the interpreter."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from linnet.backends.base import RuntimeFault
from linnet.backends.interpret.liveness import deaths
from linnet.backends.numpy.interpreter import DISPATCH, Interpreter, run
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module, Value
from linnet.ir.passes.dce import dce
from linnet.ir.passes.inline import inline
from linnet.ir.types import Type

F32, I64, BOOL = Type(DType.F32), Type(DType.I64), Type(DType.BOOL)
TWO = Type(DType.F32, (Dim.of(2),))


def module(*functions: Function, symbols: tuple[Symbol, ...] = ()) -> Module:
    return Module(functions[0].name, symbols, {f.name: f for f in functions})


def layer() -> Function:
    """x * w, counting its calls in a state."""
    b = Builder()
    x = b.param(TWO, "x")
    w = b.emit("param", [], TWO, {"path": ("inner", "weight")})
    seen = b.emit("state_read", [], F32, {"path": ("seen",)})
    one = b.constant("1.0", DType.F32)
    b.emit_all("state_write", [b.emit("add", [seen, one], F32)], [], {"path": ("seen",)})
    return b.function("layer", None, [b.emit("mul", [x, w], TWO)])


def model(count: int) -> Module:
    b = Builder()
    x = b.param(TWO, "x")
    inner = b.nested()
    carried = inner.param(TWO)
    y = inner.emit("call", [carried], TWO, {"callee": "layer", "at": ("layers", "$layer", "a")})
    attrs = {"array": ("layers",), "count": Dim.of(count), "var": "layer"}
    out = b.emit("each", [x], TWO, attrs, [inner.region([y])])
    return module(b.function("forward", None, [out]), layer())


def test_each_runs_a_function_on_every_block_with_its_own_weights_and_state() -> None:
    weights = {f"layers.{i}.a.inner.weight": np.full(2, i + 2, np.float32) for i in range(3)}
    state = {f"layers.{i}.a.seen": np.zeros((), np.float32) for i in range(3)}
    ready = Interpreter.of(model(3))
    x = np.asarray([1, 10], np.float32)
    assert ready.run([x], weights=weights, state=state)[0].tolist() == [24, 240]
    assert ready.run([x], weights=weights, state=state)[0].tolist() == [24, 240]
    assert [s.item() for s in state.values()] == [2, 2, 2]
    assert x.tolist() == [1, 10]


def test_each_over_no_blocks_gives_what_it_got() -> None:
    assert run(model(0), [np.ones(2, np.float32)])[0].tolist() == [1, 1]


def test_a_weight_that_is_missing_or_of_another_shape_is_a_fault() -> None:
    x = np.ones(2, np.float32)
    with pytest.raises(RuntimeFault, match=r"no weight `layers\.0\.a\.inner\.weight`"):
        run(model(1), [x])
    wrong = {"layers.0.a.inner.weight": np.ones(3, np.float32)}
    with pytest.raises(RuntimeFault, match=r"float32\[3\], the program takes float32\[2\]"):
        run(model(1), [x], weights=wrong)


def test_state_reads_see_the_writes_before_them() -> None:
    b = Builder()
    x = b.param(F32)
    before = b.emit("state_read", [], F32, {"path": ("s",)})
    b.emit_all("state_write", [x], [], {"path": ("s",)})
    after = b.emit("state_read", [], F32, {"path": ("s",)})
    state: dict[str, Any] = {}
    found = run(module(b.function("f", None, [before, after])), [np.float32(5)], state=state)
    assert [f.item() for f in found] == [0, 5]
    assert state["s"].item() == 5


@pytest.mark.parametrize(("choice", "expected"), [(True, 3.0), (False, -3.0)])
def test_if(choice: bool, expected: float) -> None:
    b = Builder()
    c, x = b.param(BOOL), b.param(F32)
    yes, no = b.nested(), b.nested()
    regions = [yes.region([x]), no.region([no.emit("neg", [x], F32)])]
    y = b.emit("if", [c], F32, regions=regions)
    assert run(module(b.function("f", None, [y])), [np.bool_(choice), np.float32(3)])[0] == expected


def collatz() -> Module:
    """How many steps n takes to 1."""
    b = Builder()
    n = b.param(I64)
    zero, one, two, three = (b.constant(i, DType.I64) for i in (0, 1, 2, 3))
    head, body = b.nested(), b.nested()
    at, _ = head.param(I64), head.param(I64)
    go = head.region([head.emit("ne", [at, one], BOOL)])
    m, steps = body.param(I64), body.param(I64)
    even = body.emit("eq", [body.emit("rem", [m, two], I64), zero], BOOL)
    half, odd = body.nested(), body.nested()
    halved = half.region([half.emit("div", [m, two], I64)])
    grown = odd.emit("add", [odd.emit("mul", [m, three], I64), one], I64)
    after = body.emit("if", [even], I64, regions=[halved, odd.region([grown])])
    step = body.region([after, body.emit("add", [steps, one], I64)])
    _, count = b.emit_all("while", [n, zero], [I64, I64], regions=[go, step])
    return module(b.function("f", None, [count]))


@pytest.mark.parametrize(("n", "steps"), [(1, 0), (2, 1), (6, 8), (27, 111)])
def test_while(n: int, steps: int) -> None:
    assert run(collatz(), [np.int64(n)])[0].item() == steps


@pytest.mark.parametrize(("start", "stop", "total"), [(0, 4, 6), (2, 5, 9), (3, 3, 0), (4, 3, 0)])
def test_loop(start: int, stop: int, total: int) -> None:
    b = Builder()
    inner = b.nested()
    i, acc = inner.param(I64), inner.param(I64)
    region = inner.region([inner.emit("add", [acc, i], I64)])
    attrs = {"start": Dim.of(start), "stop": Dim.of(stop)}
    out = b.emit("loop", [b.constant(0, DType.I64)], I64, attrs, [region])
    assert run(module(b.function("f", None, [out])), [])[0].item() == total


def test_one_symbol_in_two_shapes_must_be_one_number() -> None:
    n = Symbol("N")
    kind = Type(DType.F32, (Dim.of(n),))
    b = Builder()
    x, y = b.param(kind), b.param(kind)
    m = module(b.function("f", None, [b.emit("add", [x, y], kind)]), symbols=(n,))
    ones = np.ones(3, np.float32)
    assert run(m, [ones, ones])[0].tolist() == [2, 2, 2]
    with pytest.raises(RuntimeFault, match="`N` is 3 here and 2 there"):
        run(m, [ones, ones[:2]])
    with pytest.raises(RuntimeFault, match="the entry takes"):
        run(m, [ones, ones.astype(np.float64)])


def test_symbols_may_be_given() -> None:
    n = Symbol("N")
    b = Builder()
    made = b.emit("iota", [], Type(DType.I32, (Dim.of(n) + 1,)))
    m = module(b.function("f", None, [made]), symbols=(n,))
    assert run(m, [], symbols={n: 2})[0].tolist() == [0, 1, 2]
    with pytest.raises(RuntimeFault, match=r"`N \+ 1` has no value"):
        run(m, [])


def test_a_fault_names_the_innermost_place() -> None:
    b = Builder()
    x, at = b.param(TWO), b.param(I64)
    found = b.emit("index", [x, at], F32, {"axes": (0,)}, place="a.linnet:3")
    inner = b.function("inner", None, [found])
    o = Builder()
    y, to = o.param(TWO), o.param(I64)
    called = o.emit("call", [y, to], F32, {"callee": "inner", "at": ()}, place="a.linnet:9")
    with pytest.raises(RuntimeFault) as caught:
        run(module(o.function("f", None, [called]), inner), [np.ones(2, np.float32), np.int64(2)])
    assert caught.value.place == "a.linnet:3"
    assert caught.value.message == "index 2 is out of range for axis 0 of 2 elements"


def test_a_value_dies_after_its_last_use(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[int] = []
    made: list[weakref.ref[Any]] = []

    def probe(frame: Any, op: Any, args: list[Any]) -> list[Any]:
        result = np.asarray(args[0] + 1)
        args.clear()
        gc.collect()
        made.append(weakref.ref(result))
        alive.append(sum(r() is not None for r in made))
        return [result]

    monkeypatch.setitem(DISPATCH, "neg", probe)
    b = Builder()
    x: Value = b.param(TWO)
    for _ in range(5):
        x = b.emit("neg", [x], TWO)
    assert run(module(b.function("f", None, [x])), [np.zeros(2, np.float32)])[0].tolist() == [5, 5]
    assert max(alive) <= 2


def test_what_a_loop_reads_from_outside_lives_through_it() -> None:
    b = Builder()
    x = b.param(I64)
    y = b.emit("add", [x, x], I64)
    inner = b.nested()
    _, acc = inner.param(I64), inner.param(I64)
    region = inner.region([inner.emit("add", [acc, y], I64)])
    out = b.emit("loop", [x], I64, {"start": Dim.of(0), "stop": Dim.of(3)}, [region])
    m = module(b.function("f", None, [out]))
    assert run(m, [np.int64(1)])[0].item() == 7
    body = m.functions["f"].body
    found = deaths(m)
    assert found[id(body)][1].after == (y.id,)
    assert found[id(region.body)][0].before == (acc.id,)


def test_long_chains_of_calls() -> None:
    b = Builder()
    x = b.param(I64)
    functions = [b.function("f0", None, [x])]
    for k in range(1, 5000):
        b = Builder()
        y = b.emit("call", [b.param(I64)], I64, {"callee": f"f{k - 1}", "at": ()})
        functions.append(b.function(f"f{k}", None, [y]))
    whole = module(functions[-1], *functions[:-1])
    assert run(whole, [np.int64(7)])[0] == 7
    assert run(dce(inline(whole, lambda _: True)), [np.int64(7)])[0] == 7
