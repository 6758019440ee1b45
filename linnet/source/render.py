"""Findings as text for people and as one JSON document for tools.

error[E2103]: dtypes differ: f32 and bf16
 --> src/lib.linnet:3:13
  |
3 |     let a = b + c
  |             ^^^^^ `+` needs one dtype
  |                 - this is bf16
  = help: cast<f32>(c)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from linnet.source.diagnostics import Diagnostic
from linnet.source.files import Position, SourceFile, Span

JSON_VERSION = 1

_TAB = "    "
_LONG_LINE = 200
_LEAD = 60
_NOTES = 8  # with more of them the help below would be out of sight
_RESET = "\x1b[0m"
_STYLES = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;34m", "bold": "\x1b[1m"}


def render_text(diagnostic: Diagnostic, color: bool = False) -> str:
    """The finding as rustc would print it, ending in a line end."""
    paint = _Paint(color)
    marks = _marks(diagnostic)
    numbers = [m.last for m in marks] or [1]
    gutter = " " * len(str(max(numbers)))
    severity = diagnostic.severity
    head = paint(severity, f"{severity}[{diagnostic.code}]")
    lines = [f"{head}{paint('bold', ': ' + printable(diagnostic.message))}"]
    for place, group in _by_file(marks):
        arrow = "-->" if any(m.primary for m in group) else ":::"
        lines.append(f"{gutter}{paint('note', arrow)} {printable(place)}")
        lines.append(gutter + paint("note", " |"))
        lines.extend(_snippet(group, gutter, paint, severity))
    for kind, text in _remarks(diagnostic):
        lines.append(f"{gutter} {paint('note', '=')} {paint('bold', kind)}: {text}")
    return "\n".join(lines) + "\n"


def render_json(diagnostics: Iterable[Diagnostic]) -> dict[str, object]:
    """One document. Lines and columns count from 1, offsets in characters from 0, ends excluded."""
    found = list(diagnostics)
    errors = sum(d.severity == "error" for d in found)
    return {
        "version": JSON_VERSION,
        "diagnostics": [_json(d) for d in found],
        "summary": {"errors": errors, "warnings": len(found) - errors},
    }


def summary_line(errors: int, warnings: int) -> str:
    """`2 errors, 1 warning`; empty when there is neither."""
    counts = [(errors, "error"), (warnings, "warning")]
    return ", ".join(f"{n} {word}{'s' if n != 1 else ''}" for n, word in counts if n)


def printable(text: str) -> str:
    """The text with everything replaced that could steer a terminal or reorder a line."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_printable_char(c) for c in text)


def _printable_char(char: str) -> str:
    if char == "\t":
        return _TAB
    return "\ufffd" if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") else char


