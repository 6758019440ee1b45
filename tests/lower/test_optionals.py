"""Optionals of which only a run tells whether they are there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.lower.lowering import everywhere, names, operations, source

F32 = np.float32
V = np.array([1, -2, 3], F32)

FUNCTIONS = """
enum Kind { Plus, Minus, Double }
struct Two { a: f32?  b: f32? }
struct Marked { kind: Kind  mark: Tensor[3; f32]? }
fn value(x: f32?, or: f32 = 0.0) -> f32 { return match x { some(v) => v  none => or } }
fn same(x: f32?) -> f32? { return x }
fn turned(x: f32?) -> f32? { return match x { some(_v) => none  none => some(1.0) } }
fn twice(x: f32?) -> f32? { return match x { some(v) => some(v * 2.0)  none => none } }
fn positive(x: f32) -> f32? { return if x > 0.0 { some(x) } else { none } }
fn both(x: f32?, y: f32?) -> (f32, f32)? {
    return match x { some(a) => match y { some(b) => some((a, b))  none => none }  none => none }
}
fn sign(k: Kind) -> f32 { return match k { Plus => 1.0  Minus => -1.0  Double => 2.0 } }
op shifted(x: f32, by: f32? = none, kind: Kind? = none) -> f32 {
    let y = match by { some(b) => x + b  none => x * 10.0 }
    return match kind { some(k) => y * sign(k)  none => y }
}
"""

# A body of `f(x, c, n, o)`, and what it gives for x, c, n and o (None: not there).
CASES = [
    ("let y: f32? = if c { some(x) } else { none } return value(y, or = 9.0)",
     lambda x, c, n, o: x if c else 9),
    ("let y = if c { o } else { none } return value(y, or = 9.0)",
     lambda x, c, n, o: 9 if o is None or not c else o),
    ("let y = if c { o } else { turned(o) } return value(y, or = 9.0)",
     lambda x, c, n, o: (9 if o is None else o) if c else 1 if o is None else 9),
    ("let y = twice(if c { o } else { positive(x) }) return value(y, or = 9.0)",
     lambda x, c, n, o: (9 if o is None else o * 2) if c else x * 2 if x > 0 else 9),
    ("let t = if c { Two { a: o, b: none } } else { Two { a: some(x), b: o } }"
     " return value(t.a, or = 9.0) * 100.0 + value(t.b, or = 8.0)",
     lambda x, c, n, o: ((9 if o is None else o) * 100 + 8) if c
     else x * 100 + (8 if o is None else o)),
    ("let p = both(positive(x), if c { o } else { none })"
     " return match p { some(q) => value(some(x)) + take(q)  none => 9.0 }",
     lambda x, c, n, o: x + x * 100 + o if x > 0 and c and o is not None else 9),
    ("var y: f32? = none static for _i in 0..3 { y = some(x) } return value(y, or = 9.0)",
     lambda x, c, n, o: x),
    ("var y: f32? = none var k = 0 while k < n { y = some(x) k = k + 1 } return value(y, or = 9.0)",
     lambda x, c, n, o: x if n > 0 else 9),
    ("var y = o var k = 0 while k < n { y = turned(y) k = k + 1 } return value(y, or = 9.0)",
     lambda x, c, n, o: (1 if n % 2 and o is None else 9) if n % 2 or o is None
     else (o if n == 0 else 1)),
    ("var y: f32? = none var z: f32? = some(x) static for _i in 0..3 { let old = y y = z z = old }"
     " return value(y, or = 9.0) + value(z, or = 80.0)",
     lambda x, c, n, o: x + 80),
    ("return shifted(x, by = if c { o } else { none })",
     lambda x, c, n, o: x + o if c and o is not None else x * 10),
    ("return shifted(x, kind = if c { some(Kind.Minus) } else { none }, by = positive(x))",
     lambda x, c, n, o: (x + x if x > 0 else x * 10) * (-1 if c else 1)),
    ("let k: Kind? = if c { some(if x > 0.0 { Kind.Double } else { Kind.Minus }) } else { none }"
     " return match k { some(m) => sign(m)  none => 9.0 }",
     lambda x, c, n, o: (2 if x > 0 else -1) if c else 9),
    ("let y = if c { some(fill<f32>([3], x)) } else { none }"
     " let z = match y { some(t) => t  none => fill<f32>([3], 9.0) } return sum[i] z[i]",
     lambda x, c, n, o: 3 * (x if c else 9)),
    ("let y = if c { some(fill<f32>([3], x)) } else { none } let u = iota<f32>(3)"
     " return sum[i] u[i] * (match y { some(t) => t[i] none => 9.0 })",
     lambda x, c, n, o: 3 * (x if c else 9)),
    ("var m = Marked { kind: Kind.Plus, mark: none }"
     " static for i in 0..3 { m = if i == n { Marked { kind: Kind.Double, mark: m.mark } }"
     " else { Marked { kind: m.kind, mark: some(fill<f32>([3], x)) } } }"
     " return sign(m.kind) * 100.0 + (match m.mark { some(t) => t[1]  none => 9.0 })",
     lambda x, c, n, o: (200 if 0 <= n < 3 else 100) + x),
    ("let y = if c { if x > 0.0 { o } else { some(x) } } else { same(none) }"
     " return value(y, or = 9.0)",
     lambda x, c, n, o: 9 if not c or (x > 0 and o is None) else o if x > 0 else x),
    ("let y = match positive(x) { some(v) => some(v + 1.0)  none => o } return value(y, or = 9.0)",
     lambda x, c, n, o: x + 1 if x > 0 else 9 if o is None else o),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CASES, ids=[c[0][:50] for c in CASES])
@pytest.mark.parametrize("o", [None, 7.0])
def test_an_optional_that_a_run_decides(
    tmp_path: Path, body: str, expected: object, o: float | None
) -> None:
    text = f"""{FUNCTIONS}
