"""Scalars that are known before a run, in callees too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linnet.backends.constants import fold_constants
from linnet.backends.numpy.interpreter import run
from linnet.ir.core import Function, Module
from linnet.ir.passes.dce import dce
from linnet.ir.passes.vectorize import vectorize
from linnet.ir.verify import verify
from linnet.ir.walk import operations
from tests.lower.lowering import source


def nothing(function: Function) -> bool:
    return False


def folded(module: Module, kept: Callable[[Function], bool] = nothing) -> Module:
    found = dce(fold_constants(vectorize(module), kept, {}))
    verify(found)
    return found


def names(module: Module) -> list[str]:
    return [op.name for f in module.functions.values() for op in operations(f.body)]


PROGRAM = """
const SCALE: f32 = 32.0
fn half(x: f32) -> f32 { return x / 2.0 }
fn scaled(x: Tensor[3; f32], by: f32, twice: bool) -> Tensor[3; f32] {
    let factor = log(by) * 0.1 + half(by)
    return if twice { x * factor * 2.0 } else { x * factor }
}
fn f(x: Tensor[3; f32], y: f32) -> Tensor[3; f32] {
    return scaled(x, SCALE, SCALE > 1.0) + scaled(x, half(SCALE), false) + scaled(x, y, true)
}
"""


def test_numbers_are_those_of_the_interpreter(tmp_path: Path) -> None:
    module = source(tmp_path, PROGRAM).function("f")
    x, y = np.array([1.5, -2.25, 1e-8], np.float32), np.asarray(3.0, np.float32)
    found = folded(module)
    np.testing.assert_array_equal(run(found, [x, y])[0], run(module, [x, y])[0])
    assert names(found).count("log") == 1  # of what only a run tells
    assert "if" not in names(found)


def test_calls_of_one_constant_share_a_function(tmp_path: Path) -> None:
    text = (
        PROGRAM
        + """
fn g(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return scaled(x, 2.0, true) + scaled(x, 2.0, true) + scaled(x, 2.0, false)
}
"""
    )
    found = folded(source(tmp_path, text).function("g"))
    made = [f for f in found.functions if f.startswith("m::scaled")]
    assert len(made) == 2


def test_what_has_something_else_than_its_body_is_called_as_it_is(tmp_path: Path) -> None:
    module = source(tmp_path, PROGRAM).function("f")

    def kept(function: Function) -> bool:
        return function.name == "m::half"

    found = folded(module, kept)
    assert "m::half" in found.functions
    calls = [op for f in found.functions.values() for op in operations(f.body) if op.name == "call"]
    assert all(op.operands for op in calls if op.attrs["callee"] == "m::half")


@pytest.mark.parametrize(
    ("dtype", "value"), [("bf16", 0.10009765625), ("f16", 0.0999755859375), ("f32", 0.1)]
)
def test_a_float_is_rounded_to_its_dtype(tmp_path: Path, dtype: str, value: float) -> None:
    text = f"fn f(x: Tensor[2; {dtype}]) -> Tensor[2; {dtype}] {{ return x * (0.05 + 0.05) }}"
    found = folded(source(tmp_path, text).function("f"))
    body = operations(found.functions["m::f"].body)
    (constant,) = [op.attrs["value"] for op in body if op.name == "constant"]
    half = np.float32(np.asarray(0.05, np.float32))
    assert float(constant) == pytest.approx(value, rel=1e-3)
    if dtype == "f32":
        assert float(constant) == float(half + half)
