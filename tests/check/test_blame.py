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


METHOD = """\
module method

block B<S: Dim> {
    param w: Tensor[S; f32]

    // `forward` is named here, so that it is checked first.
    fn head<N: Dim>(x: Tensor[N; f32]) -> f32 where N > 3 {
        let forward = x[0] + w[3]
        return forward
    }

    pub entry forward() -> f32 {
        return head(w)
    }
}
"""
NUMBERS = """\
module numbers

block Even<K: Dim> where K % 2 == 0 {
    param w: Tensor[K; f32]

    pub fn forward() -> Tensor[K; f32] {
        return w * w[4]
    }
}

block Odd<K: Dim> where K % 2 == 1 {
    param w: Tensor[K; f32]

    pub fn forward() -> Tensor[K; f32] {
        return w
    }
}

block Model<D: Dim> {
    sub even: Even<D>
    sub more: Even<7>
    sub odd: Odd<D>
    sub less: Odd<6>

    pub entry forward() -> Tensor[D; f32] {
        return odd.forward()
    }
}
"""


def findings(tmp_path: Path, text: str) -> list[tuple[str, int]]:
    source = tmp_path / "source.linnet"
    source.write_text(text)
    spans = [(d.code, d.span) for d in check_paths([source]).sink]
    return [(code, s.file.position(s.start).line) for code, s in spans if s is not None]


def test_what_a_method_asks_is_not_excused_by_what_it_is_asked_for(tmp_path: Path) -> None:
    """The second finding is the first further on: without the first, nothing would be left."""
    assert findings(tmp_path, METHOD) == [("E2206", 13)]


def test_items_with_a_mistake_of_their_own_excuse_only_uses_of_them(tmp_path: Path) -> None:
    """`Even` reads an element that it may not have, and so may be wrong about `K` altogether."""
    assert findings(tmp_path, NUMBERS) == [("E2209", 7), ("E2206", 22), ("E2206", 23)]


def test_two_that_blame_each_other_are_not_both_excused(tmp_path: Path) -> None:
    source = tmp_path / "circle.linnet"
    source.write_text(CIRCLE)
    # A single path is as good as a list of one.
    found = [d.code for d in check_paths(str(source)).sink]
    assert found == ["E2206", "E2119"]
