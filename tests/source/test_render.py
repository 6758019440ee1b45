from __future__ import annotations

import json

from linnet.source.diagnostics import Diagnostic, Related
from linnet.source.files import SourceFile, Span
from linnet.source.render import render_json, render_text, summary_line

TEXT = "module m\n\nfn f() -> i32 {\n\tlet a = b + c\n    return a\n}\n"


def span(file: SourceFile, what: str, nth: int = 0) -> Span:
    at = -1
    for _ in range(nth + 1):
        at = file.text.index(what, at + 1)
    return Span(file, at, at + len(what))


def test_a_span_on_one_line_with_a_tab_before_it() -> None:
    file = SourceFile("src/m.linnet", TEXT)
    finding = Diagnostic(
        "E2103",
        "dtypes differ",
        span(file, "b + c"),
        "`+` needs one dtype",
        (Related(span(file, "c", 0), "this is bf16"),),
        ("a note\nof two lines",),
        "cast<f32>(c)",
    )
    assert render_text(finding) == (
        "error[E2103]: dtypes differ\n"
        " --> src/m.linnet:4:10\n"
        "  |\n"
        "4 |     let a = b + c\n"
        "  |             ^^^^^ `+` needs one dtype\n"
        "  |                 - this is bf16\n"
        "  = note: a note\n"
        "          of two lines\n"
        "  = help: cast<f32>(c)\n"
    )


def test_a_span_over_lines_is_shortened() -> None:
    file = SourceFile("m.linnet", "module m\nfn f()\n  a\n  b\n  return x\n")
    finding = Diagnostic("E2120", "no", Span(file, 9, file.text.index("return") + 6), "here")
    assert render_text(finding) == (
        "error[E2120]: no\n"
        " --> m.linnet:2:1\n"
        "  |\n"
        "2 | fn f()\n"
        "  | ^^^^^^\n"
        "...\n"
        "5 |   return x\n"
        "  |   ^^^^^^ here\n"
    )


def test_a_span_that_ends_with_the_line_end_stays_on_its_line() -> None:
    file = SourceFile("m.linnet", "module m\nfn\n")
    finding = Diagnostic("E1101", "no", Span(file, 0, 9), "all of it")
    assert render_text(finding).splitlines()[3:] == ["1 | module m", "  | ^^^^^^^^ all of it"]


def test_another_file_has_its_own_snippet() -> None:
    one, two = SourceFile("a.linnet", "module a\n"), SourceFile("b.linnet", "module b\n")
    finding = Diagnostic(
        "E1206", "cycle", Span(one, 7, 8), related=(Related(Span(two, 7, 8), "and here"),)
    )
    assert render_text(finding) == (
        "error[E1206]: cycle\n"
        " --> a.linnet:1:8\n"
        "  |\n"
        "1 | module a\n"
        "  |        ^\n"
        " ::: b.linnet:1:8\n"
        "  |\n"
        "1 | module b\n"
        "  |        - and here\n"
    )


def test_the_end_of_an_empty_file_can_be_marked() -> None:
    file = SourceFile("e.linnet", "")
    assert render_text(Diagnostic("E1102", "empty", Span(file, 0, 0))) == (
        "error[E1102]: empty\n --> e.linnet:1:1\n  |\n1 |\n  | ^\n"
    )


def test_without_a_span_only_the_words_remain() -> None:
    finding = Diagnostic("E5003", "no such file", None, help="give a folder")
    assert render_text(finding) == "error[E5003]: no such file\n  = help: give a folder\n"


def test_what_could_steer_a_terminal_is_replaced() -> None:
    file = SourceFile("x.linnet", "// \x1b[31m \u202e日本 x\n")
    text = render_text(Diagnostic("E1001", "bad \x1b", span(file, "x")))
    assert "\x1b" not in text and "\u202e" not in text
    # The wide characters take two columns each.
    line, marks = text.splitlines()[3:5]
    assert line == "1 | // \ufffd[31m \ufffd日本 x"
    assert marks == "  | " + " " * 15 + "^"


def test_a_long_line_is_cut_around_the_place() -> None:
    file = SourceFile("x.linnet", "a" * 5000 + "b" + "c" * 5000)
    line, marks = render_text(Diagnostic("E1001", "bad", span(file, "b"))).splitlines()[3:5]
    assert line == "1 | " + "a" * 60 + "b" + "c" * 139
    assert marks == "  | " + " " * 60 + "^"


def test_a_place_in_what_is_left_out_of_a_long_line_is_not_marked_elsewhere() -> None:
    file = SourceFile("x.linnet", "d" + "a" * 500 + "b" + "c" * 500 + "e")
    related = (Related(span(file, "d"), "first"), Related(span(file, "e"), "last"))
    lines = render_text(Diagnostic("E1001", "bad", span(file, "b"), "here", related)).splitlines()
    assert lines[4:] == ["  | " + " " * 60 + "^ here", "  | ... first", "  | ... last"]


def test_color_adds_only_escapes() -> None:
    file = SourceFile("a.linnet", "module a\n")
    finding = Diagnostic("W1001", "unused", Span(file, 7, 8), "x", help="h")
    colored = render_text(finding, color=True)
    assert "\x1b[1;33mwarning[W1001]\x1b[0m" in colored
    for escape in ("\x1b[1;33m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"):
        colored = colored.replace(escape, "")
    assert colored == render_text(finding)


def test_json_is_one_document() -> None:
    file = SourceFile("a.linnet", "module a\n")
    place = Span(file, 7, 8)
    finding = Diagnostic("E1202", "no", place, "l", (Related(place, "r"),), ("n",), "h")
    where = {
        "file": "a.linnet",
        "start": {"line": 1, "column": 8, "offset": 7},
        "end": {"line": 1, "column": 9, "offset": 8},
    }
    document = render_json([finding, Diagnostic("W1001", "w", None)])
    assert json.loads(json.dumps(document)) == {
        "version": 1,
        "diagnostics": [
            {
                "code": "E1202",
                "severity": "error",
                "message": "no",
                "label": "l",
                **where,
                "related": [{**where, "label": "r"}],
                "notes": ["n"],
                "help": "h",
            },
            {
                "code": "W1001",
                "severity": "warning",
                "message": "w",
                "label": "",
                "file": None,
                "start": None,
                "end": None,
                "related": [],
                "notes": [],
                "help": None,
            },
        ],
        "summary": {"errors": 1, "warnings": 1},
    }


def test_the_summary_counts() -> None:
    assert summary_line(1, 2) == "1 error, 2 warnings"
    assert summary_line(2, 0) == "2 errors"
    assert summary_line(0, 0) == ""
