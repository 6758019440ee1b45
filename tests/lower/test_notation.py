"""Index notation: its numbers, and the one operation that it becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet.backends.base import RuntimeFault
from linnet.backends.numpy.interpreter import run
from linnet.ir.core import Module
from linnet.ir.scalar import Access, Apply, Const, DimValue, Index, Operand, Reduce, Scalar
from tests.lower.lowering import everywhere, names, operations, source

F32 = np.float32
A = np.arange(12, dtype=F32).reshape(3, 4)
B = np.arange(8, dtype=F32).reshape(2, 4) - 3

CASES = [
    # what it is, result, body, expected
    ("a product", "[3, 2]", "let y[i, j] = sum[k] a[i, k] * b[j, k]", A @ B.T),
    ("output order", "[2, 3]", "let y[j, i] = sum[k] a[i, k] * b[j, k]", B @ A.T),
    ("an outer one", "[3, 2]", "let y[i, j] = a[i, 0] - b[j, 3]", A[:, :1] - B[:, 3]),
    ("a diagonal", "[3]", "let y[i] = (a[:, 0:3])[i, i]", np.diag(A)),
    ("constants", "[4]", "let y[k] = a[2, k] * 2.0 + 1.0", A[2] * 2 + 1),
    ("nested sums", "[3]", "let y[i] = sum[k] a[i, k] * (sum[j] b[j, k])", A @ B.sum(0)),
    ("sums beside", "[3]", "let y[i] = (sum[k] a[i, k]) / (sum[j, k] b[j, k])", A.sum(1) / B.sum()),
    ("maximum", "[4]", "let y[k] = max[i] a[i, k] - b[0, k]", (A - B[0]).max(0)),
    ("product", "[3]", "let y[i] = prod[k] a[i, k] + 1.0", (A + 1).prod(1)),
    ("a gather", "[2]", "let y[n] = a[ids[n], 1]", A[[2, 0], 1]),
    ("a runtime row", "[4]", "let y[k] = a[at, k]", A[1]),
    ("computed", "[2]", "let y[n] = a[ids[n], 3 - ids[n]]", np.array([A[2, 1], A[0, 3]])),
    ("iota", "[3]", "let y[i] = cast<f32>(iota<i64>(3)[i]) + a[i, 0]", np.arange(3) + A[:, 0]),
    ("a condition", "[3, 4]", "let y[i, k] = if a[i, k] > 4.0 { a[i, k] } else { b[0, k] }",
     np.where(A > 4, A, B[0])),
    ("intrinsics", "[3, 4]", "let y[i, k] = max(min(a[i, k], 5.0), abs(b[1, k]))",
     np.maximum(np.minimum(A, 5), abs(B[1]))),
    ("scalars", "[3]", "let y[i] = a[i, 0] * half + cast<f32>(at)", A[:, 0] * F32(0.5) + 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "body", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_numbers(tmp_path: Path, shape: str, body: str, expected: np.ndarray) -> None:
    text = f"""
fn f(a: Tensor[3, 4; f32], b: Tensor[2, 4; f32], ids: Tensor[2; i32], at: i64, half: f32)
    -> Tensor[{shape.strip("[]")}; f32] {{
    {body}
    return y
}}
"""
    args = [A, B, np.array([2, 0], np.int32), np.int64(1), F32(0.5)]
    (result,) = source(tmp_path, text).call("f", *args)
    assert result.dtype == F32 and result.shape == expected.shape
    np.testing.assert_allclose(result, expected.astype(F32), rtol=1e-6)


def only(module: Module) -> tuple[tuple[object, ...], Scalar]:
    """The indices and the expression of the one `indexed` of `module`."""
    (op,) = (o for o in operations(module) if o.name == "indexed")
    return op.attrs["indices"], op.attrs["expr"]


def test_a_scalar_sum_has_no_indices(tmp_path: Path) -> None:
    text = "fn f(a: Tensor[3, 3; f32]) -> f32 { return (sum[i] a[i, i]) * 2.0 }"
    made = source(tmp_path, text)
    assert made.call("f", np.eye(3, dtype=F32))[0] == 6
    assert only(made.function("f"))[0] == ()
    assert names(made.function("f")) == ["indexed", "constant", "mul"]


def test_what_depends_on_no_index_is_an_operand(tmp_path: Path) -> None:
    text = """
