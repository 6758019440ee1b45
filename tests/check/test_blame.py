"""What several findings have to do with each other, beyond what a golden case can mark."""

from __future__ import annotations

from pathlib import Path

from linnet.pipeline import check_paths

CIRCLE = """\
module circle

pub fn f<D: Dim>(x: Tensor[D; f32]) -> Tensor[D; f32]
where
    D % 2 == 0
{
    return g(x)
}

fn g<D: Dim>(x: Tensor[D; f32]) -> Tensor[D; f32]
where
    D % 3 == 0
{
    return f(x)
}
"""


def test_two_that_blame_each_other_are_not_both_excused(tmp_path: Path) -> None:
    source = tmp_path / "circle.linnet"
    source.write_text(CIRCLE)
    # A single path is as good as a list of one.
    found = [d.code for d in check_paths(str(source)).sink]
    assert found == ["E2206", "E2119"]
