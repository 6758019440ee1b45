"""Names in generated source: those of the program, but where Python, PyTorch or the file has them
for something else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet.ir.core import Module
from tests.backends import each
from tests.lower.lowering import equal, source

pytest.importorskip("torch")

X = np.asarray([1, 2, 3], np.float32)

HELPERS = ["saturated", "remainder", "position", "square_root"]
"""Functions that the programs below need where they are written in PyTorch."""
NAMES = [
    *("lambda", "def", "class", "len", "int", "l", "O", "_", "__f", "__debug__", "c1"),
    *("torch", "F", "nn", "d", "model", "forward", "train", "value", "annotations"),
    *HELPERS,
]

FUNCTION = """
fn {n}(x: Tensor[3; f32]) -> Tensor[3; i32] {{ let a = cast<i32>(x)
    return a + a }}
fn f(x: Tensor[3; f32], i: i64) -> (Tensor[3; i32], Tensor[3; f32], Tensor[3; f32], f32) {{
    let a = {n}(x)
    let y = iota<f32>(3)
    return (a + a, sqrt(x), x % (y + 1.5), x[cast<i64>(a[0]) - i])
}}
"""
LOCAL = """
fn g(n: i64) -> Tensor[3; f32] {{ let {n} = iota<f32>(3)
    return {n} + {n} * iota<f32>(3) }}
fn f({n}: Tensor[3; f32], i: i64) -> (Tensor[3; f32], Tensor[3; i32], Tensor[3; f32], f32) {{
    var a = {n} * g(i)
    while (sum[i] a[i]) < 50.0 {{ a = a + {n} + iota<f32>(3) * 1.5 }}
    let k = {n}
    let {n} = cast<i32>(k)
    return (sqrt(a), {n} + {n}, k % (a + k), k[cast<i64>({n}[0]) - i])
}}
"""
MEMBER = """
block B {{ param {n}: Tensor[3; f32]
    state s: Tensor[3; f32]
    pub fn g(x: Tensor[3; f32]) -> Tensor[3; f32] {{ s = s + x
        return s * {n} }} }}
block Model {{ sub {n}: B
    sub many: [B; 2]
    pub entry f(x: Tensor[3; f32]) -> Tensor[3; f32] {{ var y = {n}.g(x)
        static for b in many {{ y = y + b.g(y) }}
        return y + y }} }}
"""
METHOD = """
block B {{ state {n}: Tensor[3; f32]
    pub fn g(x: Tensor[3; f32]) -> Tensor[3; f32] {{ {n} = {n} + x
        return {n} * 2.0 }} }}
block Model {{ sub b: B
    fn {n}(x: Tensor[3; f32]) -> Tensor[3; f32] {{ return x * x }}
    pub entry f(x: Tensor[3; f32]) -> Tensor[3; f32] {{ let y = b.g({n}(x))
        return y + y }} }}
"""
GENERIC = """
block B<{n}: Dim> {{ param w: Tensor[{n}; f32]
    pub fn g(x: Tensor[{n}; f32]) -> Tensor[{n}; f32] {{ return x * w * cast<f32>({n} + 1) }} }}
block Model<{n}: Dim> {{ sub b: B<{n}>
    pub entry f(x: Tensor[{n}; f32]) -> Tensor[{n}; f32] {{ return b.g(x) + iota<f32>({n}) }} }}
"""
STRUCT = """
struct {n} {{ {field}: Tensor[3; f32]
    other: Tensor[3; i32] }}
struct Swapped {{ other: Tensor[3; i32]
    {field}: Tensor[3; f32] }}
fn make(x: Tensor[3; f32]) -> {n} {{ let whole = cast<i32>(x)
    return {n} {{ {field}: x % (x + 1.5), other: whole + whole }} }}
fn turn(p: {n}) -> Swapped {{ let root = sqrt(p.{field})
    return Swapped {{ other: p.other + p.other, {field}: root + root }} }}