fn f(a: Tensor[3; f32], s: f32, at: i32) -> Tensor[3; f32] {
    let y[i] = a[i] * exp(s * 2.0) + a[at]
    return y
}
"""
    module = source(tmp_path, text).function("f")
    assert names(module) == ["constant", "mul", "exp", "indexed", "indexed"]
    last = operations(module)[-1]
    assert [str(v.type) for v in last.operands] == ["tensor[3; f32]", "f32", "f32"]
    i = Index(0, last.attrs["expr"].args[0].args[0].positions[0].dtype)
    f32 = last.operands[1].type.dtype
    product = Apply("mul", (Access(0, (i,), f32), Operand(1, f32)), f32)
    assert last.attrs["expr"] == Apply("add", (product, Operand(2, f32)), f32)


def test_a_tensor_read_twice_is_one_operand(tmp_path: Path) -> None:
    text = "fn f(a: Tensor[3; f32]) -> Tensor[3; f32] { let y[i] = a[i] * a[2] - a[i]\n return y }"
    made = source(tmp_path, text)
    (op,) = (o for o in operations(made.function("f")) if o.attrs["indices"])
    assert len(op.operands) == 2  # `a`, and `a[2]` that depends on no index


@pytest.mark.parametrize(
    ("dtype", "reduction", "kept"),
    [
        ("bf16", "sum[k] a[k]", "f32"),
        ("f16", "prod[k] a[k]", "f32"),
        ("f16", "max[k] a[k]", "f16"),
        ("f32", "sum[k] a[k]", "f32"),
        ("f64", "sum[k] a[k]", "f64"),
        ("i8", "sum[k] a[k]", "i8"),
        ("f32", "sum<f32>[k] a[k]", "f32"),
    ],
)
def test_accumulators(tmp_path: Path, dtype: str, reduction: str, kept: str) -> None:
    text = f"fn f(a: Tensor[3; {dtype}]) -> {dtype} {{ return {reduction} }}"
    _, expr = only(source(tmp_path, text).function("f"))
    assert isinstance(expr, Reduce)
    assert (str(expr.accumulator), str(expr.dtype)) == (kept, dtype)


def test_the_accumulator_follows_the_dtype_that_a_generic_is_bound_to(tmp_path: Path) -> None:
    text = "fn f<T: Float>(a: Tensor[3; T]) -> T { return sum[k] a[k] }"
    made = source(tmp_path, text)
    kept = []
    for dtype in ("bf16", "f64"):
        _, expr = only(made.function("f", {"T": dtype}))
        assert isinstance(expr, Reduce)
        kept.append(str(expr.accumulator))
    assert kept == ["f32", "f64"]


def test_a_pack_index_is_an_index_for_every_axis(tmp_path: Path) -> None:
    text = """
fn f<*S: Shape, N: Dim>(a: Tensor[*S, N; f32]) -> f32 { return sum[*s, n] a[*s, n] }
fn g<*S: Shape>(a: Tensor[*S; f32], b: Tensor[*S; f32]) -> Tensor[*S; f32] {
    let y[*s] = a[*s] * b[*s]
    return y
}
"""
    made = source(tmp_path, text)
    _, expr = only(made.function("f", {"S": (2, 3), "N": 4}))
    assert isinstance(expr, Reduce)
    assert [(k, d.as_int()) for k, d in expr.indices] == [(0, 2), (1, 3), (2, 4)]
    assert made.call("f", A, S=(3,), N=4)[0] == A.sum()
    np.testing.assert_array_equal(made.call("g", A, A, S=(3, 4))[0], A * A)
    # No axes at all: two scalars.
    assert made.call("g", F32(3), F32(5), S=())[0] == 15


def test_open_dims_are_values_of_the_expression(tmp_path: Path) -> None:
    text = """
