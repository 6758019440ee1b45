"""Every form of expression, run by the reference interpreter and compared with NumPy."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from linnet.backends.numpy.interpreter import run
from linnet.dims.dims import Dim
from linnet.ir.library import Absent, LibraryOp
from tests.lower.lowering import names, source

F32 = np.float32
X = np.arange(12, dtype=F32).reshape(3, 4)
V = np.array([1, -2, 3, -4], F32)


def check(tmp_path: Path, text: str, args: list, expected: object, **generics: object) -> None:
    """`f` of `text` gives `expected`, bit for bit."""
    (result,) = source(tmp_path, text).call("f", *args, **generics)
    wanted = np.asarray(expected)
    assert result.dtype == wanted.dtype and result.shape == wanted.shape
    np.testing.assert_array_equal(result, wanted)


ARITHMETIC = [
    ("x + y", X + V),
    ("x - y", X - V),
    ("x * y", X * V),
    ("x / y", X / V),
    ("y - x", V - X),
    ("2.0 * x", 2 * X),
    ("x - 1.0", X - 1),
    ("-x", -X),
    ("min(x, y)", np.minimum(X, V)),
    ("max(y, 2.0) + x", np.maximum(V, 2) + X),
    ("abs(y) + x", abs(V) + X),
    ("select(x > 5.0, x, y)", np.where(X > 5, X, V)),
    ("select(y > 0.0, x, -x)", np.where(V > 0, X, -X)),
    ("select(x <= 3.0, 1.0, y)", np.where(X <= 3, F32(1), V)),
]


@pytest.mark.parametrize(("expr", "expected"), ARITHMETIC, ids=lambda p: str(p)[:24])
def test_arithmetic_broadcasts(tmp_path: Path, expr: str, expected: np.ndarray) -> None:
    text = f"fn f(x: Tensor[3, 4; f32], y: Tensor[4; f32]) -> Tensor[3, 4; f32] {{ return {expr} }}"
    check(tmp_path, text, [X, V], expected.astype(F32))


COMPARISONS = [
    ("x == y", X == V),
    ("x != y", X != V),
    ("x < y", X < V),
    ("y >= x", V >= X),
    ("(x > 1.0) & (x < y)", (X > 1) & (X < V)),
    ("(x > 1.0) | (y < 0.0)", (X > 1) | (V < 0)),
    ("(x > 1.0) ^ (y < 0.0)", (X > 1) ^ (V < 0)),
]


@pytest.mark.parametrize(("expr", "expected"), COMPARISONS, ids=lambda p: str(p)[:24])
def test_comparison_gives_bool(tmp_path: Path, expr: str, expected: np.ndarray) -> None:
    text = (
        f"fn f(x: Tensor[3, 4; f32], y: Tensor[4; f32]) -> Tensor[3, 4; bool] {{ return {expr} }}"
    )
    check(tmp_path, text, [X, V], expected)


INTEGERS = [
    ("a / b", -3),
    ("a % b", -1),
    ("a & b", -7 & 2),
    ("a ^ b", -7 ^ 2),
    ("shl(a, b)", -28),
    ("shr(a, b)", -2),
    ("-a", 7),
    ("if a < b { a } else { b }", -7),
    ("if a < b && !(a == 0) { 1 } else { 2 }", 1),
    ("cast<i32>(cast<i8>(a * 100))", 68),
]


@pytest.mark.parametrize(("expr", "expected"), INTEGERS, ids=lambda p: str(p))
def test_scalar_integers(tmp_path: Path, expr: str, expected: int) -> None:
    text = f"fn f(a: i32, b: i32) -> i32 {{ return {expr} }}"
    check(tmp_path, text, [np.int32(-7), np.int32(2)], np.int32(expected))


SHAPES = [
    ("[6, 2]", "reshape(x, [6, 2])", X.reshape(6, 2)),
    ("[4, 3]", "permute(x, [1, 0])", X.T),
    ("[3, 4]", "permute(x, [0, 1])", X),
    ("[2, 3, 4]", "broadcast_to(x, [2, 3, 4])", np.broadcast_to(X, (2, 3, 4))),
    ("[6, 4]", "concat(x, x, axis = 0)", np.concatenate([X, X], 0)),
    ("[3, 9]", "concat(x, x[:, 1:2], x, axis = -1)", np.concatenate([X, X[:, 1:2], X], 1)),
    ("[4]", "x[1, :]", X[1]),
    ("[3]", "x[:, 2]", X[:, 2]),
    ("[3]", "x[..., i]", X[:, 3]),
    ("[2, 4]", "x[1:3, ...]", X[1:3]),
    ("[3, 2]", "x[:, 0:4:2]", X[:, 0:4:2]),
    ("[3, 2]", "x[:, 1:4:2]", X[:, 1:4:2]),
    ("[2]", "x[1:3, i]", X[1:3, 3]),
    ("[3, 4]", "cumsum(x, axis = 1)", np.cumsum(X, 1)),
    ("[3, 4]", "cumsum(x, axis = -2)", np.cumsum(X, 0)),
    ("[2, 2]", "fill<f32>([2, 2], 1.5)", np.full((2, 2), 1.5)),
    ("[5]", "iota<f32>(5)", np.arange(5)),
]


@pytest.mark.parametrize(("shape", "expr", "expected"), SHAPES, ids=lambda p: str(p)[:28])
def test_shapes(tmp_path: Path, shape: str, expr: str, expected: np.ndarray) -> None:
    dims = shape.strip("[]")
    text = f"fn f(x: Tensor[3, 4; f32], i: i32) -> Tensor[{dims}; f32] {{ return {expr} }}"
    check(tmp_path, text, [X, np.int32(3)], expected.astype(F32))


def test_all_axes_indexed_give_a_scalar(tmp_path: Path) -> None:
    text = "fn f(x: Tensor[3, 4; f32], i: u8) -> f32 { return x[2, i] + x[0, 1] }"
    check(tmp_path, text, [X, np.uint8(3)], F32(12))


def test_a_runtime_index_outside_its_axis_faults(tmp_path: Path) -> None:
    text = "fn f(x: Tensor[3, 4; f32], i: i64) -> Tensor[4; f32] { return x[i, :] }"
    with pytest.raises(Exception, match=r"out of range|outside"):
        source(tmp_path, text).call("f", X, np.int64(3))


@pytest.mark.parametrize("op", ["&&", "||"])
def test_the_right_side_is_not_evaluated_where_it_could_fault(tmp_path: Path, op: str) -> None:
    guard = "i < 4" if op == "&&" else "i >= 4"
    text = f"fn f(x: Tensor[4; f32], i: i64) -> bool {{ return {guard} {op} x[i] > 0.0 }}"
    made = source(tmp_path, text)
    assert [bool(made.call("f", V, np.int64(i))[0]) for i in (0, 1, 9)] == [
        True,
        False,
        op == "||",
    ]


def test_only_one_branch_is_evaluated(tmp_path: Path) -> None:
    text = "fn f(x: Tensor[4; f32], i: i64) -> f32 { return if i < 4 { x[i] } else { 0.5 } }"
    made = source(tmp_path, text)
    assert [float(made.call("f", V, np.int64(i))[0]) for i in (2, 4)] == [3.0, 0.5]


def test_tuples_and_structs_are_gone(tmp_path: Path) -> None:
    text = """