fn f(x: Tensor[3; f32], i: i64) -> (Tensor[3; f32], Tensor[3; i32], f32) {{
    let {n}_ = make(x)
    let s = turn({n}_)
    return (s.{field} + {n}_.{field}, s.other, x[cast<i64>(s.other[0]) - i])
}}
"""


def agree(
    module: Module, *arguments: Any, state: Mapping[str, Any] | None = None, **named: Any
) -> None:
    held = [dict(state or {}), dict(state or {})]
    for _ in range(2):
        found = [
            each.run(backend, module, arguments, state=s, **named)
            for backend, s in zip(("numpy", "torch-source"), held, strict=True)
        ]
        equal(*found)
    equal(list(held[1].values()), list(held[0].values()))


@pytest.mark.parametrize("name", NAMES)
def test_of_functions_and_variables(name: str, tmp_path: Path) -> None:
    for text in (FUNCTION, LOCAL):
        if not (name == "_" and text is FUNCTION):
            agree(source(tmp_path, text.format(n=name)).function("f"), X, np.int64(1))


@pytest.mark.parametrize("name", [*NAMES, "NamedTuple", "Tensor_", "f_", "count", "_replace"])
def test_of_structs(name: str, tmp_path: Path) -> None:
    """As the name of the struct, and as that of a field."""
    for n, field in ((name, "first"), ("Pair", name)):
        if n not in ("_", "f"):
            text = STRUCT.format(n=n, field=field)
            agree(source(tmp_path, text).function("f"), X, np.int64(4))


@pytest.mark.parametrize("name", NAMES)
def test_of_members_and_methods(name: str, tmp_path: Path) -> None:
    paths = [name, "many.0", "many.1"]
    module = source(tmp_path, MEMBER.format(n=name)).entry("Model", "f")
    weights = {f"{p}.{name}": X + k for k, p in enumerate(paths)}
    agree(module, X, state={f"{p}.s": X * k for k, p in enumerate(paths)}, weights=weights)
    if name != "_":
        module = source(tmp_path, METHOD.format(n=name)).entry("Model", "f")
        agree(module, X, state={f"b.{name}": X})


@pytest.mark.parametrize("name", ["Forward", "Train", "Class", "Device", "Torch", "L", "F", "B2"])
def test_of_generics(name: str, tmp_path: Path) -> None:
    module = source(tmp_path, GENERIC.format(n=name)).entry("Model", "f", {name: 3})
    agree(module, X, weights={"b.w": X})


def test_dimensions_that_look_alike_in_python(tmp_path: Path) -> None:
    text = """
block Model<AB: Dim, Ab: Dim> { param w: Tensor[AB, Ab; f32]
    pub entry f() -> (Tensor[AB, Ab; f32], Tensor[AB; f32], Tensor[Ab; f32]) {
        return (w * 2.0, iota<f32>(AB), iota<f32>(Ab)) } }
"""
    module = source(tmp_path, text).entry("Model", "f", {"AB": 3, "Ab": 1})
    agree(module, weights={"w": X[:, None]})


def test_a_class_and_a_dimension_of_one_name(tmp_path: Path) -> None:
    text = """
block n<M: Dim> { param w: Tensor[M; f32]
    pub fn g(x: Tensor[M; f32]) -> Tensor[M; f32] { return x * w } }
block Model<N: Dim> { sub a: n<N>
    param w: Tensor[N; f32]
    pub entry f(x: Tensor[N; f32]) -> Tensor[N; f32] { return a.g(x) * w } }
"""
    agree(source(tmp_path, text).entry("Model", "f", {"N": 3}), X, weights={"a.w": X, "w": X})


LOOPS = [
    "var a = x\nvar b = x\nwhile a < 10 { a = a + 1\nb = b * 2 }\nreturn a * 1000 + b",
    "var a = x\nvar b = x\nstatic for k in 0..4 { a = a + 1\nb = b * 2 }\nreturn a * 1000 + b",
    "var n = x\nwhile n < 5 && n * n < 100 { n = 7 }\nreturn n",
    "var a = x\nvar b = x + 1\nstatic for k in 0..3 { let t = a\na = b\nb = t + b }\nreturn a - b",
]


@pytest.mark.parametrize("body", LOOPS)
def test_of_what_loops_carry(body: str, tmp_path: Path) -> None:
    module = source(tmp_path, f"fn f(x: i64) -> i64 {{ {body} }}").function("f")
    for x in (3, 12):
        agree(module, np.int64(x))
