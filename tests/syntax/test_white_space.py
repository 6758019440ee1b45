"""White space carries no meaning: a file may be on one line, with no more spaces than it needs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.lexer import lex
from tests.syntax.dump import dump, good
from tests.syntax.test_roundtrip import sources


def words(text: str) -> list[str]:
    return [t.text for t in lex(SourceFile("test.linnet", text), Sink()).tokens]


def glued(parts: list[str]) -> str:
    """The words with a space only between two that are read as others without; the `>` of
    generics and a `=` need none."""
    text = parts[0]
    for a, b in pairwise(parts):
        apart = words(a + b) != [a, b] and (a, b) != (">", "=")
        text += f" {b}" if apart else b
    return text


@pytest.mark.parametrize("path", sources(), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_shipped_sources_on_one_line(path: Path) -> None:
    parts = words(path.read_text("utf-8"))
    apart = dump(good("\n".join(parts)))
    assert dump(good(" ".join(parts))) == apart
    assert dump(good(glued(parts))) == apart


@pytest.mark.parametrize(
    ("text", "spaced"),
    [
        ("type Pair<N: Dim>= B<N>", "type Pair<N: Dim> = B<N>"),
        ("type Two<N: Dim = 1 + 1>= B<N>", "type Two<N: Dim = 1 + 1> = B<N>"),
        (
            "type A = B<2> pub fn f() -> i32 { return 1 }",
            "type A = B<2>\npub fn f() -> i32 {\nreturn 1\n}",
        ),
        ("const A: B<2>= 1 const C = 3", "const A: B<2> = 1\nconst C = 3"),
        (
            "block C<N: Dim> { sub a: B<N> sub b: B<N> }",
            "block C<N: Dim> {\nsub a: B<N>\nsub b: B<N>\n}",
        ),
        (
            "block C<N: Dim> { sub a: B<N> pub fn f() -> i32 { return 1 } }",
            "block C<N: Dim> {\nsub a: B<N>\npub fn f() -> i32 {\nreturn 1\n}\n}",
        ),
    ],
)
def test_a_type_with_generic_arguments_ends_like_any_other(text: str, spaced: str) -> None:
    assert dump(good(f"module m {text}")) == dump(good(f"module m\n{spaced}\n"))