fn take(q: (f32, f32)) -> f32 {{ let (a, b) = q return a * 100.0 + b }}
fn f(x: f32, c: bool, n: i64, o: f32?) -> f32 {{ {body} }}
"""
    module = source(tmp_path, text).function("f", given={"o": o is not None})
    for x in (2.0, -3.0):
        for c in (True, False):
            for n in (0, 1, 2, 3):
                args = [F32(x), np.bool_(c), np.int64(n), *([] if o is None else [F32(o)])]
                (result,) = everywhere(module, args)
                assert float(result) == expected(x, c, n, o), (x, c, n)  # pyright: ignore


def test_what_is_known_stays_known(tmp_path: Path) -> None:
    text = f"""{FUNCTIONS}
fn f(c: bool, n: i64, o: f32?) -> f32 {{
    var y = if c {{ o }} else {{ same(o) }}
    var k = 0
    while k < n {{ y = twice(y) k = k + 1 }}
    return value(y)
}}
"""
    made = source(tmp_path, text)
    given, absent = (made.function("f", given={"o": there}) for there in (True, False))
    assert float(everywhere(given, [np.bool_(True), np.int64(2), F32(3)])[0]) == 12
    assert float(everywhere(absent, [np.bool_(True), np.int64(2)])[0]) == 0
    for module in (given, absent):
        assert names(module).count("if") == 1
        (loop,) = (op for op in operations(module) if op.name == "while")
        assert len(loop.operands) == (2 if module is given else 1)


def test_optionals_that_are_carried_over_blocks(tmp_path: Path) -> None:
    text = """
block Cell {
    param weight: Tensor[3; f32]
    param shift: Tensor[3; f32]? = none
    pub fn step(x: Tensor[3; f32]?) -> Tensor[3; f32]? {
        return match x {
            some(v) => if v[0] > 5.0 { none } else { some(v * weight) }
            none => shift
        }
    }
}
block Model {
    sub cells: [Cell; 3]
    sub last: Cell? = none
    pub entry f(x: Tensor[3; f32]) -> Tensor[3; f32] {
        var h: Tensor[3; f32]? = some(x)
        static for cell in cells { h = cell.step(h) }
        let g = match last { some(cell) => cell.step(h)  none => h }
        return match g { some(v) => v  none => -x }
    }
}
"""
    made = source(tmp_path, text)
    paths = [*(f"cells.{i}" for i in range(3)), "last"]
    weights = {f"{p}.weight": np.full(3, k + 2, F32) for k, p in enumerate(paths)}
    weights |= {f"{p}.shift": np.full(3, k - 1, F32) for k, p in enumerate(paths)}
    for absent in ([], ["last"], [f"cells.{i}.shift" for i in range(3)], ["last.shift"]):
        module = made.entry("Model", "f", absent=absent)
        for start in (0.5, 1.0, 3.0, 6.0):
            x = V * F32(start)
            h = x
            for p in paths:
                if p in absent:
                    continue
                if h is None:
                    h = None if f"{p}.shift" in absent else weights[f"{p}.shift"]
                else:
                    h = None if h[0] > 5 else h * weights[f"{p}.weight"]
            (result,) = everywhere(module, [x], weights=weights)
            np.testing.assert_array_equal(result, -x if h is None else h)


def test_a_result_that_a_run_decides_is_a_bool_and_a_value(tmp_path: Path) -> None:
    text = f"""{FUNCTIONS}
fn f<T: Float>(x: T, v: Tensor[3; T]) -> Tensor[3; T]? {{
    return if x > 0.0 {{ some(v) }} else {{ none }}
}}
"""
    module = source(tmp_path, text).function("f", {"T": "f32"})
    there, value = everywhere(module, [F32(1), V])
    assert bool(there) and value.tolist() == V.tolist()
    there, value = everywhere(module, [F32(-1), V])
    assert not there and value.tolist() == [0, 0, 0]
