"""Names of other languages are undeclared, and the help says how it is said here."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
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
