"""Positions below zero, by whatever road they come to be, on each backend."""

from __future__ import annotations

import numpy as np
import pytest

from linnet.backends.contract import RuntimeFault
from linnet.backends.numpy.dtypes import NUMPY
from linnet.dtypes import DType
from tests.backends.each import BACKENDS, load
from tests.stdlib.conftest import Array, compiled, source_of

ROADS = {
    "given": "i = t",
    "moved": "i = concat(t[2:3], t[0:2], axis = 0)",
    "computed": "i[m] = t[m] - 1 + 1",
    "chosen": "i[m] = if t[m] < 3 { t[m] } else { 0 }",
    "the least": "i[m] = min(t[m], 1)",
    "looked up": "i[m] = t[t[m] - t[m] + 1]",
    "cast": "i[m] = cast<i64>(cast<i32>(t[m]))",
    "of fewer bits": "i[m] = cast<i64>(cast<i8>(t[m] + 256))",
    "unsigned": "i[m] = cast<i64>(cast<u64>(t[m]))",
    "from a function": "i = same(t)",
}


def source(road: str) -> str:
    return (
        "module probe\n\n"
        "fn same(t: Tensor[3; i64]) -> Tensor[3; i64] {\n    return t\n}\n\n"
        "fn pick(x: Tensor[4; f32], t: Tensor[3; i64]) -> Tensor[3; f32] {\n"
        f"    let {road}\n    let y[m] = x[i[m]]\n    return y\n}}\n\n"
        "pub entry probe(x: Tensor[4; f32], t: Tensor[3; i64]) -> Tensor[3; f32] {\n"
        "    return pick(x, t)\n}\n"
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("road", ROADS.values(), ids=ROADS)
def test_a_position_below_zero_is_named(road: str, backend: str) -> None:
    runtime = load(backend, compiled(source(road)))
    x = np.arange(4, dtype=np.float32)
    runtime.call("probe", [x, np.array([0, 1, 2])])
    with pytest.raises(RuntimeFault, match="index -2 is out of range for axis 0 of 4 elements"):
        runtime.call("probe", [x, np.array([0, -2, 2])])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bad", [-3, 4, 2**30])
def test_a_row_that_an_embedding_has_not_is_named(bad: int, backend: str) -> None:
    ids, table = np.array([1, bad], np.int32), np.zeros((4, 3), np.float32)
    inputs: dict[str, Array | np.generic] = {"ids": ids, "table": table}
    use, call = "std.nn.embedding::{embedding}", "embedding(ids, table)"
    runtime = load(backend, compiled(source_of(use, call, "Tensor[2, 3; f32]", inputs)))
    with pytest.raises(RuntimeFault, match=f"index {bad} is out of range for axis 0 of 4 elements"):
        runtime.call("probe", [ids, table])


NUMBERS = {
    "of fewer elements": "cast<i64>(N - M)",
    "of fewer elements in i32": "cast<i32>(N - M)",
    "given": "same(-2)",
    "given to a function that reads": "cast<i64>(-2)",
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_a_number_below_zero_is_no_position(number: str, backend: str) -> None:
    """What generated source has as an integer of Python."""
    text = (
        "module probe\n\n"
        "fn same(t: i64) -> i64 {\n    return t\n}\n\n"
        "fn pick<N: Dim, T: Integer>(x: Tensor[N; f32], at: T) -> f32 {\n"
        "    return x[cast<i64>(at)]\n}\n\n"
        "pub entry probe<N: Dim, M: Dim>(x: Tensor[N; f32], y: Tensor[M; f32]) -> f32 {\n"
        f"    return pick(x, {number}) + x[{number}]\n}}\n"
    )
    runtime = load(backend, compiled(text))
    with pytest.raises(RuntimeFault, match="index -2 is out of range for axis 0 of 4 elements"):
        runtime.call("probe", [np.zeros(4, np.float32), np.zeros(6, np.float32)])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loop_may_count_from_below_zero(backend: str) -> None:
    text = (
        "module probe\n\n"
        "pub entry probe<N: Dim, M: Dim>(x: Tensor[N; f32], y: Tensor[M; f32]) -> f32 {\n"
        "    var total: f32 = 0.0\n"
        "    static for i in N - M..N {\n        total = total + x[cast<i64>(i)]\n    }\n"
        "    return total\n}\n"
    )
    runtime = load(backend, compiled(text))
    x = np.arange(4, dtype=np.float32)
    (found,) = runtime.call("probe", [x, np.zeros(3, np.float32)])
    assert float(found) == 1 + 2 + 3
    with pytest.raises(RuntimeFault, match="index -2 is out of range for axis 0 of 4 elements"):
        runtime.call("probe", [x, np.zeros(6, np.float32)])


WRAPPED = {
    "a sum of i8": ("i8", 127, "p[m] + p[m]", -2),
    "a sum of i64": ("i64", 2**63 - 1, "p[m] + p[m]", -2),
    "a product": ("i16", 2**14, "p[m] * 3", -(2**14)),
    "a cast": ("i64", 254, "cast<i8>(p[m])", -2),
    "a cast of an unsigned number": ("u8", 254, "cast<i8>(p[m])", -2),
    "of which a part is chosen": ("i8", 127, "min(p[m] + p[m], p[m])", -2),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("dtype", "given", "made", "wanted"), WRAPPED.values(), ids=WRAPPED)
def test_a_number_that_wraps_is_no_position(
    dtype: str, given: int, made: str, wanted: int, backend: str
) -> None:
    """None of what they are made of is negative."""
    text = (
        "module probe\n\n"
        f"pub entry probe(x: Tensor[4; f32], t: Tensor[1; {dtype}]) -> Tensor[1; f32] {{\n"
        f"    let p = max(t, 0)\n    let y[m] = x[cast<i64>({made})]\n    return y\n}}\n"
    )
    runtime = load(backend, compiled(text))
    x = np.zeros(4, np.float32)
    with pytest.raises(RuntimeFault, match=f"index {wanted} is out of range for axis 0 of 4"):
        runtime.call("probe", [x, np.array([given], NUMPY[DType(dtype)])])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_count_that_its_dtype_does_not_have_is_no_position(backend: str) -> None:
    text = (
        "module probe\n\n"
        "pub entry probe<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] {\n"
        "    let p = iota<i8>(N)\n    let y[m] = x[cast<i64>(p[m])]\n    return y\n}\n"
    )
    runtime = load(backend, compiled(text))
    x = np.arange(200, dtype=np.float32)
    (found,) = runtime.call("probe", [x[:128]])
    np.testing.assert_array_equal(found, x[:128])
    with pytest.raises(RuntimeFault, match="index -128 is out of range for axis 0 of 200"):
        runtime.call("probe", [x])


def test_positions_may_be_computed_in_many_steps() -> None:
    """More than the stack is deep, and each used twice: not each use can be gone through."""
    steps = "".join(f"    let p{k + 1} = p{k} + p{k}\n" for k in range(1200))
    text = (
        "module probe\n\n"
        "pub entry probe(x: Tensor[4; f32], t: Tensor[1; i64]) -> Tensor[1; f32] {\n"
        f"    let p0 = max(t, 0)\n{steps}    let y[m] = x[p1200[m]]\n    return y\n}}\n"
    )
    runtime = load("torch-source", compiled(text))
    (found,) = runtime.call("probe", [np.ones(4, np.float32), np.array([0])])
    assert found.tolist() == [1.0]
