"""The work of a check grows as the source does."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.long_shapes import SHAPES
from linnet.pipeline import check_paths
from tests.syntax.test_robustness import calls_made

FUNCTION = """
pub fn step{i}<N: Dim>(x: Tensor[N; f32], y: Tensor[N; f32]) -> Tensor[N; f32] {{
    let a = exp(x) * 2.0 + y
    let b[n] = a[n] * x[n]
    return {result}
}}
"""


def test_checking_is_linear_in_the_number_of_functions(tmp_path: Path) -> None:
    def work(count: int) -> int:
        results = ["a + b", *(f"step{i}(a, b)" for i in range(count - 1))]
        text = "".join(FUNCTION.format(i=i, result=r) for i, r in enumerate(results))
        path = tmp_path / f"m{count}.linnet"
        path.write_text("module m\n" + text, "utf-8")

        def check() -> None:
            assert not list(check_paths([path]).sink)

        return calls_made(check)

    work(2)  # reads the tables
    assert work(120) / work(60) < 2.1


@pytest.mark.parametrize("shape", SHAPES)
def test_checking_is_near_linear_in_one_thing(tmp_path: Path, shape: str) -> None:
    """Twice as many cost less than 2.6 times as much, which four times for a square would not."""
    make, often = SHAPES[shape]

    def work(count: int) -> int:
        path = tmp_path / f"m{count}.linnet"
        path.write_text(make(count), "utf-8")

        def check() -> None:
            assert not list(check_paths([path]).sink)

        return calls_made(check)

    work(2)  # reads the tables
    count = often // 10
    assert work(2 * count) / work(count) < 2.6