def _width(text: str) -> int:
    """Columns that a printable text takes on a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


@dataclass(frozen=True, slots=True)
class _Paint:
    color: bool

    def __call__(self, style: str, text: str) -> str:
        return f"{_STYLES[style]}{text}{_RESET}" if self.color else text


@dataclass(frozen=True, slots=True)
class _Mark:
    """A span to underline: its lines, and its columns on the first and on the last one."""

    file: SourceFile
    primary: bool
    label: str
    start: Position
    end: Position

    @property
    def first(self) -> int:
        return self.start.line

    @property
    def last(self) -> int:
        """A span that ends with a line end does not reach the next line."""
        ends_early = self.end.line > self.start.line and self.end.column == 1
        return self.end.line - 1 if ends_early else self.end.line


def _marks(diagnostic: Diagnostic) -> list[_Mark]:
    marks: list[_Mark] = []
    if diagnostic.span is not None:
        marks.append(_mark(diagnostic.span, True, diagnostic.label))
    marks.extend(_mark(r.span, False, r.label) for r in diagnostic.related)
    return marks


def _mark(span: Span, primary: bool, label: str) -> _Mark:
    position = span.file.position
    return _Mark(span.file, primary, printable(label), position(span.start), position(span.end))


def _by_file(marks: list[_Mark]) -> list[tuple[str, list[_Mark]]]:
    """Marks grouped by file, in order, with the place to print above each group."""
    groups: dict[SourceFile, list[_Mark]] = {}
    for mark in marks:
        groups.setdefault(mark.file, []).append(mark)
    return [
        (f"{file.path}:{group[0].start.line}:{group[0].start.column}", group)
        for file, group in groups.items()
    ]


def _snippet(marks: list[_Mark], gutter: str, paint: _Paint, severity: str) -> list[str]:
    """The marked lines, each with its underlines, `...` where lines are left out."""
    numbers = sorted({n for m in marks for n in (m.first, m.last)})
    lines: list[str] = []
    previous = numbers[0]
    for number in numbers:
        if number > previous + 1:
            lines.append(paint("note", "..."))
        previous = number
        here = [m for m in marks if number in (m.first, m.last)]
        here.sort(key=lambda m: (not m.primary, m.start.offset))
        text = marks[0].file.line(number)
        cut, shown = _window(text, here[0].start.column - 1 if here[0].first == number else 0)
        label = f"{str(number).rjust(len(gutter))} |"
        lines.append(f"{paint('note', label)} {printable(shown)}".rstrip())
        for mark in here:
            under = _underline(mark, number, shown, cut)
            style = severity if mark.primary else "note"
            lines.append(f"{gutter} {paint('note', '|')} {paint(style, under)}")
    return lines


def _window(text: str, column: int) -> tuple[int, str]:
    """A long line is cut around the place: how much is left out before, and what is shown."""
    if len(text) <= _LONG_LINE:
        return 0, text
    cut = max(0, min(column, len(text)) - _LEAD)
    return cut, text[cut : cut + _LONG_LINE]


def _underline(mark: _Mark, number: int, shown: str, cut: int) -> str:
    """The row of `^` (or `-`) below a line; the label stands on the span's last line."""
    text_end = cut + len(shown)
    start = mark.start.column - 1 if number == mark.first else _indent(shown) + cut
    stop = mark.end.column - 1 if number == mark.end.line else text_end
    if stop < cut or start > text_end:  # in a part of a long line that is left out
        return f"... {mark.label}".rstrip()
    start, stop = max(start, cut), min(stop, text_end)
    before = _width(printable(shown[: start - cut]))
    length = max(1, _width(printable(shown[start - cut : max(start, stop) - cut])))
    row = " " * before + ("^" if mark.primary else "-") * length
    return f"{row} {mark.label}".rstrip() if number == mark.last else row


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _remarks(diagnostic: Diagnostic) -> list[tuple[str, str]]:
    """The first notes and the help; the document of findings has all notes."""
    rest = len(diagnostic.notes) - _NOTES
    every = diagnostic.notes if rest <= 1 else (*diagnostic.notes[:_NOTES], f"and {rest} more")
    remarks = [("note", note) for note in every]
    if diagnostic.help is not None:
        remarks.append(("help", diagnostic.help))
    return [(kind, _continued(text)) for kind, text in remarks]


def _continued(text: str) -> str:
    """Further lines of a remark stand below its first one."""
    return "\n          ".join(printable(line) for line in text.split("\n"))


def _json(diagnostic: Diagnostic) -> dict[str, object]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "label": diagnostic.label,
        **json_span(diagnostic.span),
        "related": [{**json_span(r.span), "label": r.label} for r in diagnostic.related],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
    }


def json_span(span: Span | None) -> dict[str, object]:
    """A place as documents tell it: file, start and end, all null where there is none."""
    if span is None:
        return {"file": None, "start": None, "end": None}
    position = span.file.position
    ends = {
        "start": _json_position(position(span.start)),
        "end": _json_position(position(span.end)),
    }
    return {"file": span.file.path, **ends}


def _json_position(position: Position) -> dict[str, int]:
    return {"line": position.line, "column": position.column, "offset": position.offset}