struct Pair<N: Dim> { left: Tensor[N; f32] right: (f32, i32) }
fn split<N: Dim>(x: Tensor[N; f32], k: i32) -> (Pair<N>, i32) {
    return (Pair { left: x + 1.0, right: (2.0, k) }, k + 1)
}
fn f(x: Tensor[4; f32]) -> Tensor[4; f32] {
    let (pair, n) = split(x, 7)
    let (a, b) = pair.right
    return pair.left * a + cast<f32>(b * n)
}
"""
    check(tmp_path, text, [V], (V + 1) * 2 + F32(56))
    module = source(tmp_path, text).function("split", {"N": 4})
    (function,) = module.functions.values()
    assert [str(r.type) for r in function.results] == ["tensor[4; f32]", "f32", "i32", "i32"]


OPTIONAL = """
op scaled<N: Dim>(x: Tensor[N; f32], by: Tensor[N; f32]? = none, plus: f32 = 0.25)
    -> Tensor[N; f32] {
    return match by { some(b) => x * b + plus  none => x + plus }
}
fn f(x: Tensor[4; f32]) -> Tensor[4; f32] {
    return scaled(x) + scaled(x, some(x), plus = 1.0) + scaled(x, none) + scaled(x, some(x))
}
"""


def test_an_optional_argument_decides_at_compile_time(tmp_path: Path) -> None:
    expected = (V + F32(0.25)) + (V * V + 1) + (V + F32(0.25)) + (V * V + F32(0.25))
    check(tmp_path, OPTIONAL, [V], expected)
    module = source(tmp_path, OPTIONAL).function("f")
    # One function for each set of optional arguments, however often it is called.
    assert list(module.functions) == ["m::f", "m::scaled", "m::scaled.2"]
    assert [len(f.params) for f in module.functions.values()] == [1, 2, 3]
    ops = [f.op for f in module.functions.values()]
    n = (("N", Dim.of(4)),)
    assert ops == [
        None,
        LibraryOp("m::scaled", n, (("x", 0), ("by", Absent()), ("plus", 1))),
        LibraryOp("m::scaled", n, (("x", 0), ("by", 1), ("plus", 2))),
    ]


def test_optional_parameters_of_a_function_lowered_alone(tmp_path: Path) -> None:
    made = source(tmp_path, OPTIONAL)
    given = made.function("scaled", {"N": 4}, {"by": True, "plus": True})
    assert [p.hint for p in given.functions["m::scaled"].params] == ["x", "by", "plus"]
    plain = made.function("scaled", {"N": 4})
    assert [p.hint for p in plain.functions["m::scaled"].params] == ["x", "plus"]


@pytest.mark.parametrize(("extent", "expected"), [(0, []), (1, []), (2, [0.0]), (5, [0.0, 2.0])])
def test_a_slice_in_steps_may_stop_below_its_start(
    tmp_path: Path, extent: int, expected: list[float]
) -> None:
    text = """
