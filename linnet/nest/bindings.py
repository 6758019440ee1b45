"""`bindings.json`: which checkpoint tensor each parameter is, with the place of each line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from linnet.nest.words import kind
from linnet.packages.text import decoded, read_data
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.files import SourceFile, Span
from linnet.source.shown import shown

_BLANK = re.compile(r"[ \t\n\r]*")


class Bindings(dict[str, str]):
    """Parameter path to tensor name. `implicit`: there is no file, so the paths are the names.

    `places` has all paths of the file, those with a value that is no name among them. Unless
    they are `whole`, there may be more that could not be read.
    """

    def __init__(self, implicit: bool = False, whole: bool = True) -> None:
        super().__init__()
        self.implicit = implicit
        self.whole = whole
        self.places: dict[str, Span] = {}

    def paths(self) -> dict[str, None]:
        """All paths that are bound, to a name or to something else, in order."""
        return dict.fromkeys((*self.places, *self))


def load_bindings(path: Path | None, sink: Sink, place: Span | None = None) -> Bindings:
    """Read a card's bindings, at `place` named in its `nest.toml`, as far as they can be read;
    what is wrong in them is E5002."""
    if path is None:
        return Bindings(implicit=True)
    data = read_data(path, f"the bindings {path}", "E5002", sink, place)
    text = None if data is None else decoded(data, str(path), "E5002", sink)
    if text is None:
        return Bindings(whole=False)
    return _Reader(SourceFile(str(path), text), sink).read()


class _Reader:
    """Reads one flat JSON object, keeping the place of each key."""

    def __init__(self, source: SourceFile, sink: Sink) -> None:
        self.source = source
        self.sink = sink
        self.decoder = json.JSONDecoder()
        self.found = Bindings()

    def read(self) -> Bindings:
        try:
            end = self.object()
            rest = self.blank(end)
            if rest < len(self.source.text):
                self.broken("text after the closing `}`", rest, rest + 1)
        except json.JSONDecodeError as error:
            at = min(error.pos, len(self.source.text.rstrip()))
            message = error.msg[:1].lower() + error.msg[1:]
            self.broken(f"the bindings are no JSON: {message}", at, at + 1)
        except RecursionError:
            self.broken("the bindings are nested too deeply", 0, 1)
        except ValueError as error:
            self.broken(f"the bindings are no JSON: {error}", 0, 1)
        return self.found

    def object(self) -> int:
        start = self.blank(0)
        if not self.text.startswith("{", start) and start < len(self.text):
            return self.other(start)
        at = self.expect("{", start)
        if self.source.text.startswith("}", at):
            return at + 1
        while True:
            key, start, end = self.value(at)
            if not isinstance(key, str):
                raise json.JSONDecodeError("a key in double quotes belongs here", self.text, start)
            at = self.expect(":", self.blank(end))
            value, value_start, value_end = self.value(at)
            self.pair(key, Span(self.source, start, end), value, value_start, value_end)
            at = self.blank(value_end)
            if self.text.startswith("}", at):
                return at + 1
            at = self.expect(",", at)

    def other(self, at: int) -> int:
        """A value that is JSON and no object."""
        value, start, end = self.value(at)
        if self.blank(end) < len(self.text):
            raise json.JSONDecodeError("`{` belongs here", self.text, at)
        message = (
            f"the bindings must be an object, from parameter paths to names, not {kind(value)}"
        )
        self.broken(message, start, end)
        return end

    @property
    def text(self) -> str:
        return self.source.text

    def blank(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return found.end() if found else at

    def expect(self, character: str, at: int) -> int:
        if not self.text.startswith(character, at):
            raise json.JSONDecodeError(f"`{character}` belongs here", self.text, at)
        return self.blank(at + 1)

    def value(self, at: int) -> tuple[Any, int, int]:
        at = self.blank(at)
        value, end = self.decoder.raw_decode(self.text, at)
        return value, at, end

    def pair(self, key: str, place: Span, value: Any, start: int, end: int) -> None:
        if key in self.found.places:
            first = Related(self.found.places[key], "first bound here")
            message = f"{shown(key)} is bound twice"
            self.sink.add(Diagnostic("E5002", message, place, related=(first,)))
            return
        self.found.places[key] = place
        if not isinstance(value, str) or not value:
            message = f"{shown(key)} must be bound to a tensor's name, not {kind(value)}"
            self.report(message, start, end)
            return
        self.found[key] = value

    def broken(self, message: str, start: int, end: int) -> None:
        """Report what ends the reading."""
        self.found.whole = False
        self.report(message, start, end)

    def report(self, message: str, start: int, end: int) -> None:
        span = Span(self.source, start, max(start, min(end, len(self.text))))
        self.sink.add(Diagnostic("E5002", message, span))