fn f<N: Dim>(a: Tensor[N; i32]) -> Tensor[N; i32] {
    let y[i] = a[i] * cast<i32>(N) + 1
    return y
}
"""
    made = source(tmp_path, text)
    (n,) = made.function("f").symbols
    _, expr = only(made.function("f"))
    assert isinstance(expr, Apply) and isinstance(expr.args[0], Apply)
    scale = expr.args[0].args[1]
    assert isinstance(scale, DimValue) and scale.dim.as_symbol() is n
    _, bound = only(made.function("f", {"N": 7}))
    assert isinstance(bound, Apply) and isinstance(bound.args[0], Apply)
    assert isinstance(bound.args[0].args[1], Const) and bound.args[0].args[1].value == 7
    (result,) = run(made.function("f"), [np.array([1, 2], np.int32)])
    np.testing.assert_array_equal(result, [3, 5])


INLINE = """
fn clip<T: Float>(x: T, limit: T = 2.0) -> T {
    let low = -limit
    var y = min(x, limit)
    y = max(y, low)
    return y
}
fn twice(x: f32) -> f32 { return clip(x) + clip(clip(x, 3.0), limit = 1.0) }
fn f(a: Tensor[4; f32]) -> Tensor[4; f32] {
    let y[i] = twice(a[i]) * clip<f32>(5.0)
    return y
}
"""


def test_functions_of_elements_are_inlined(tmp_path: Path) -> None:
    made = source(tmp_path, INLINE)
    x = np.array([-4, -1.5, 0.5, 9], F32)
    expected = (np.clip(x, -2, 2) + np.clip(np.clip(x, -3, 3), -1, 1)) * 2
    np.testing.assert_array_equal(made.call("f", x)[0], expected)
    # What depends on no index is called once, outside.
    assert names(made.function("f")).count("call") == 1


def test_functions_of_elements_may_look_into_tables(tmp_path: Path) -> None:
    text = """
fn look<N: Dim>(table: Tensor[N, 2; f32], k: i32) -> f32 where N > 0 {
    let last = table[N - 1, 1]
    return if k < 3 { table[k, 0] * last } else { last }
}
fn f<N: Dim>(ids: Tensor[4; i32], table: Tensor[N, 2; f32]) -> Tensor[4; f32] where N > 0 {
    let y[i] = look(table, ids[i] + 1) + look(table, 1)
    return y
}
"""
    made = source(tmp_path, text)
    table, ids = np.array([[1, 2], [3, 5], [7, 11]], F32), np.array([-1, 8, 0, 1], np.int32)
    expected = np.array([1 * 11, 11, 3 * 11, 7 * 11], F32) + 3 * 11
    np.testing.assert_array_equal(made.call("f", ids, table, N=3)[0], expected)
    with pytest.raises(RuntimeFault):
        made.call("f", ids - 1, table, N=3)


def test_an_argument_may_be_used_twice(tmp_path: Path) -> None:
    text = """
fn square(x: f32) -> f32 { return x * x }
fn f(a: Tensor[3, 4; f32]) -> Tensor[3; f32] {
    let y[i] = square(sum[k] a[i, k]) + square(square(a[i, 0]))
    return y
}
"""
    expected = A.sum(1) ** 2 + A[:, 0] ** 4
    np.testing.assert_array_equal(source(tmp_path, text).call("f", A)[0], expected)


def test_an_argument_may_be_a_call_of_the_same_function(tmp_path: Path) -> None:
    text = """
fn line(t: Tensor[2; f32], x: f32, plus: Tensor[2; f32]? = none) -> f32 {
    let y = x * t[1] + t[0]
    return match plus { some(p) => y + p[0]  none => y }
}
fn f(a: Tensor[2; f32], t: Tensor[2; f32], u: Tensor[2; f32]) -> Tensor[2; f32] {
    let y[i] = line(t, line(u, a[i], some(t))) - line(u, line(t, a[i]), some(u))
    return y
}
"""
    a, t, u = np.array([1, 2], F32), np.array([10, 100], F32), np.array([3, 5], F32)
    expected = ((a * 5 + 3 + 10) * 100 + 10) - ((a * 100 + 10) * 5 + 3 + 3)
    np.testing.assert_array_equal(source(tmp_path, text).call("f", a, t, u)[0], expected)


def test_an_inlined_function_must_not_grow_too_large(tmp_path: Path) -> None:
    def text(steps: int) -> str:
        lets = "\n".join(f"let x{k + 1} = x{k} * x{k} + 1" for k in range(steps))
        return f"""
