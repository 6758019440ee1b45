"""Names of other languages are undeclared, and the help says how it is said here."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic
from tests.syntax.test_robustness import calls_made


@pytest.mark.parametrize(
    ("body", "type_", "help"),
    [
        ("let _y: f32? = None return x", "f32", "`none`"),
        ("let _y = True return x", "f32", "`true`"),
        ("let _y = len(x) return x", "f32", "part of the type"),
        ("let _y = range(3) return x", "f32", "static for"),
        ("return x", "Option<f32>", "`T?`"),
        ("return x", "Tensor", "`Tensor[N; f32]`"),
        ("return x", "Tensor<f32, 3>", "`Tensor[N; f32]`"),
        ("return x", "usize", "`i64`"),
        ("return x", "str", "no strings"),
    ],
)
def test_the_way_out(tmp_path: Path, body: str, type_: str, help: str) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(f"module m\npub fn f(x: {type_}) -> {type_} {{ {body} }}\n")
    found = list(check_paths([path]).sink)
    assert [f.code for f in found] == ["E1201"]
    assert help in (found[0].help or "")


# What is tried, and of its help a part that can be written as it stands.
FUNCTIONS = [
    ("flip(x)", "let y[i] = x[N - 1 - iota<i64>(N)[i]]"),
    ("roll(x, 1)", "concat(x[N - 1:N], x[0:N - 1], axis = 0)"),
    ("repeat(x, 2)", "concat(x, x, axis = 0)"),
    ("repeat_interleave(x, 2)", "let y[i] = x[iota<i64>(2 * N)[i] / 2]"),
    ("trunc(x)", "cast<f32>(cast<i64>(x))"),
    ("floor(x)", "cast<f32>(cast<i64>(x))"),
    ("torch.ceil(x)", "cast<f32>(cast<i64>(x))"),
    ("torch.linalg.norm(x)", "let y = sqrt(sum[i] x[i] * x[i])"),
    ("logsumexp(x)", "log(sum[i] exp(x[i] - top)) + top"),
    ("one_hot(ids, N)", "let y[i, j] = cast<f32>(ids[i] == iota<i64>(N)[j])"),
    ("std(d)", "(sum[i] d[i] * d[i]) / N"),
]


@pytest.mark.parametrize(("habit", "written"), FUNCTIONS, ids=[h for h, _ in FUNCTIONS])
def test_a_function(tmp_path: Path, habit: str, written: str) -> None:
    (finding,) = function(tmp_path, f"let y = {habit}")
    assert finding.code == "E1201"
    assert f"`{written}`" in (finding.help or "")
    assert function(tmp_path, written if written.startswith("let") else f"let y = {written}") == []


def function(folder: Path, statement: str) -> list[Diagnostic]:
    path = folder / "m.linnet"
    path.write_text(
        "module m\npub fn f<N: Dim>(x: Tensor[N; f32], d: Tensor[N; f32], ids: Tensor[N; i64], "
        f"top: f32) -> f32\nwhere N > 0 {{\n    {statement}\n    return x[0]\n}}\n"
    )
    return [f for f in check_paths([path]).sink if f.severity == "error"]


@pytest.mark.parametrize(
    ("habit", "help"),
    [
        ("split(x, 2)", "write it as an index: `x[a:b]`"),
        ("dropout(x, 0.1)", "leave it out: a model that runs drops nothing"),
        ("F.gelu(x)", "`use std.nn.activations::{gelu_erf}`, which PyTorch means"),
        ("gelu(x)", "`use std.nn.activations::{gelu_erf}`, which PyTorch means"),
        ("randn(N)", "`use std.random::{normal}`: random numbers come from a key"),
        ("sort(x)", "`use std.nn.decoding::{top_k}`"),
        ("interpolate(x)", "`use std.nn.resize::{upsample_nearest2d}`"),
        ("erf(x)", "`use std.special::{erf}`"),
    ],
)
def test_what_the_library_calls_otherwise(tmp_path: Path, habit: str, help: str) -> None:
    (finding,) = function(tmp_path, f"let y = {habit}")
    assert help in (finding.help or "")


@pytest.mark.parametrize(
    ("value", "help"),
    [
        ("(a < b, c > (b))", "parenthesize the comparisons"),
        ("(a\n(b) > c, true)", "continues the one before it"),
    ],
)
def test_a_call_that_was_not_meant(tmp_path: Path, value: str, help: str) -> None:
    path = tmp_path / "m.linnet"
    head = "module m\npub fn f(a: i32, b: i32, c: i32) -> (bool, bool)"
    path.write_text(f"{head} {{ return {value} }}\n")
    found = list(check_paths([path]).sink)
    assert [f.code for f in found] == ["E2106"]
    assert help in (found[0].help or "")
    path.write_text(f"{head} {{ return ((a < b), c > (b)) }}\n")
    assert list(check_paths([path]).sink) == []


def test_many_unknown_names_are_not_compared_with_all_others(tmp_path: Path) -> None:
    path = tmp_path / "m.linnet"

    def work(count: int) -> int:
        lines = [f"fn function_{i}() -> i32 {{ return functoin_{i} }}" for i in range(count)]
        path.write_text("module m\n" + "\n".join(lines))
        return calls_made(lambda: check_paths([path]))

    work(100)
    assert work(600) / work(300) < 2.2


IMPORTS = [
    ("fn f(x: f32) -> f32 { return gelu(x) }", "gelu", "`use std.nn.activations::{gelu}`"),
    ("fn f(x: f32) -> f32 { return gelu_er(x) }", "gelu_er", "`gelu_erf`: `use std.nn.activ"),
    ("fn f(x: f32) -> f32 { return ReLU(x) }", "ReLU", "`use std.nn.activations::{relu}`"),
    ("block B { sub a: Linear<2, 3> }", "Linear", "`use std.nn.linear::{Linear}`"),
    ("block B { sub a: RMSNorm<2> }", "RMSNorm", "`use std.nn.norm::{RmsNorm}`"),
    ("block B { sub a: nn.Linear<2, 3> }", "nn", "`use std.nn.linear::{Linear}`"),
    ("block B { sub a: torch.nn.Linear<2, 3> }", "torch", "`use std.nn.linear::{Linear}`"),
    ("fn f(x: f32) -> f32 { return F.softmax(x) }", "F", "`use std.nn.softmax::{softmax}`"),
    ("fn f(x: f32) -> f32 { return torch.exp(x) }", "torch", "needs no import: `exp(...)`"),
    ("fn f(x: f32) -> f32 { return math.sqrt(x, True) }", "math", "no import: `sqrt(...)`"),
    ("fn f(x: torch.float32) -> f32 { return x }", "torch", "the dtype is `f32`"),
    ("fn f(x: f32) -> f32 { return torch.zeros(4) }", "torch", "`fill<f32>([N], 0.0)`"),
    ("fn f(x: f32) -> f32 { return torch.matmul(x) }", "torch", "`use std.linalg::{matmul}`, or"),
    ("fn f(x: f32) -> f32 { return torch.nn.functional.gelu(x) }", "torch", "::{gelu}`"),
    ("fn f(x: f32) -> f32 { return x * math.pi }", "math", "`3.141592653589793`"),
]


@pytest.mark.parametrize(("item", "at", "help"), IMPORTS, ids=[i[0] for i in IMPORTS])
def test_what_the_library_has(tmp_path: Path, item: str, at: str, help: str) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(f"module m\n{item}\n")
    (found,) = check_paths([path]).sink
    assert found.code == "E1201"
    assert found.span is not None and found.span.text == at
    assert help in (found.help or "")


def test_what_another_module_of_the_package_has(tmp_path: Path) -> None:
    (tmp_path / "src" / "a").mkdir(parents=True)
    (tmp_path / "linnet.toml").write_text(
        '[package]\nname = "p"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    )
    (tmp_path / "src" / "a" / "b.linnet").write_text(
        "module p.a.b\n\npub fn twice(x: f32) -> f32 {\n    return x + x\n}\n"
    )
    (tmp_path / "src" / "lib.linnet").write_text(
        "module p\n\npub fn f(x: f32) -> f32 {\n    return twice(x)\n}\n"
    )
    (found,) = check_paths([tmp_path]).sink
    assert found.help == "`use crate.a.b::{twice}`"
