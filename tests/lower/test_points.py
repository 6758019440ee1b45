"""Index notation of any form: what has no form for one element is evaluated point by point."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linnet.backends.base import RuntimeFault
from linnet.backends.numpy.interpreter import run
from linnet.dims.prover import Facts
from linnet.ir.batch_rules import NotBatchedError
from linnet.lower import points
from tests.lower.lowering import everywhere, names, operations, source

F32 = np.float32
A = np.array([1, -2, 3, -4], F32)
B = np.array([[1, 2], [3, -5], [7, 11]], F32)
IDS = np.array([0, 2, 1, 9], np.int32)


@pytest.fixture(params=["together", "one by one"], autouse=True)
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Points are lowered all at once where that can be, and one by one, to the same numbers."""

    def refuse(*_: object) -> None:
        raise NotBatchedError

    if request.param == "one by one":
        monkeypatch.setattr(points, "batched", refuse)
    return request.param


FUNCTIONS = """
enum Kind { Plus, Minus, Double }
struct Pair { low: f32 high: f32 }
fn loops(x: f32) -> f32 { var y = abs(x) while y < 10.0 { y = y * 2.0 } return y }
fn powers(x: f32) -> f32 { var y: f32 = 1.0 static for _k in 0..3 { y = y * x } return y }
fn apart(x: f32) -> f32 { let (a, b) = (x, x + 1.0) return a * b }
fn sorted(x: f32, y: f32) -> Pair { return Pair { low: min(x, y), high: max(x, y) } }
fn value(x: f32?, or: f32 = -1.0) -> f32 { return match x { some(v) => v  none => or } }
fn positive(x: f32) -> f32? { return if x > 0.0 { some(x) } else { none } }
fn kind(x: f32) -> Kind { return if x > 2.0 { Kind.Plus } else { if x > 0.0 { Kind.Double }
    else { Kind.Minus } } }
fn by(k: Kind, x: f32) -> f32 { return match k { Plus => x  Minus => -x  Double => x * 2.0 } }
fn length<N: Dim>(x: Tensor[N; f32]) -> f32 { let s = sum[i] x[i] * x[i] return sqrt(s) }
fn row<M: Dim, N: Dim>(t: Tensor[M, N; f32], k: i32) -> f32 { return length(t[k, :]) }
fn spread(x: f32) -> f32 { let t = fill<f32>([3], x) return (concat(t, t * 2.0, axis = 0))[4] }
fn moments(x: f32, w: Tensor[3, 2; f32]) -> f32 {
    let y[i] = sum[j] w[i, j] * x
    let top = cumsum(y, axis = 0)
    return top[2]
}
fn look<N: Dim>(t: Tensor[N; f32], k: i32) -> f32 { return t[k] }
"""


def double(x: float) -> float:
    x = abs(x)
    assert x > 0
    while x < 10:
        x *= 2
    return x


def by_kind(x: float) -> float:
    return x if x > 2 else x * 2 if x > 0 else -x


