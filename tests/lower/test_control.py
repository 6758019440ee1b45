"""Statements: variables, loops and state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linnet.backends.numpy.interpreter import run
from linnet.source.errors import LinnetError
from tests.lower.lowering import names, nested, operations, source

F32 = np.float32


def test_while_carries_what_it_assigns(tmp_path: Path) -> None:
    text = """
fn f(n: i32) -> (i32, i32) {
    var a: i32 = 0
    var b: i32 = 1
    var k: i32 = 0
    let step = 1
    while k < n {
        let next = a + b
        a = b
        b = next
        k = k + cast<i32>(step)
    }
    return (a, k)
}
"""
    made = source(tmp_path, text)
    assert [int(r) for r in made.call("f", np.int32(10))] == [55, 10]
    assert [int(r) for r in made.call("f", np.int32(0))] == [0, 0]
    (loop,) = (o for o in operations(made.function("f")) if o.name == "while")
    assert [v.hint for v in loop.results] == ["a", "b", "k"]


def test_static_for_over_a_range_is_a_loop(tmp_path: Path) -> None:
    text = """
fn f<N: Dim>(x: Tensor[N; f32]) -> f32 {
    var total: f32 = 0.0
    static for i in 0..N { total = total * 2.0 + x[i] * cast<f32>(i) }
    return total
}
"""
    made = source(tmp_path, text)
    x = np.array([3, 4, 5, 6], F32)
    assert float(made.call("f", x, N=4)[0]) == 4 * 4 + 10 * 2 + 18
    assert float(run(made.function("f"), [x])[0]) == 54
    sizes = [len(operations(made.function("f", {"N": n}))) for n in (2, 2000)]
    assert sizes[0] == sizes[1]


def test_loops_in_loops_carry_through(tmp_path: Path) -> None:
    text = """
fn f() -> i64 {
    var total = 0
    static for i in 0..3 {
        var row = 0
        static for j in 1..4 { row = row + i * j
            total = total + 1 }
        total = total + row * 100
    }
    return total
}
"""
    assert int(source(tmp_path, text).call("f")[0]) == 9 + 100 * 6 * 3


def test_tuples_and_enums_are_carried(tmp_path: Path) -> None:
    text = """
