"""A mark says where a finding is: exactly, and so that a program keeps its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic
from linnet.source.files import SourceFile, Span
from tests.golden.marks import marked, marks_of, place_of, write_marks
from tests.golden.test_check import cases

PLACES = [
    ("return x + y //~ E2103", (11, 12), "`y`"),
    ("return x + x //~ E2103", (11, 12), "`x`#2"),
    ("return exp(x) //~ E2103", (11, 12), "`x`"),
    ("return exp(x) //~ E2103", (8, 9), "`x` cut out of a word"),
    ("aaa", (1, 2), "`a`#2 cut out of a word"),
    ("x == = y", (5, 6), "`=`#3"),
    ("`\r` \x1b", (0, 5), r"`\x60\x0d\x60 \x1b`"),
    ("let 日本 = 日本 //~ E1001", (4, 5), "`日`#1 cut out of a word"),
    ('"open //~ E1003 `open` to the end', (0, 33), r"`\x22open` to the end"),
    ("x //~ E1003 `", (0, 5), "`x` to the end and beyond"),
    ("f(\n  a, //~ E2101\n  b)", (1, 22), "`(` to +2 `b)`"),
    ("f(\n  a,\n  b)", (5, 11), "`a,` to +1 `b`"),
    ("f(\n  a,\n", (1, 8), "`(` to +2 ``"),
    ("x //~ E1003", (5, 7), "columns 6 to 8, behind all"),
]


@pytest.mark.parametrize(("text", "ends", "place"), PLACES)
def test_says_what_is_underlined(text: str, ends: tuple[int, int], place: str) -> None:
    assert place_of(Span(SourceFile("m", text), *ends)) == place


def beside(span: Span) -> Iterator[Span]:
    """The places that differ from a place by one column at an end, or by one at both."""
    for start in (span.start - 1, span.start, span.start + 1):
        for end in (span.end - 1, span.end, span.end + 1):
            there = Span(span.file, start, end)
            if there != span and 0 <= start <= end <= len(span.file.text):
                yield there


def test_no_other_place_has_the_same_mark() -> None:
    """Of every golden program, and where the ends of a place are moved by one column."""
    count = 0
    for case in cases():
        for finding in check_paths([case]).sink:
            span = finding.span
            assert span is not None
            line = span.file.position(span.start).line
            for other in beside(span):
                if span.file.position(other.start).line == line:
                    assert place_of(other) != place_of(span), (case.name, other.text)
                    count += 1
    assert count > 1500


def test_no_place_cuts_a_word() -> None:
    marks = [mark for case in cases() for *_, mark in marked(case)]
    assert len(marks) > 200 and not [mark for mark in marks if "cut out" in mark or "``" in mark]


def test_a_program_keeps_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line ends, bytes that are no text, a last line without an end, and what is marked already."""
    path = tmp_path / "m.linnet"
    path.write_bytes(
        b"module m\r\n// \xff\xc3\xa9\nlet a = b\r\nlet c = d  //~ E1201 `c`\r\nlast e"
    )
    file = SourceFile(str(path), path.read_bytes().decode("utf-8", "replace"))
    found = [
        Diagnostic("E1201", "", Span(file, at, at + 1))
        for at in (file.text.index(t) for t in ("b\r", "\ufffd", "last"))
    ]
    monkeypatch.setenv("LINNET_GOLDEN", "write")
    write_marks(path, marks_of(found))
    assert path.read_bytes() == (
        b"module m\r\n// \xff\xc3\xa9 //~ E1201 `\xef\xbf\xbd`\nlet a = b //~ E1201 `b`\r\n"
        b"let c = d\r\nlast e //~ E1201 `l` cut out of a word"
    )
    assert marked(path) == marks_of(found)
