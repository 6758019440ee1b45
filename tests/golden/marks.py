"""Marks: what a program says of the findings it gets, and where.

    return x + y //~ E2103 `+`
    let z = exp(x[i] - x[j]) //~ E3101 `j`  E2104 `x`#2
    static for i in 0..2 { //~ E2190 `static for i in 0..2 {` to +2 `}`

A mark stands at the end of the line on which the finding begins: its code and the text that is
underlined. Where that text stands on the line more than once, `#2` says which one it is, counted
from 1; a text that is a word is looked for among whole words. Of a finding of several lines, the
mark has its first and its last line, and how far down the last one is. A text that runs on into
the mark itself ends with `to the end`. What does not show is written `\\x0d`.

`LINNET_GOLDEN=write pytest tests/golden` writes the marks that a program should have; read each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from linnet.source.diagnostics import Diagnostic
from linnet.source.files import Span

MARK = "//~"
Mark = tuple[str, int, str]


def sources(case: Path) -> list[Path]:
    """The files of a case, which is one or a folder of them."""
    return sorted(case.rglob("*.linnet")) if case.is_dir() else [case]


def marked(case: Path) -> list[Mark]:
    """What the case says it gets: file, line, and code and text of all findings there."""
    found: list[Mark] = []
    for path in sources(case):
        for number, line in enumerate(text_of(path).split("\n"), 1):
            _, mark, text = line.rstrip("\r").rpartition(MARK)
            if mark:
                found.append((str(path), number, text.strip()))
    return sorted(found)


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def marks_of(findings: Iterable[Diagnostic]) -> list[Mark]:
    """What should be marked, as `marked` gives it."""
    there: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for finding in findings:
        span = finding.span
        assert span is not None, finding
        place = span.file.path, span.file.position(span.start).line
        there.setdefault(place, []).append((span.start, f"{finding.code} {place_of(span)}"))
    return sorted((*at, "  ".join(mark for _, mark in sorted(m))) for at, m in there.items())


def place_of(span: Span) -> str:
    """The text of a place, and what makes it the only such place of its line."""
    position = span.file.position
    start, end = position(span.start), position(span.end)
    line = span.file.line(start.line)
    code = without_mark(line)
    first = start.column - 1
    if first > len(code):
        return f"columns {start.column} to {end.column}, behind all"
    if end.line == start.line and end.column - 1 <= len(code):
        return _part(code, first, end.column - 1)
    begin = _part(code, first, len(code))
    if end.line == start.line:
        begin = begin.replace('"', "\\x22")  # the mark is in a string that it must not close
        return f"{begin} to the end{'' if end.column - 1 == len(line) else ' and beyond'}"
    last = without_mark(span.file.line(end.line))
    return f"{begin} to +{end.line - start.line} {_part(last, _indent(last), end.column - 1)}"


def without_mark(line: str) -> str:
    """A line without its mark and what is white before it."""
    code, mark, _ = line.rpartition(MARK)
    return code.rstrip(" \t") if mark else line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _part(code: str, start: int, end: int) -> str:
    """`text`#2, which no other part of `code` is called."""
    text = code[start:end]
    whole = _whole(code, start, end)
    alike = [
        at
        for at in range(len(code) + 1)
        if code.startswith(text, at) and _whole(code, at, at + len(text)) == whole
    ]
    shown = "".join(c if c.isprintable() and c != "`" else f"\\x{ord(c):02x}" for c in text)
    count = f"#{alike.index(start) + 1}" if len(alike) > 1 else ""
    return f"`{shown}`{count}" + ("" if whole else " cut out of a word")


def _whole(code: str, start: int, end: int) -> bool:
    """Whether a part of a line cuts no word and no number in two."""
    inside = [at for at in (start, end) if 0 < at < len(code)]
    return not any(_word(code[at - 1]) and _word(code[at]) for at in inside)


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


def write_marks(case: Path, marks: list[Mark]) -> None:
    """Write the marks into the files of a case where `LINNET_GOLDEN=write` asks for it. Bytes
    that are no text and line ends stay as they are."""
    if os.environ.get("LINNET_GOLDEN") != "write":
        return
    for path in sources(case):
        wanted = {line: text for name, line, text in marks if name == str(path)}
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            old, mark, _ = line.rpartition(MARK.encode())
            body = old.rstrip(b" \t") if mark else line.removesuffix(b"\r")
            end = b"\r" if line.endswith(b"\r") else b""
            if number in wanted:
                body += f" {MARK} {wanted[number]}".encode()
            if mark or number in wanted:
                lines[number - 1] = body + end
        path.write_bytes(b"\n".join(lines))
