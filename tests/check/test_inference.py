"""What is said where a generic would follow from a product of the signature, but for one thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths

SPLIT = """module m
fn split<A: Dim, B: Dim>(ab: Tensor[A * B; f32], a: Tensor[A; f32]) -> Tensor[A, B; f32]
where A > 0 {
    return reshape(ab, [A, B])
}
"""
WRITE = "write the generic arguments: `split<{}, ?>(...)`"


@pytest.mark.parametrize(
    ("generics", "ab", "a", "note", "help_"),
    [
        ("", "12", "5", "no `B` makes `5 * B` equal to `12`", None),
        ("<N: Dim>", "12", "N", "which gives `B` where `N > 0`", WRITE.format("N")),
        ("<N: Dim>", "N", "5", "which gives `B` where `N % 5 == 0`", WRITE.format("5")),
    ],
)
def test_says_what_is_not_provable(
    tmp_path: Path, generics: str, ab: str, a: str, note: str, help_: str | None
) -> None:
    head = f"pub fn f{generics}(ab: Tensor[{ab}; f32], a: Tensor[{a}; f32]) -> f32"
    use = f"{head} {{\n    let y = split(ab, a)\n    return y[0, 0]\n}}\n"
    path = tmp_path / "m.linnet"
    path.write_text(SPLIT + use)
    (finding,) = check_paths([path]).sink
    assert (finding.code, finding.help) == ("E2110", help_)
    (found,) = finding.notes
    assert note in found
