"""Comments are kept, with their places, and documentation finds what it documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.docs import documentation
from linnet.syntax.lexer import lex
from tests.syntax.test_roundtrip import sources


def comments(text: str) -> list[tuple[str, str]]:
    lexed = lex(SourceFile("test.linnet", text), Sink())
    return [(c.kind, text[c.start : c.end]) for c in lexed.comments]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("// a", "line"),
        ("//", "line"),
        ("/// a", "doc"),
        ("///", "doc"),
        ("//// a", "line"),
        ("/* a */", "block"),
        ("/* a /* b */ c */", "block"),
        ("/** a\n * b */", "doc"),
        ("/**/", "block"),
        ("/*** a */", "block"),
    ],
)
def test_the_kinds_of_comments(text: str, kind: str) -> None:
    assert comments(f"let x {text}\n= 1") == [(kind, text)]


def test_comments_are_kept_in_order() -> None:
    text = "// a\nmodule m /* b */ /// c\nconst x = 1 // d"
    assert comments(text) == [
        ("line", "// a"),
        ("block", "/* b */"),
        ("doc", "/// c"),
        ("line", "// d"),
    ]
    assert comments('let x = "// no comment"') == []


@pytest.mark.parametrize("path", sources(), ids=lambda p: p.name)
def test_tokens_and_comments_hold_all_of_a_text_but_white_space(path: Path) -> None:
    file = SourceFile(str(path), path.read_text("utf-8"))
    lexed = lex(file, Sink())
    at = 0
    for start, end in sorted((x.start, x.end) for x in [*lexed.tokens, *lexed.comments]):
        assert start >= at and not file.text[at:start].strip()
        at = end
    assert not file.text[at:].strip()


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("/// one\n  /// two", "one\ntwo"),
        ("///  indented  ", " indented"),
        ("/** one */", "one"),
        ("/**\n * one\n *   two\n */", "one\n  two"),
        ("/// one\n// not this\n/** two */", "one\ntwo"),
        ("///", ""),
    ],
)
def test_what_documentation_says(comment: str, said: str) -> None:
    text = f"fn f {comment}\n x"
    assert documentation(text, lex(SourceFile("t.linnet", text), Sink())) == {
        text.rindex("x"): said
    }


def test_documentation_before_nothing_is_a_comment() -> None:
    text = "module m\n/// nothing follows"
    lexed = lex(SourceFile("t.linnet", text), Sink())
    assert documentation(text, lexed) == {}
    assert [c.kind for c in lexed.comments] == ["doc"]