CASES = [
    ("loops(a[i])", [double(x) for x in A]),
    ("powers(a[i] + 1.0)", (A + 1) ** 3),
    ("apart(a[i]) + apart(2.0)", A * (A + 1) + 6),
    ("sorted(a[i], 0.5).low * 10.0 + sorted(a[i], 0.5).high",
     np.minimum(A, 0.5) * 10 + np.maximum(A, 0.5)),
    ("value(some(a[i]))", A),
    ("value(positive(a[i]))", [1, -1, 3, -1]),
    ("value(if c { some(a[i]) } else { none }, or = 7.0)", A),
    ("match positive(a[i]) { some(v) => v * h + a[i]  none => h }", [1.5, 0.5, 4.5, 0.5]),
    ("by(kind(a[i]), a[i])", [by_kind(x) for x in A]),
    ("match kind(a[i]) { Plus => a[i]  Minus => -a[i]  Double => a[i] * 2.0 }",
     [by_kind(x) for x in A]),
    ("by(if c { Kind.Minus } else { Kind.Plus }, a[i])", -A),
    ("match k { Plus => a[i]  Minus => -a[i]  Double => a[i] * 2.0 }", A * 2),
    ("row(b, ids[i] % 3)", [np.sqrt((B[k] ** 2).sum()) for k in IDS % 3]),
    ("spread(a[i])", A * 2),
    ("moments(a[i], b)", A * B.sum()),
    ("length(a) * a[i]", A * np.sqrt(F32(30))),
    ("sum[j] loops(a[j]) * a[i]", A * sum(double(x) for x in A)),
    ("max[j] apart(a[j] - a[i])", [max((x - y) * (x - y + 1) for x in A) for y in A]),
    ("loops(sum[j] a[j] * a[i])", [double(-2 * x) for x in A]),
    ("loops(loops(a[i]) - 15.0)", [double(double(x) - 15) for x in A]),
    ("(loops(a[i]) + h) * loops(h)", [(double(x) + 0.5) * 16 for x in A]),
    ("a[cast<i64>(loops(a[i])) - 12]", None),
    # A condition that holds at some points, at all, and at none.
    ("if a[i] > 0.0 { loops(a[i]) } else { a[i] }", [16, -2, 12, -4]),
    ("if a[i] > 0.0 { loops(1.0) } else { a[i] }", [16, -2, 16, -4]),
    ("if a[i] > 9.0 { loops(0.0) } else { a[i] }", A),
    ("if h > 9.0 { loops(a[i] * 0.0) } else { a[i] }", A),
    ("if c && loops(a[i]) > 12.0 { a[i] } else { 0.0 }", [1, -2, 0, -4]),
    ("if ids[i] < 4 { look(a, ids[i]) } else { 0.0 }", [1, 3, -2, 0]),
    ("match k { Plus => a[ids[i]]  Minus => loops(0.0)  Double => 1.0 }", np.ones(4)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CASES, ids=[c[0][:40] for c in CASES])
def test_any_form(tmp_path: Path, body: str, expected: object) -> None:
    text = f"""{FUNCTIONS}
fn f(a: Tensor[4; f32], b: Tensor[3, 2; f32], ids: Tensor[4; i32], c: bool, h: f32)
    -> Tensor[4; f32] {{
    let k = if c {{ Kind.Double }} else {{ Kind.Minus }}
    let y[i] = {body}
    return match k {{ Plus => -y  Minus => -y  Double => y }}
}}
"""
    module = source(tmp_path, text).function("f")
    args = [A, B, IDS, np.bool_(True), F32(0.5)]
    if expected is None:  # 16, 16, 12, 16 less 12: beyond the tensor
        with pytest.raises(RuntimeFault):
            everywhere(module, args)
        return
    (result,) = everywhere(module, args)
    np.testing.assert_allclose(result, np.asarray(expected, F32), rtol=1e-6)


def test_points_over_several_indices(tmp_path: Path) -> None:
    text = f"""{FUNCTIONS}
fn f<N: Dim, M: Dim>(x: Tensor[N; f32], y: Tensor[M, N; f32]) -> (Tensor[M, N; f32], Tensor[N; f32])
{{
    let z[m, n] = loops(x[n] + y[m, n]) - apart(x[n])
    let w[n] = sum[m] apart(y[m, n]) * value(positive(x[n]))
    return (z, w)
}}
"""
    x, y = np.array([1, -3], F32), B
    made = source(tmp_path, text)
    for generics in ({}, {"N": 2, "M": 3}):
        z, w = everywhere(made.function("f", generics), [x, y])
        wanted = [[double(x[n] + y[m, n]) - x[n] * (x[n] + 1) for n in range(2)] for m in range(3)]
        np.testing.assert_array_equal(z, np.array(wanted, F32))
        np.testing.assert_array_equal(w, (y * (y + 1)).sum(0) * np.array([1, -1], F32))
    for n, m in ((0, 3), (2, 0), (0, 0)):
        z, w = everywhere(made.function("f"), [np.zeros(n, F32), np.zeros((m, n), F32)])
        assert z.shape == (m, n) and w.tolist() == [0.0] * n


def test_points_over_a_pack(tmp_path: Path) -> None:
    text = f"""{FUNCTIONS}
fn f<*S: Shape, N: Dim>(x: Tensor[*S, N; f32]) -> Tensor[*S; f32] {{
    let y[*s] = sum[n] loops(x[*s, n])
    return y
}}
"""
    made = source(tmp_path, text)
    wanted = np.vectorize(double)(B).sum(1)
    (result,) = everywhere(made.function("f", {"S": (3,), "N": 2}), [B])
    np.testing.assert_array_equal(result, wanted.astype(F32))
    (result,) = everywhere(made.function("f", {"S": (), "N": 2}), [B[1]])
    assert result == wanted[1]


def test_what_depends_on_no_index_is_evaluated_before_the_points(tmp_path: Path) -> None:
    text = f"""{FUNCTIONS}
fn f(a: Tensor[4; f32], b: Tensor[3, 2; f32]) -> Tensor[4; f32] {{
    let y[i] = loops(a[i] * (sum[k, j] b[k, j] * b[k, j]) + loops(b[0, 0]))
    return y
}}
"""
    module = source(tmp_path, text).function("f")
    called = [op for op in module.functions["m::f"].body if op.name == "call"]
    assert len(called) == 1 and names(module).count("indexed") >= 1
    (loop,) = (op for op in module.functions["m::f"].body if op.name in ("loop", "while"))
    inside = [op.name for op in loop.regions[-1].body]
    assert "contract" not in inside and "reduce" not in inside
    assert inside.count("indexed") <= 1
    total = float((B * B).sum())
    (result,) = everywhere(module, [A, B])
    np.testing.assert_array_equal(result, np.array([double(x * total + 16) for x in A], F32))


def test_a_guarded_read_of_an_axis_that_may_be_empty(tmp_path: Path) -> None:
    text = f"""{FUNCTIONS}
fn f<N: Dim, M: Dim>(t: Tensor[N, M; f32], ids: Tensor[4; i32], far: i32) -> Tensor[4, M; f32] {{
    let y[i, m] = if ids[i] < far {{ t[ids[i], m] }} else {{ 0.5 }}
    return y
}}
fn g<N: Dim>(t: Tensor[N; f32], ids: Tensor[4; i32], far: i32) -> Tensor[4; f32] {{
    let before[i] = if far > 0 && ids[i] > 0 {{ t[(ids[i] - 1) % 3] }} else {{ 0.0 }}
    let y[i] = if ids[i] < far {{ look(t, ids[i]) + before[i] }}
        else {{ 0.5 }}
    return y
}}
"""
    made = source(tmp_path, text)
    (result,) = everywhere(made.function("f"), [B, IDS, np.int32(3)])
    np.testing.assert_array_equal(result, np.array([B[0], B[2], B[1], [0.5, 0.5]], F32))
    (result,) = everywhere(made.function("f"), [np.zeros((0, 2), F32), IDS, np.int32(0)])
    np.testing.assert_array_equal(result, np.full((4, 2), 0.5, F32))
    (result,) = everywhere(made.function("g"), [A[:3], IDS, np.int32(3)])
    np.testing.assert_array_equal(result, np.array([1, 3 - 2, -2 + 1, 0.5], F32))
    (result,) = everywhere(made.function("g"), [A[:0], IDS, np.int32(0)])
    np.testing.assert_array_equal(result, np.full(4, 0.5, F32))
    for rows, far in ((3, 10), (0, 1)):
        with pytest.raises(RuntimeFault):
            run(made.function("f"), [B[:rows], IDS, np.asarray(np.int32(far))])


def test_a_where_clause_of_the_callee_makes_a_guarded_read_plain(tmp_path: Path) -> None:
    text = """
fn look<N: Dim>(t: Tensor[N; f32], k: i32) -> f32 where N > 0 {
    return if k < 3 { t[k] } else { 0.0 }
}
fn f<N: Dim>(t: Tensor[N; f32], ids: Tensor[4; i32]) -> Tensor[4; f32] where N > 0 {
    let y[i] = look(t, ids[i])
    return y
}
"""
    made = source(tmp_path, text)
    module = made.function("f")
    facts = Facts(made.program.functions["m::f"].facts)
    (result,) = everywhere(module, [A, IDS], facts)
    assert result.tolist() == [1, 3, -2, 0]
    assert names(module) == ["indexed"]


STATES = """
block Counter {
    state s: i64
    pub fn push(by: i64) -> i64 { s = s * 10 + by
        return s }
    pub fn look() -> i64 { return s }
}
block Model {
    sub c: Counter
    state t: i64
    fn inc(by: i64) -> i64 { t = t * 10 + by
        return t }
    fn twice(by: i64) -> i64 { return inc(by) * 2 }
    pub entry f(n: Tensor[3; i64]) -> (Tensor[3; i64], i64, i64) {
        let y[i] = BODY
        return (y, t, c.look())
    }
}
"""


@pytest.mark.parametrize(
    ("body", "y", "t", "c"),
    [
        ("inc(n[i])", [1, 12, 123], 123, 0),
        ("twice(n[i])", [2, 24, 246], 123, 0),
        ("c.push(n[i])", [1, 12, 123], 0, 123),
        # Point after point; what depends on no index once, before.
        ("inc(n[i]) + inc(n[i] * 2) * 1000", None, None, 0),
        ("inc(5) + c.push(n[i])", [6, 17, 128], 5, 123),
        ("c.push(n[i]) * t", [0, 0, 0], 0, 123),
        ("if n[i] > 1 { inc(n[i]) } else { 0 }", [0, 2, 23], 23, 0),
        ("if n[i] > 1 { inc(7) } else { 0 }", [0, 7, 7], 7, 0),
        ("if n[i] > 3 { inc(7) } else { 0 }", [0, 0, 0], 0, 0),
        ("n[i] * 0 + (sum[k] inc(n[k]))", [136, 136, 136], 123, 0),
        ("sum[k] inc(n[k] * n[i])", None, None, 0),
    ],
)
def test_states_change_point_after_point(
    tmp_path: Path, body: str, y: list[int] | None, t: int | None, c: int
) -> None:
    if y is None:
        y, t = [], 0
        for n in (1, 2, 3):
            seen: list[int] = []
            for step in [n, 2 * n] if "1000" in body else [n, 2 * n, 3 * n]:
                t = t * 10 + step
                seen.append(t)
            y.append(seen[0] + seen[1] * 1000 if "1000" in body else sum(seen))
    module = source(tmp_path, STATES.replace("BODY", body)).entry("Model", "f")
    found = everywhere(module, [np.array([1, 2, 3])], state={"t": np.int64(0), "c.s": np.int64(0)})
    assert [r.tolist() for r in found] == [y, t, c]


def test_a_very_long_chain_of_functions_of_elements(tmp_path: Path) -> None:
    steps = [f"fn g{k}(x: f32) -> f32 {{ return g{k + 1}(x) + 1.0 }}" for k in range(900)]
    text = (
        "\n".join(steps)
        + """
fn g900(x: f32) -> f32 { return x }
fn f(x: Tensor[3; f32]) -> Tensor[3; f32] {
    let y[i] = g0(x[i])
    return y
}
"""
    )
    module = source(tmp_path, text).function("f")
    assert run(module, [A[:3]])[0].tolist() == (A[:3] + 900).tolist()


def test_a_large_expression_becomes_a_tensor(tmp_path: Path) -> None:
    text = """
fn deep(x: i64) -> i64 { BODY return x60 }
fn f(a: Tensor[3, 2; i64]) -> Tensor[2; i64] {
    let y[i] = sum[k] deep(a[k, i]) * a[k, i]
    return y
}
""".replace("BODY", "let x0 = x\n" + "\n".join(f"let x{k + 1} = x{k} + x{k}" for k in range(60)))
    x = np.array([[1, -2], [3, 5], [-7, 11]])
    module = source(tmp_path, text).function("f")
    assert everywhere(module, [x])[0].tolist() == (x * 2**60 * x).sum(0).tolist()
    assert len([op for op in operations(module) if op.name == "indexed"]) > 1


def test_no_tensor_at_a_point_is_there_for_more_than_a_row_of_points(
    tmp_path: Path, ways: str
) -> None:
    text = f"""{FUNCTIONS}
fn f(x: Tensor[3, 2; f32], n: Tensor[4; i32], s: Tensor[5; f32]) -> Tensor[4, 5; f32] {{
    let y[i, j] = row(x, n[i]) * loops(s[j]) + row(x * 2.0, n[i] + cast<i32>(s[j]))
    return y
}}
fn g(x: Tensor[4; f32], s: Tensor[5; f32]) -> Tensor[4, 5; f32] {{
    let y[i, j] = loops(x[i] - s[j])
    return y
}}
"""
    made = source(tmp_path, text)
    n, s = np.array([0, 1, 0, 0], np.int32), np.array([0.5, 1.5, 0.25, 1.25, 0.75], F32)
    module = made.function("f")
    norms = np.sqrt((B * B).sum(1))
    wanted = [[norms[k] * double(v) + 2 * norms[k + int(v)] for v in s] for k in n]
    np.testing.assert_allclose(everywhere(module, [B, n, s])[0], np.array(wanted, F32), rtol=1e-6)
    loops = sum(op.name == "loop" for op in operations(module))
    assert loops == (1 if ways == "together" else 4)
    module = made.function("g")
    wanted = [[double(x - v) for v in s] for x in A]
    np.testing.assert_allclose(everywhere(module, [A, s])[0], np.array(wanted, F32), rtol=1e-6)
    assert ("loop" in names(module)) is (ways != "together")
