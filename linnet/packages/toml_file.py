"""TOML with places: `tomllib` gives the values, a scan gives where each key and value stands.

The scan reads only text that `tomllib` accepted, so it looks for ends and checks nothing.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from linnet.packages.text import decoded, read_data
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span

Key: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A file's values and, for each path of keys and list positions, its places."""

    source: SourceFile
    values: dict[str, Any]
    keys: dict[Key, Span] = field(default_factory=dict[Key, Span])
    bodies: dict[Key, Span] = field(default_factory=dict[Key, Span])

    def key(self, *path: str | int) -> Span:
        """The place of a key or table name; of the nearest one around it if it is absent."""
        return _nearest(self.keys, path) or Span(self.source, 0, 0)

    def value(self, *path: str | int) -> Span:
        """The place of a value; of the nearest one around it if it is absent."""
        return _nearest(self.bodies, path) or self.key(*path)


def read_toml(path: Path, sink: Sink, name: str | None = None) -> TomlFile | None:
    """Read a file, shown as `name`; what stops it from being TOML becomes E5001."""
    name = name or path.as_posix()
    data = read_data(path, name, "E5001", sink)
    text = None if data is None else decoded(data, name, "E5001", sink)
    if text is None:
        return None
    # TOML counts a carriage return before a newline as part of the line's end.
    source = SourceFile(name, text.replace("\r\n", "\n"))
    try:
        file = TomlFile(source, tomllib.loads(source.text))
        _Scan(file).run()
        return file
    except tomllib.TOMLDecodeError as error:
        message, span = _located(source, str(error))
        sink.add(Diagnostic("E5001", message, span))
    except RecursionError:
        sink.add(Diagnostic("E5001", "nested too deeply", Span(source, 0, 0)))
    except ValueError as error:
        # What follows a semicolon is advice for programmers of Python.
        reason = str(error).partition(";")[0]
        sink.add(Diagnostic("E5001", f"bad value: {reason}", Span(source, 0, 0)))
    return None


_AT = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)


def _located(source: SourceFile, text: str) -> tuple[str, Span]:
    found = _AT.fullmatch(text)
    if found is None:
        return text, Span(source, 0, 0)
    end = len(source.text)
    if found[2] is None:
        at = len(source.text.rstrip())
    else:
        at = min(source.line_starts()[int(found[2]) - 1] + int(found[3]) - 1, end)
    # `tomllib` shows a dotted key as the tuple that it keeps it in.
    message = re.sub(r"\('([^']*)',?(?:, '([^']*)')*\)", _dotted, found[1])
    message = message[:1].lower() + message[1:]
    return message, Span(source, at, min(at + 1, end))


def _dotted(shown: re.Match[str]) -> str:
    return "`" + ".".join(re.findall(r"'([^']*)'", shown[0])) + "`"


def _nearest(places: dict[Key, Span], path: Key) -> Span | None:
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return None


_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|(?!""").)*"{3,5}|'
    r"'''(?:(?!''').)*'{3,5}|"
    r'"(?:\\.|[^"\\])*"|'
    r"'[^']*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


class _Scan:
    """One pass over the text of a valid file."""

    def __init__(self, file: TomlFile) -> None:
        self.file = file
        self.text = file.source.text
        self.at = 0
        self.counts: dict[Key, int] = {}

    def run(self) -> None:
        table: Key = ()
        self.match(_BLANK)
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                table = self.header(2)
            elif self.text[self.at] == "[":
                table = self.header(1)
            else:
                self.pair(table)
            self.match(_BLANK)

    def match(self, pattern: re.Pattern[str]) -> Span:
        found = pattern.match(self.text, self.at)
        end = found.end() if found else self.at
        span = Span(self.file.source, self.at, end)
        self.at = end
        return span

    def header(self, brackets: int) -> Key:
        self.at += brackets
        names, spans = self.dotted()
        self.at += brackets
        path: Key = ()
        for position, (name, span) in enumerate(zip(names, spans, strict=True)):
            path = (*path, name)
            self.file.keys.setdefault(path, span)
            last = position == len(names) - 1
            if last and brackets == 2:
                self.counts[path] = self.counts.get(path, -1) + 1
            if path in self.counts:
                path = (*path, self.counts[path])
                self.file.keys.setdefault(path, span)
        return path

    def dotted(self) -> tuple[list[str], list[Span]]:
        names: list[str] = []
        spans: list[Span] = []
        while True:
            self.match(_SPACE)
            quoted = self.text[self.at] in "\"'"
            span = self.match(_STRING if quoted else _BARE)
            written = span.text
            # A quoted key has a string's escapes: tomllib itself reads it.
            names.append(tomllib.loads(f"k={written}")["k"] if quoted else written)
            spans.append(span)
            self.match(_SPACE)
            if self.text[self.at] != ".":
                return names, spans
            self.at += 1

    def pair(self, table: Key) -> None:
        names, spans = self.dotted()
        self.at += 1  # the `=`
        path = table
        for name, span in zip(names, spans, strict=True):
            path = (*path, name)
            self.file.keys.setdefault(path, span)
        self.value(path)

    def value(self, path: Key) -> None:
        self.match(_SPACE)
        start = self.at
        if self.text[start] in "\"'":
            self.match(_STRING)
        elif self.text[start] == "[":
            self.items(path, "]")
        elif self.text[start] == "{":
            self.items(path, "}")
        else:
            self.match(_SCALAR)
            self.at = start + len(self.text[start : self.at].rstrip())
        self.file.bodies[path] = Span(self.file.source, start, self.at)

    def items(self, path: Key, close: str) -> None:
        self.at += 1
        position = 0
        self.match(_BLANK)
        while self.text[self.at] != close:
            if close == "]":
                self.value((*path, position))
            else:
                self.pair(path)
            position += 1
            self.match(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1
                self.match(_BLANK)
        self.at += 1
