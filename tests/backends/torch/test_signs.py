"""Positions below zero, by whatever road they come to be, on each backend."""

from __future__ import annotations

import numpy as np
import pytest

from linnet.backends.contract import RuntimeFault
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
