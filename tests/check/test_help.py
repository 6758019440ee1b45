"""The way out that a finding names, for mistakes that come from other languages' habits."""

from __future__ import annotations

import re
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
    ("fn f(x: Tensor[4; f32]) -> Tensor[4; f32] { return x.T }", "E2107", "write `x`"),
    (
        "fn f(x: Tensor[2, 3; f32]) -> Tensor[3, 2; f32] { return x.T }",
        "E2107",
        "write `permute(x, [1, 0])`",
    ),
    (
        "use std.random\nfn f() -> Tensor[2; i64] { return random.key(7) }",
        "E1201",
        "`7 * iota<i64>(2)`",
    ),
    ("use std.random::{PRNGKey}", "E1201", "a key is an argument, `key: Tensor[2; i64]`"),
    ("use std.nn.linear::{Dropout}", "E1201", "drops nothing"),
    ("use std.nn.linear::{linearr}", "E1201", "did you mean `linear`?"),
    ("use std.nn.linear::{Linearr}", "E1201", "did you mean `Linear`?"),
    ("use std.nn.linear::{softmax}", "E1201", "`use std.nn.softmax::{softmax}`"),
    ("use std.nn.dropout", "E1202", "there is none: leave it out"),
    ("use std.nn.dropout::{Dropout}", "E1202", "there is none: leave it out"),
    ("use std.nn.functional", "E1202", "each function is in a module of its own"),
    ("use std.nn.functional::{softmax}", "E1202", "did you mean `std.nn.softmax`?"),
    ("use std.nn.Softmax", "E1202", "did you mean `std.nn.softmax`?"),
    ("use std.nn.rms_norm", "E1202", "`use std.nn.norm::{rms_norm}`"),
    ("use std.nn.RMSNorm", "E1202", "`use std.nn.norm::{RmsNorm}`"),
    ("use std.xyz", "E1202", "the modules there: `std.linalg`, "),
    ("use std.nn.linaer", "E1202", "did you mean `std.nn.linear`?"),
    (
        "use std.nn.conv::{conv2d}\n"
        "fn f(x: Tensor[1, 8, 4, 4; f32], w: Tensor[8, 1, 3, 3; f32])"
        " -> Tensor[1, 8, 4, 4; f32] {\n"
        "    return conv2d<1, 8, 4, 4, 8, 3, 1, 1, f32>(x, w)\n}",
        "E2202",
        "`use std.nn.depthwise::{depthwise_conv2d}`",
    ),
    (
        "use std.nn.conv::{conv1d}\n"
        "fn f<C: Dim>(x: Tensor[1, C, 4; f32], w: Tensor[C, 1, 3; f32]) -> Tensor[1, C, 4; f32] {\n"
        "    return conv1d<1, C, 4, C, 3, 1, 1, f32>(x, w)\n}",
        "E2202",
        "`use std.nn.depthwise::{depthwise_conv1d}`",
    ),
    # Any other weight that does not fit is no filter for each channel.
    (
        "use std.nn.conv::{conv2d}\n"
        "fn f(x: Tensor[1, 8, 4, 4; f32], w: Tensor[4, 1, 3, 3; f32])"
        " -> Tensor[1, 4, 4, 4; f32] {\n"
        "    return conv2d<1, 8, 4, 4, 4, 3, 1, 1, f32>(x, w)\n}",
        "E2202",
        "`concat` adds what is missing",
    ),
    (
        "fn f(x: Tensor[2, 3; f32]) -> Tensor[3; f32] { return x }",
        "E2202",
        "an index drops an axis, as in `x[0, ...]`",
    ),
    (
        "fn f<N: Dim>(x: Tensor[3; f32]) -> Tensor[N, N; f32] { return x }",
        "E2202",
        "`reshape` adds axes of extent 1",
    ),
    (
        "fn f(x: Tensor[2, 5; f32]) -> Tensor[2, 3; f32] { return x }",
        "E2202",
        "a part of it is `x[:, 0:3]`",
    ),
    ("fn f() -> i8 { return 128 }", "E2105", "from -128 to 127; `i16` would hold it"),
    ("fn f() -> u8 { return -1 }", "E2105", "from 0 to 255; `i8` would hold it"),
    ("fn f() -> u64 { return 9223372036854775807 * 4 }", "E2105", "`u64` goes from 0 to 18"),
    ("fn f() -> f16 { return 1e6 }", "E2105", "up to 65504; `bf16` would hold it"),
    ("fn f() -> f32 { return 1e39 }", "E2105", "up to 3.40e38; `f64` would hold it"),
    ("fn f() -> bool { return 1 }", "E2105", "`true` and `false`"),
    ("fn f(x: Tensor[4; f32]) -> f32 { return x[4] }", "E2209", "the last one is `3`"),
    (
        "fn f(x: Tensor[4; f32]) -> Tensor[5; f32] { return x[0:5] }",
        "E2209",
        "at `4` at the latest",
    ),
    ("fn f(x: Tensor[4; f32]) -> Tensor[1; f32] { return x[2:1] }", "E2209", "upward: `1:2`"),
    ("fn f(x: Tensor[4; f32], i: f32) -> f32 { return x[i] }", "E2209", "`cast<i64>(i)`"),
    ("fn f(x: Tensor[4; f32]) -> Tensor[4; f32] { return x[::-1] }", "E2209", "goes from the end"),
    (
        "fn g(a: f32, b: f32) -> f32 { return a * b }\nfn f(x: f32) -> f32 { return g(x) }",
        "E2102",
        "give it one: `b = ...`",
    ),
    ("fn g() -> f32 { return 1.0 }\nfn f(x: f32) -> f32 { return g(x) }", "E2102", "no arguments"),
    (
        "struct S { a: f32  b: i32 }\nfn f(x: f32) -> S { return S { a: x } }",
        "E2102",
        "add it: `b: ...`, of type `i32`",
    ),
    (
        "fn g(a: f32, b: f32, c: f32) -> f32 { return a * b * c }\n"
        "fn f(x: f32) -> f32 { return g(b = x) }",
        "E2102",
        "give it one: `a = ...`",
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


def test_no_more_names_are_listed_than_one_reads(tmp_path: Path) -> None:
    """One call, value or `match` that lacks many things is one finding, of one line."""
    many = range(500)
    path = tmp_path / "m.linnet"
    path.write_text(
        f"""module m
struct S {{ {" ".join(f"a{i}: f32" for i in many)} }}
enum E {{ {", ".join(f"V{i}" for i in many)} }}
fn f({", ".join(f"p{i}: f32" for i in many)}) -> f32 {{ return p0 }}
fn call(x: f32) -> f32 {{ return f(x) }}
fn named(x: f32) -> f32 {{ return f(other = x) }}
fn value() -> S {{ return S {{}} }}
fn field(s: S) -> f32 {{ return s.other }}
fn arms(e: E) -> i64 {{ return match e {{ V0 => 0 }} }}
fn arm(e: E) -> i64 {{ return match e {{ other => 0 }} }}
"""
    )
    found = [*check_paths([path]).sink]
    assert [d.code for d in found] == ["E2102", "E2102", "E2102", "E2107", "E2118", "E2107"]
    for finding in found:
        assert len(finding.message) + len(finding.help or "") < 300
        assert re.search(r" and \d+ more", finding.message + (finding.help or ""))
