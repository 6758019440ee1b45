"""What a name means, in programs that get several codes, marked as golden programs are."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.render import render_text
from tests.golden.marks import marked, marks_of, write_marks

PROGRAMS = sorted((Path(__file__).parent / "names").iterdir())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_gets_what_it_marks(program: Path) -> None:
    sink = check_paths([program]).sink
    found = marks_of(sink)
    write_marks(program, found)
    assert found == marked(program), "\n".join(render_text(d) for d in sink)
    assert found


def check(path: Path, text: str) -> list[tuple[str, str]]:
    path.write_text(f"module m\n{text}\n", "utf-8")
    return [(d.code, d.help or "") for d in check_paths([path]).sink]


def test_a_missing_item_is_looked_for_in_its_module(tmp_path: Path) -> None:
    """A name of the file that asks is no suggestion, nor is one that is private there."""
    source = tmp_path / "src"
    source.mkdir()
    head = '[package]\nname = "m"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    (tmp_path / "linnet.toml").write_text(head, "utf-8")
    (source / "lib.linnet").write_text("module m\n", "utf-8")
    (source / "c.linnet").write_text("module m.c\npub const Width = 2\nconst Widely = 3\n", "utf-8")
    use = "use crate.c\nconst Widthx = 4\npub fn f(x: Tensor[{}; f32]) -> f32 {{ return 0.0 }}"
    found = {
        name: check(source / "lib.linnet", use.format(name))
        for name in ["c.Widthe", "c.Widelyy", "c.Widthx"]
    }
    assert found == {
        "c.Widthe": [("E1201", "did you mean `Width`?")],
        "c.Widelyy": [("E1201", "")],
        "c.Widthx": [("E1201", "did you mean `Width`?")],
    }


def test_a_dtype_that_is_called_converts(tmp_path: Path) -> None:
    found = check(tmp_path / "m.linnet", "pub fn f(x: f32) -> f16 { return f16(x) }")
    assert found == [("E2106", "`cast<f16>(x)` converts")]


def test_a_member_is_not_the_first_where_it_comes_second(tmp_path: Path) -> None:
    """Of two that have one name, a member is the one that counts."""
    path = tmp_path / "m.linnet"
    block = "block B {{ {0} fn h(x: f32) -> f32 {{ return x }} {1} }}"
    labels: list[str] = []
    for before, after in [("param h: f32", ""), ("", "param h: f32")]:
        path.write_text("module m\n" + block.format(before, after), "utf-8")
        (found,) = check_paths([path]).sink
        assert found.code == "E1205" and found.span is not None
        assert found.span.text == "h" and found.span.start == path.read_text().index("fn h") + 3
        labels += [related.label for related in found.related]
    assert labels == ["the first", "the member"]
