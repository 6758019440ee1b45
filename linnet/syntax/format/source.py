"""Formats a source text."""

from __future__ import annotations

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.format.comments import attach
from linnet.syntax.format.concrete import parts
from linnet.syntax.format.doc import render
from linnet.syntax.format.items import Items
from linnet.syntax.lexer import lex
from linnet.syntax.parser import parse

WIDTH = 100

# A comment in an odd place may come to stand where the next reading attaches it to another
# token. Each turn moves it further to the end of its line, so that it soon rests.
_TURNS = 8


def formatted(file: SourceFile, sink: Sink) -> str | None:
    """The text of a file in the one style. None if it has syntax errors, which go to `sink`."""
    found = Sink()
    tree = parse(file, found)
    for finding in found:
        sink.add(finding)
    if found.errors or tree is None:
        return None
    text = file.text
    for _ in range(_TURNS):
        before, text = text, _laid_out(SourceFile(file.path, text))
        if text == before:
            break
    return text


def _laid_out(file: SourceFile) -> str:
    lexed = lex(file, Sink())
    units = parts(lexed)
    items = Items(attach(file.text, lexed))
    return render(items.file(units, len(file.text)), WIDTH)