fn f<N: Dim>(x: Tensor[N + 3; f32], like: Tensor[N; f32]) -> Tensor[N / 2; f32] {
    return x[0 : N - 1 : 2]
}
"""
    x = np.arange(extent + 3, dtype=np.float32)
    for generics in ({}, {"N": extent}):
        (found,) = run(source(tmp_path, text).function("f", generics), [x, x[:extent]])
        assert found.tolist() == expected


def test_a_long_chain_of_calls(tmp_path: Path) -> None:
    steps = [
        f"fn g{k}(x: f32) -> f32 {{ return 1.0 + (1.0 - (2.0 - g{k + 1}(x))) }}" for k in range(900)
    ]
    text = "\n".join([*steps, "fn g900(x: f32) -> f32 { return x }"])
    module = source(tmp_path, text).function("g0")
    assert len(module.functions) == 901
    assert float(run(module, [F32(3)])[0]) == 3


def test_a_long_chain_of_calls_on_which_an_operand_depends(tmp_path: Path) -> None:
    """Whether the right side may fault, is asked of everything that it calls."""
    steps = [f"fn g{k}(x: bool) -> bool {{ return g{k + 1}(x) }}" for k in range(900)]
    text = """
fn g900(x: bool) -> bool { return !x }
fn f(a: bool, b: bool) -> bool { return a && g0(b) }
"""
    module = source(tmp_path, "\n".join(steps) + text).function("f")
    assert [names(module).count(n) for n in ("if", "and", "call")] == [0, 1, 901]


def test_functions_are_lowered_once_however_deep_they_are_met(tmp_path: Path) -> None:
    """Each step calls the next twice, with and without an optional, under its own bindings."""
    steps = [
        f"""fn g{k}<N: Dim>(x: Tensor[N; f32], y: f32? = none) -> f32 {{
    let a = g{k + 1}(x, y)
    return a + g{k + 1}(x, some(1.0))
}}"""
        for k in range(60)
    ]
    text = """
