"""Generics that get longer by way of other generics."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.lower.module import lower_entry
from linnet.pipeline import check_paths
from linnet.source.errors import LinnetError

STEPS = 60


@pytest.mark.parametrize("what", ["functions", "blocks"])
def test_generics_that_grow_from_one_to_the_next_have_a_limit(tmp_path: Path, what: str) -> None:
    if what == "functions":
        step = "fn g{next}<N: Dim>() -> i64 {{ return g{at}<min(N / 3 + 1, 7 * N)>() }}"
        first, last = "fn g0<N: Dim>() -> i64 { return N }", "g{at}<N>()"
    else:
        step = (
            "block G{next}<N: Dim> {{ sub g: G{at}<min(N / 3 + 1, 7 * N)> "
            "pub fn f() -> i64 {{ return g.f() }} }}"
        )
        first, last = "block G0<N: Dim> { pub fn f() -> i64 { return N } }", "g.f()"
    steps = "\n".join(step.format(at=n, next=n + 1) for n in range(STEPS))
    sub = f"sub g: G{STEPS}<N>" if what == "blocks" else ""
    root = (
        f"pub block R<N: Dim> {{ {sub} pub entry f() -> i64 {{ return {last.format(at=STEPS)} }} }}"
    )
    path = tmp_path / "m.linnet"
    path.write_text(f"module m\n{first}\n{steps}\n{root}\n", "utf-8")
    checked = check_paths([path])
    assert checked.sink.errors == 0

    def present(path: str) -> bool:
        raise AssertionError(path)  # nothing is optional

    with pytest.raises(LinnetError) as refused:
        lower_entry(checked.program, "m::R", {}, "f", present)
    assert [d.code for d in refused.value.diagnostics] == ["E1104"]
    lower_entry(checked.program, "m::R", {"N": 12}, "f", present)
