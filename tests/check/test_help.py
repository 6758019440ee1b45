"""The way out that a finding names, for mistakes that come from other languages' habits."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths

MISTAKES = [
    ("fn f(x: float32) -> f32 { return x }", "E1201", "the dtype is `f32`"),
    ("fn f(x: int) -> i64 { return x }", "E1201", "the dtype is `i64`"),
    ("fn f(x: Tensor[N; f32]) -> i64 { return 0 }", "E1201", "declare it, `<N: Dim>`"),
    ("fn f(x: Tensor[4; f32]) -> f32 { return sum(x) }", "E1201", "`sum[i] x[b, i]`"),
    ("fn f(x: Tensor[4; f32]) -> f32 { return max(x, axis = 0) }", "E2102", "`max[i] x[b, i]`"),
    ("fn f(x: Tensor[4; f32]) -> f32 { return mean(x) }", "E1201", "`(sum[i] x[i]) / N`"),
    ("fn f(x: Tensor[4; f32]) -> f32 { return einsum(x, x) }", "E1201", "`sum[k] a[i, k]"),
    ("fn f(x: f32) -> f32 { return sqrtt(x) }", "E1201", "did you mean `sqrt`?"),
    ("fn f(a: i32, b: i32) -> bool { return a < b < b }", "E2103", "`a < b && b < c`"),
    (
        "fn f(x: Tensor[2, 3; f32]) -> Tensor[6; f32] { return reshape(x, [-1]) }",
        "E2208",
        "no extent is inferred",
    ),
    ("fn f(x: Tensor[4; f32]) -> f32 { return x[-1] }", "E2209", "`4 - 1`"),
    (
        "enum P { Mean, Cls }\nfn f(p: P) -> i64 { return match p { Max => 0 } }",
        "E2107",
        "Mean, Cls",
    ),
    ("enum P { A, B }\nfn f(p: P) -> bool { return p == P.A }", "E2104", "`match`"),
    (
        "fn f(x: f32) -> f32 {\n    var y = 0.0\n    y = y + x\n    return y * x\n}",
        "E2103",
        "made `y` `f64`: write `var y: f32 = ...`",
    ),
    (
        "fn f(x: f32) -> f32 {\n    var y = 0\n    y = x\n    return y\n}",
        "E2109",
        "made `y` `i64`: write `var y: f32 = ...`",
    ),
    (
        "fn f(x: Tensor[4; f32]) -> Tensor[4; f32] {\n    let y = fill([4], 1.0)\n"
        "    let z = max(y, x)\n    return y\n}",
        "E2103",
        "made `y` `Tensor[4; f64]`: write `fill<f32>(...)`",
    ),
    (
        "fn f(x: f32) -> f32 {\n    let y = 1.0\n    return y\n}",
        "E2103",
        "made `y` `f64`: write `let y: f32 = ...`",
    ),
    ("fn f(x: f32) -> f32 {\n    y = x\n    return y\n}", "E1201", "declare it: `let y = x`"),
    (
        "fn f(x: Tensor[4; f32]) -> Tensor[4; f32] {\n    y[i] = x[i]\n    return y\n}",
        "E1201",
        "declare it: `let y[i] = x[i]`",
    ),
    (
        "fn f(x: f32) -> f32 {\n    y = x\n    y = x + x\n    return y\n}",
        "E1201",
        "declare it: `var y = x`",
    ),
    (
        "fn f(x: f32) -> f32 {\n    static for i in 0..3 {\n        y = x\n    }\n    return y\n}",
        "E1201",
        "declare it: `var y = x`",
    ),
    (
        "fn f(x: f32) -> f32 {\n    static for i in 0..3 {\n        y = x\n    }\n    return x\n}",
        "E1201",
        "declare it: `let y = x`",
    ),
    ("fn f(x: f32) -> f32 {\n    x = x + x\n    return x\n}", "E2108", "begin with `var x = x`"),
    (
        "fn f(x: f32) -> f32 {\n    let (a, b) = (x, x)\n    a = b\n    return a\n}",
        "E2108",
        "begin with `var a = a`",
    ),
    (
        "fn f(x: f32) -> f32 {\n    let a = x\n    a = x\n    return a\n}",
        "E2108",
        "declare it with `var`",
    ),
    (
        "block B {\n    param w: f32\n    pub fn f() -> f32 {\n        w = w + w\n"
        "        return w\n    }\n}",
        "E2108",
        "what a block keeps is a `state`",
    ),
    ("fn f(x: Tensor[4; f32]?) -> Tensor[4; f32] { return x }", "E2101", "`match x {"),
    ("fn f(x: Tensor[4; f32]) -> i64 { return x.shape }", "E2107", "the generics that name them"),
]


@pytest.mark.parametrize(("text", "code", "way_out"), MISTAKES, ids=lambda v: str(v)[:60])
def test_names_the_way_out(tmp_path: Path, text: str, code: str, way_out: str) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(f"module m\n{text}\n")
    (finding,) = check_paths([path]).sink
    assert finding.code == code
    assert finding.help is not None and way_out in finding.help