fn g60<N: Dim>(x: Tensor[N; f32], y: f32? = none) -> f32 {
    return match y { some(v) => v  none => sum[i] x[i] }
}
"""
    module = source(tmp_path, "\n".join(steps) + text).function("g0", {"N": 3})
    assert len(module.functions) == 121
    assert len({f.name for f in module.functions.values()}) == 121
    assert len(names(module)) < 121 * 5


ENUM = """
enum Pooling { Mean, Cls, Last }
fn pool(x: Tensor[4; f32], how: Pooling) -> f32 {
    return match how { Mean => (sum[i] x[i]) / 4.0  Cls => x[0]  Last => x[3] }
}
fn f(x: Tensor[4; f32]) -> f32 { return pool(x, Pooling.Mean) + pool(x, Pooling.Last) }
fn g(x: Tensor[4; f32], last: bool) -> f32 {
    return pool(x, if last { Pooling.Last } else { Pooling.Cls })
}
"""


def test_a_known_enum_decides_at_compile_time(tmp_path: Path) -> None:
    check(tmp_path, ENUM, [V], F32(-4.5))
    assert "if" not in names(source(tmp_path, ENUM).function("f"))


def test_a_runtime_enum_is_a_number(tmp_path: Path) -> None:
    made = source(tmp_path, ENUM)
    assert [float(made.call("g", V, np.bool_(b))[0]) for b in (False, True)] == [1.0, -4.0]
    pool = [float(made.call("pool", V, np.int64(k))[0]) for k in range(3)]
    assert pool == [-0.5, 1.0, -4.0]


def test_packs_become_axes(tmp_path: Path) -> None:
    text = """
fn f<*S: Shape, N: Dim, T: Float>(x: Tensor[*S, N; T], b: Tensor[N; T]) -> Tensor[N, *S; T]
where N > 0 {
    let y[*s, n] = x[*s, n] * b[n]
    let z = concat(y[..., 0:1], y[..., 1:N], axis = -1)
    let turned[n, *s] = z[*s, n]
    return turned
}
"""
    x = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
    expected = np.moveaxis(x * V, -1, 0)
    args = [x, V.astype(np.float64)]
    check(tmp_path, text, args, expected, S=(2, 3), N=4, T="f64")
    check(tmp_path, text, [x[0, 0], args[1]], x[0, 0] * V, S=(), N=4, T="f64")


def test_dims_are_values(tmp_path: Path) -> None:
    text = """
fn f<K: Dim, Q: Dim>(x: Tensor[K; f32], y: Tensor[Q; f32]) -> i32 {
    return cast<i32>(K - Q) * 10 + cast<i32>(min(K, Q))
}
"""
    made = source(tmp_path, text)
    (result,) = run(made.function("f"), [np.zeros(3, F32), np.zeros(5, F32)])
    assert result == -17
    assert names(made.function("f", {"K": 3, "Q": 5})) == [
        "constant",
        "constant",
        "mul",
        "constant",
        "add",
    ]


def test_an_inferred_half_is_made_of_the_callers_generics(tmp_path: Path) -> None:
    text = """
