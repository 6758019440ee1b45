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
