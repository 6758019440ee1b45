"""What a finding says of a relation that is not provable is the same wherever it is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic

# Each asks for `N == M`, or for what can never hold, in its own way.
USES = {
    "E2201": "let y[i] = a[i] * b[i]  return y",
    "E2202": "let y: Tensor[{0}; f32] = b  return y",
    "E2203": "return reshape(b, [{0}])",
    "E2206": "return same<{0}, {1}>(a)",
    "E2207": "return a + b",
}


def finding(folder: Path, code: str, first: str, second: str) -> Diagnostic:
    text = f"""
module m

fn same<A: Dim, B: Dim>(x: Tensor[A; f32]) -> Tensor[A; f32] where A == B {{ return x }}

pub fn f<N: Dim, M: Dim>(a: Tensor[{first}; f32], b: Tensor[{second}; f32]) -> Tensor[{first}; f32]
where
    N > 3
{{
    {USES[code].format(first, second)}
}}
"""
    path = folder / "m.linnet"
    path.write_text(text)
    (found,) = check_paths([path]).sink
    assert found.code == code
    return found


@pytest.mark.parametrize("code", USES)
def test_a_relation_that_may_hold(tmp_path: Path, code: str) -> None:
    found = finding(tmp_path, code, "N", "M")
    said = "\n".join((found.message, *found.notes))
    relation = "M == N" if "`M == N`" in said else "N == M"
    assert f"`{relation}`" in said and "not provable" in said
    assert "it is false when M = 1, N = 4" in said or "it is false when N = 4, M = 1" in said
    assert "assumed here: N > 3" in said
    assert found.help == f"if it always holds, state it: `where {relation}`"


@pytest.mark.parametrize("code", USES)
def test_a_relation_that_never_holds(tmp_path: Path, code: str) -> None:
    found = finding(tmp_path, code, "N", "N + 1")
    said = "\n".join((found.message, *found.notes))
    assert "can never hold" in said
    assert "where" not in (found.help or "")


OF_CALLEE = """\
module m
fn linear<N: Dim, M: Dim>(x: Tensor[N, M; f32]) -> f32 where M > N {{ return 1.0 }}
fn counts<T: Float, N: Dim>(x: Tensor[N; f32]) -> f32 {{ return 1.0 }}
fn f<N: Dim, T: Float>(x: Tensor[3, N; f32], y: Tensor[N, 3; f32]) -> f32 {{
    return {}
}}
"""


@pytest.mark.parametrize(
    ("use", "code", "message"),
    [
        (
            "linear(x)",
            "E2206",
            "`M > N` is required here for `N` of `linear` = 3, `M` of `linear` = N: "
            "`N > 3` is not provable",
        ),
        (
            "counts<f32, N - 1>(x[0, :])",
            "E2206",
            "the generic `N` of `counts` is `N - 1`, not provably a dimension",
        ),
        ("counts(x[0, :])", "E2110", "`T` of `counts` cannot be inferred from the arguments"),
        ("counts<i32>(x[0, :])", "E2112", "`T` of `counts` is of the kind Float, and `i32` is not"),
        ("counts<3>(x[0, :])", "E2111", "`T` of `counts` takes a dtype"),
    ],
)
def test_a_generic_of_another_item_that_has_a_name_of_this_one(
    tmp_path: Path, use: str, code: str, message: str
) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(OF_CALLEE.format(use))
    (found,) = check_paths([path]).sink
    assert (found.code, found.message) == (code, message)


def test_a_generic_whose_name_means_nothing_else_here(tmp_path: Path) -> None:
    head, body = OF_CALLEE.format("linear(y)").split("fn f")
    path = tmp_path / "m.linnet"
    path.write_text(f"{head}fn f{body.replace('N', 'K')}")
    (found,) = check_paths([path]).sink
    assert found.message == "`M > N` is required here for M = 3: `3 > K` is not provable"