fn deep(x0: i64) -> i64 {{
    {lets}
    return x{steps}
}}
fn f(a: Tensor[3; i64]) -> Tensor[3; i64] {{
    let y[i] = deep(a[i])
    return y
}}
"""

    x = np.array([0, 1, -1, 7])[:3]
    wanted = x.copy()
    for step in range(1, 61):
        wanted = wanted * wanted + 1
        if step in (4, 60):
            module = source(tmp_path, text(step)).function("f")
            np.testing.assert_array_equal(everywhere(module, [x])[0], wanted)
            assert len(operations(module)) < 20
    assert wanted[0] != 0


GUARDED = [
    # body; what it is at `i` where `ids[i]` is within `a`, and where it is not
    ("if ids[i] < 4 { a[ids[i]] } else { -a[i] }", lambda a, k, i: a[k], lambda a, i: -a[i]),
    ("if ids[i] >= 4 { a[i] } else { a[ids[i]] }", lambda a, k, i: a[k], lambda a, i: a[i]),
    (
        "if ids[i] < 4 && a[ids[i]] > 0.0 { a[ids[i]] * 2.0 } else { a[i] }",
        lambda a, k, i: a[k] * 2 if a[k] > 0 else a[i],
        lambda a, i: a[i],
    ),
    (
        "if ids[i] >= 4 || a[ids[i]] < 0.0 { a[i] } else { a[ids[i]] + 1.0 }",
        lambda a, k, i: a[i] if a[k] < 0 else a[k] + 1,
        lambda a, i: a[i],
    ),
    (
        "if ids[i] < 4 { if ids[i] > 1 { a[ids[i]] } else { a[ids[i] + 1] } } else { 0.0 }",
        lambda a, k, i: a[k] if k > 1 else a[k + 1],
        lambda a, i: 0,
    ),
    (
        "if ids[i] < 4 { sum[k] select(order[k] <= 1, a[ids[i]], 0.0) } else { a[i] }",
        lambda a, k, i: a[k] * 2,
        lambda a, i: a[i],
    ),
    ("if ids[i] < 4 { double(a[ids[i]]) } else { a[i] }", lambda a, k, i: a[k] * 2,
     lambda a, i: a[i]),
    ("if far < 4 { a[far] * a[i] } else { a[ids[i] % 4] }", None, lambda a, i: a[i % 4]),
]  # fmt: skip


def guarded(body: str, size: str, where: str = "") -> str:
    return f"""
fn double(x: f32) -> f32 {{ return x + x }}
fn f<N: Dim>(a: Tensor[{size}; f32], ids: Tensor[6; i32], far: i64) -> Tensor[6; f32]
{where} {{
    let order = iota<i32>(N)
    let y[i] = {body.replace("a[i]", "a[ids[i] % 4]")}
    return y
}}
"""


@pytest.mark.parametrize(
    ("body", "within", "outside"), GUARDED, ids=[row[0][:30] for row in GUARDED]
)
@pytest.mark.parametrize(("size", "where"), [("4", ""), ("N", "where N > 0")])
def test_a_guarded_read_faults_only_where_it_counts(
    tmp_path: Path, body: str, within: Any, outside: Any, size: str, where: str
) -> None:
    a = np.array([2, -3, 5, -7], F32)
    ids = np.array([0, 9, 1, 2**31 - 1, 2, 3], np.int32)
    if "+ 1]" in body:
        ids[0] = 1
    module = source(tmp_path, guarded(body, size, where)).function(
        "f", {} if size == "N" else {"N": 4}
    )
    (result,) = run(module, [a, ids, np.int64(4)], symbols=dict.fromkeys(module.symbols, 4))
    wanted = [
        within(a, k, k % 4) if within is not None and k < 4 else outside(a, k % 4) for k in ids
    ]
    np.testing.assert_array_equal(result, np.array(wanted, F32))


def test_a_guarded_read_still_faults_where_it_counts(tmp_path: Path) -> None:
    made = source(tmp_path, guarded("if ids[i] < 5 { a[ids[i]] } else { 0.0 }", "4"))
    ids = np.array([0, 1, 2, 3, 9, 9], np.int32)
    assert made.call("f", np.ones(4, F32), ids, np.int64(0), N=4)[0].tolist() == [1, 1, 1, 1, 0, 0]
    ids[5] = 4
    with pytest.raises(RuntimeFault):
        made.call("f", np.ones(4, F32), ids, np.int64(0), N=4)


def test_matches_inside_are_decided(tmp_path: Path) -> None:
    text = """
enum Kind { Plus, Minus }
fn g(a: Tensor[4; f32], b: Tensor[4; f32]?, kind: Kind) -> Tensor[4; f32] {
    let y[i] = match b {
        some(v) => match kind { Plus => a[i] + v[i]  Minus => a[i] - v[i] }
        none => a[i] * 10.0
    }
    return y
}
fn f(a: Tensor[4; f32]) -> Tensor[4; f32] {
    return g(a, none, Kind.Plus) + g(a, some(a), Kind.Plus) + g(a, some(a * 0.5), Kind.Minus)
}
"""
    x = np.array([1, 2, 3, 4], F32)
    np.testing.assert_array_equal(source(tmp_path, text).call("f", x)[0], x * 12.5)
