"""Values of another type than is asked for: the help says what to write, and that is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic

HEAD = """module m
fn rows<P: Dim>(at: Tensor[P; i32]) -> i32 { return 0 }
fn mask<Q: Dim, K: Dim>() -> Tensor[Q, K; bool] { return fill([Q, K], true) }
fn table<P: Dim, D: Dim, T: Float>(at: Tensor[P; i32]) -> Tensor[P, D; T] {
    return fill([P, D], 0.0)
}
fn padded<B: Dim, W: Dim, P: Dim>(x: Tensor[B, W; f32]) -> Tensor[B, W + P; f32] {
    return concat(x, fill<f32>([B, P], 0.0), axis = 1)
}
fn matrix<M: Dim, K: Dim>(x: Tensor[M, K; f32]) -> i32 { return 0 }
fn f<B: Dim, Q: Dim, K: Dim, *S: Shape>(
    x: Tensor[B, K; f32], m: Tensor[B, K; bool], v: Tensor[K; f32], w: Tensor[*S, K; f32], n: i32,
) -> i32 {
"""


def findings(folder: Path, statement: str) -> list[Diagnostic]:
    path = folder / "m.linnet"
    path.write_text(f"{HEAD}    {statement}\n    return 0\n}}\n")
    return [f for f in check_paths([path]).sink if f.severity == "error"]


# What is written, the code, the help, and what is accepted instead.
REWRITTEN = [
    ("rows(iota(K))", "E2103", "write `iota<i32>(K)`", "rows(iota<i32>(K))"),
    ("rows(n)", "E2101", "a tensor of it is `fill<i32>([1], n)`", "rows(fill<i32>([1], n))"),
    ("rows([n])", "E2101", "a tensor of one number is `fill([1], n)`", "rows(fill([1], n))"),
    ("iota(K) <= n", "E2103", "write `iota<i32>(K)`", "iota<i32>(K) <= n"),
    ("n * iota(K)", "E2103", "write `iota<i32>(K)`", "n * iota<i32>(K)"),
    ("min(iota(K), n)", "E2103", "write `iota<i32>(K)`", "min(iota<i32>(K), n)"),
    ("x * n", "E2103", "convert one side: `cast<f32>(n)`", "x * cast<f32>(n)"),
    ("mask(B, K)", "E2102", "its generics stand in `<>`: `mask<B, K>()`", "mask<B, K>()"),
    (
        "table(iota<i32>(B))",
        "E2110",
        "write the generic arguments: `table<B, ?, ?>(...)`",
        "table<B, 4, f32>(iota<i32>(B))",
    ),
    (
        "padded<2>(x)",
        "E2110",
        "write the generic arguments: `padded<B, K, ?>(...)`",
        "padded<B, K, 2>(x)",
    ),
    (
        "padded<B, K, 2, f32>(x)",
        "E2111",
        "they are `<B, W, P>`, in this order",
        "padded<B, K, 2>(x)",
    ),
]


@pytest.mark.parametrize(
    ("value", "code", "help", "instead"), REWRITTEN, ids=[r[0] for r in REWRITTEN]
)
def test_a_value(tmp_path: Path, value: str, code: str, help: str, instead: str) -> None:
    (finding,) = findings(tmp_path, f"let y = {value}")
    assert (finding.code, finding.help) == (code, help)
    assert findings(tmp_path, f"let y = {instead}") == []


DECLARED = [
    (
        "Tensor[B, Q, K; bool]",
        "m",
        "say which axes it has, and repeat it",
        "[B, 1, K]), [B, Q, K])",
    ),
    ("Tensor[B, K; f32]", "v", "repeat it", "`broadcast_to(v, [B, K])`"),
    ("Tensor[1, K; f32]?", "v", "it has as many elements", "`some(reshape(v, [1, K]))`"),
    ("Tensor[K; f32]?", "v", "wrap it", "`some(v)`"),
    ("f32?", "n", "wrap it", "`some(cast<f32>(n))`"),
    ("Tensor[K; f32]", "n", "a tensor of it is", "`fill<f32>([K], cast<f32>(n))`"),
]


@pytest.mark.parametrize(("type_", "value", "said", "written"), DECLARED)
def test_a_declared_type(tmp_path: Path, type_: str, value: str, said: str, written: str) -> None:
    (finding,) = findings(tmp_path, f"let y: {type_} = {value}")
    help_ = finding.help or ""
    assert help_.startswith(said) and help_.rstrip("`").endswith(written.rstrip("`"))
    assert findings(tmp_path, f"let y: {type_} = {help_.split('`')[1]}") == []


def test_a_filled_part_takes_the_dtype_of_the_others(tmp_path: Path) -> None:
    joined = "    let y = concat(zeros, v, axis = 0)"
    (finding,) = findings(tmp_path, f"let zeros = fill([K], 0.0)\n{joined}")
    assert finding.code == "E2103" and "`fill<f32>(...)`" in (finding.help or "")
    assert findings(tmp_path, f"let zeros = fill<f32>([K], 0.0)\n{joined}") == []


def test_a_local_is_no_dimension(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, "let size = 2 * (K + 1)\n    let y = fill<f32>([size], 0.0)")
    assert (finding.code, finding.help) == ("E2123", "write what it is: `2 * K + 2`")
    assert findings(tmp_path, "let y = fill<f32>([2 * K + 2], 0.0)") == []
    (finding,) = findings(tmp_path, "let y = fill<f32>([n], 0.0)")
    assert finding.code == "E2123" and "generic" in (finding.help or "")


def test_a_pack_is_not_two_axes(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, "let y = matrix(w)")
    assert finding.code == "E2202"
    assert finding.span is not None and finding.span.text == "w"


def test_what_follows_from_an_assignment_that_does_not_fit_is_silent(tmp_path: Path) -> None:
    wrong = "var y = x\n    y = reshape(x, [B * K])\n    let z: Tensor[B * K; f32] = y"
    (finding,) = findings(tmp_path, wrong)
    assert finding.code == "E2109"
    assert findings(tmp_path, wrong.replace("var y = x\n    y =", "let y =")) == []


def test_positions_in_a_tensor_are_taken_one_at_a_time(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, "let at = iota(B)\n    let y = v[at]")
    help_ = "take one at a time: `let y[i] = x[at[i]]`"
    assert (finding.code, finding.help) == ("E2209", help_)
    assert findings(tmp_path, "let at = iota(B)\n    let y[i] = v[at[i]]") == []