fn halves<N: Dim>(x: Tensor[2 * N; i64]) -> Tensor[N; i64] { return x[:N] - x[N:] }
fn f<A: Dim>(x: Tensor[A; i64]) -> Tensor[A / 2; i64] where A % 2 == 0 { return halves(x) }
"""
    made = source(tmp_path, text)
    for generics in ({}, {"A": 6}):
        (result,) = made.call("f", np.arange(6), **generics)
        np.testing.assert_array_equal(result, [-3, -3, -3])


def test_conditions_on_dims_are_decided(tmp_path: Path) -> None:
    text = """
fn f<K: Dim, Q: Dim>(x: Tensor[K; f32], y: Tensor[Q; f32], b: bool) -> f32 {
    return if K > 2 && !(Q == 1) || K == Q { 1.0 } else { if b && K > 9 { 2.0 } else { 3.0 } }
}
"""
    made = source(tmp_path, text)
    assert names(made.function("f", {"K": 3, "Q": 2})) == ["constant"]
    assert names(made.function("f", {"K": 1, "Q": 1})) == ["constant"]
    assert "if" in names(made.function("f", {"K": 2, "Q": 1}))
    assert "if" in names(made.function("f", {"K": 3}))
    open_ = made.function("f")
    sizes = [(3, 2), (3, 1), (1, 1), (2, 1)]
    results = [
        run(open_, [np.zeros(k, F32), np.zeros(q, F32), np.bool_(True)])[0] for k, q in sizes
    ]
    assert [float(r) for r in results] == [1.0, 3.0, 1.0, 3.0]


def test_literals_take_the_dtype_that_a_generic_is_bound_to(tmp_path: Path) -> None:
    text = "fn f<T: Float>(x: Tensor[4; T]) -> Tensor[4; T] { return x * 0.1 + 1 }"
    bf16 = ml_dtypes.bfloat16
    x = V.astype(bf16)
    check(tmp_path, text, [x], x * bf16(0.1) + bf16(1), T="bf16")


def test_casts_to_the_same_dtype_vanish(tmp_path: Path) -> None:
    text = "fn f<T: Float>(x: Tensor[4; T]) -> Tensor[4; f32] { return cast<f32>(x) }"
    made = source(tmp_path, text)
    assert names(made.function("f", {"T": "f32"})) == []
    assert names(made.function("f", {"T": "f16"})) == ["cast"]


@pytest.mark.parametrize("numerator", ["N - 10", "-7", "7", "N - 20"])
@pytest.mark.parametrize("divisor", ["4", "-4", "2", "N"])
def test_quotients_truncate_whether_they_are_known_or_not(
    tmp_path: Path, numerator: str, divisor: str
) -> None:
    made = source(
        tmp_path,
        f"const D = -7 / 2\n"
        f"pub fn known<N: Dim>(n: i32) -> (i32, i32, i64) where N > 0 "
        f"{{ return (({numerator}) / ({divisor}) + n, ({numerator}) % ({divisor}) + n, D) }}\n"
        f"pub fn later<N: Dim>(n: i32) -> (i32, i32, i64) where N > 0 "
        f"{{ let a: i32 = {numerator} let b: i32 = {divisor} return (a / b + n, a % b + n, -3) }}",
    )
    for size in (1, 3, 9, 10, 13):
        top = eval(numerator, {"N": size})
        low = size if divisor == "N" else int(divisor)
        quotient = int(top / low)
        expected = [quotient + 5, top - low * quotient + 5, -3]
        for name in ("known", "later"):
            got = made.call(name, np.int32(5), N=size)
            assert [int(v) for v in got] == expected, (name, size)


def test_an_open_quotient_truncates(tmp_path: Path) -> None:
    text = """
        pub fn f<N: Dim>(x: Tensor[N; f32]) -> (i64, i64) {
            return ((N - 10) / 4, (N - 10) % 4)
        }
    """
    module = source(tmp_path, text).function("f")
    for size, expected in ((1, [-2, -1]), (10, [0, 0]), (13, [0, 3])):
        got = run(module, [np.zeros(size, np.float32)])
        assert [int(v) for v in got] == expected