enum Turn { Left, Right }
fn f(n: i64) -> i64 {
    var turn = Turn.Left
    var pair = (1, 10)
    var k = 0
    while k < n {
        let (a, b) = pair
        pair = match turn { Left => (a + 1, b)  Right => (a, b * 2) }
        turn = match turn { Left => Turn.Right  Right => Turn.Left }
        k = k + 1
    }
    let (a, b) = pair
    return a * 1000 + b
}
"""
    made = source(tmp_path, text)
    assert [int(made.call("f", np.int64(n))[0]) for n in range(5)] == [1010, 2010, 2020, 3020, 3040]


BLOCKS = """
block Cell<N: Dim, T: Float> {
    param scale: Tensor[N; T]
    param shift: Tensor[N; T]? = none
    state seen: Tensor[N; T]
    pub fn step(x: Tensor[N; T]) -> Tensor[N; T] {
        seen = seen + x
        let y = seen * scale
        return match shift { some(s) => y + s  none => y }
    }
    pub fn peek() -> Tensor[N; T] { return seen }
}
block Stack<N: Dim, Depth: Dim, T: Float> {
    sub cells: [Cell<N, T>; Depth]
    pub fn run(x: Tensor[N; T]) -> Tensor[N; T] {
        var h = x
        static for cell in cells { h = cell.step(h) }
        return h
    }
}
block Model<N: Dim, Depth: Dim, Stacks: Dim, T: Float = f32> {
    sub stacks: [Stack<N, Depth, T>; Stacks]
    sub last: Cell<N, T>
    state count: i32
    pub entry forward(x: Tensor[N; T]) -> Tensor[N; T] {
        count = count + 1
        var h = x
        static for stack in stacks { h = stack.run(h) }
        return last.step(h) + last.peek() * cast<T>(count)
    }
}
"""
NUMBERS = {"N": 2, "Depth": 2, "Stacks": 3}
CELLS = [f"stacks.{i}.cells.{j}" for i in range(3) for j in range(2)]


def reference(xs: list[np.ndarray], shifted: bool) -> list[np.ndarray]:
    seen = {p: np.zeros(2, F32) for p in [*CELLS, "last"]}
    out: list[np.ndarray] = []
    for n, h in enumerate(xs):
        for k, path in enumerate([*CELLS, "last"]):
            seen[path] = seen[path] + h
            h = seen[path] * (k + 1) + (k if shifted and path != "last" else 0)
        out.append(h + seen["last"] * (n + 1))
    return out


@pytest.mark.parametrize("shifted", [True, False])
def test_blocks_with_state(tmp_path: Path, shifted: bool) -> None:
    module = source(tmp_path, BLOCKS).entry(
        "Model", "forward", NUMBERS,
        absent=["last.shift", *([] if shifted else [f"{p}.shift" for p in CELLS])],
    )  # fmt: skip
    weights = {f"{p}.scale": np.full(2, k + 1, F32) for k, p in enumerate([*CELLS, "last"])}
    weights |= {f"{p}.shift": np.full(2, k, F32) for k, p in enumerate(CELLS)}
    state = {f"{p}.seen": np.zeros(2, F32) for p in [*CELLS, "last"]}
    state["count"] = np.int32(0)  # pyright: ignore
    xs = [np.array([1, 2], F32), np.array([-1, 0.5], F32)]
    got = [run(module, [x], weights=weights, state=state)[0] for x in xs]
    for mine, wanted in zip(got, reference(xs, shifted), strict=True):
        np.testing.assert_array_equal(mine, wanted.astype(F32))
    # A cell with a shift and one without are two functions, however many cells there are.
    steps = [n for n in module.functions if n.startswith("m::Cell.step")]
    assert len(steps) == (2 if shifted else 1)


def test_the_ir_does_not_grow_with_the_length_of_an_array(tmp_path: Path) -> None:
    made = source(tmp_path, BLOCKS)
    sizes = [
        len(operations(made.entry("Model", "forward", {"N": 2, "Depth": d, "Stacks": s})))
        for d, s in ((1, 1), (7, 24))
    ]
    assert sizes[0] == sizes[1]


def test_paths_are_relative_to_the_block(tmp_path: Path) -> None:
    module = source(tmp_path, BLOCKS).entry("Model", "forward", NUMBERS)
    calls = [
        (function.name, op.attrs["at"])
        for function in module.functions.values()
        for op in nested(function.body)
        if op.name == "call"
    ]
    assert calls == [
        ("m::Model.forward", ("stacks", "$stack")),
        ("m::Model.forward", ("last",)),
        ("m::Model.forward", ("last",)),
        ("m::Stack.run", ("cells", "$cell")),
    ]
    assert [o.attrs["path"] for o in operations(module) if o.name == "param"] == [
        ("scale",),
        ("shift",),
    ]


def test_elements_of_an_array_must_have_the_same_optionals(tmp_path: Path) -> None:
    with pytest.raises(LinnetError) as caught:
        source(tmp_path, BLOCKS).entry(
            "Model", "forward", NUMBERS, absent=["stacks.1.cells.0.shift"]
        )
    (finding,) = caught.value.diagnostics
    assert finding.code == "E5002"
    assert "`stacks.0.cells.0.shift`" in finding.message
    assert "`stacks.1.cells.0.shift`" in finding.message


def test_a_model_may_stay_open(tmp_path: Path) -> None:
    module = source(tmp_path, BLOCKS).entry("Model", "forward")
    assert [s.name for s in module.symbols] == ["N", "Depth", "Stacks"]
    (outer, inner) = (o for o in operations(module) if o.name == "each")
    assert [str(o.attrs["count"]) for o in (outer, inner)] == ["Stacks", "Depth"]


def test_state_is_read_where_it_is_named(tmp_path: Path) -> None:
    module = source(tmp_path, BLOCKS).entry("Model", "forward", NUMBERS)
    step = [o.name for o in module.functions["m::Cell.step"].body]
    assert step == [
        "param",
        "param",
        "state_read",
        "add",
        "state_write",
        "state_read",
        "mul",
        "add",
    ]
    assert names(module).count("state_write") == 2
