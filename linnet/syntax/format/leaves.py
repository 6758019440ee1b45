"""Tokens with their comments, and what is made of them throughout: lists and bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linnet.syntax.format.comments import Note, Notes
from linnet.syntax.format.concrete import Node, Tree, elements, first, last
from linnet.syntax.format.doc import (
    Aside,
    Doc,
    Either,
    Fresh,
    Hard,
    Indent,
    Line,
    Suffix,
    cat,
    group,
)
from linnet.syntax.tokens import Token

Element = tuple[Tree, Token | None]


@dataclass(frozen=True, slots=True)
class Brackets:
    """A list in its brackets. `after` are the comments behind it, which do not break it."""

    inside: Doc
    after: Doc
    empty: bool
    broken: bool

    def doc(self, broken: bool = False) -> Doc:
        """On one line where it fits, or `broken`."""
        return cat(group(self.inside, broken or self.broken), self.after)


class Leaves:
    """Lays out one file, whose comments are taken out of `notes` as their tokens come by."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes

    def layout(self, node: Node) -> Doc:
        """The document of a token or of a tree."""
        if isinstance(node, Token):
            return self.leaf(node)
        return getattr(self, node.rule)(*node.children)

    # --- tokens

    def leaf(self, token: Token) -> Doc:
        """A token with the comments before and after it."""
        return cat(self.before(token), token.text, self.after(token))

    def before(self, token: Token | None) -> Doc:
        """The comments before a token, each above it or beside it."""
        if token is None:
            return ""
        notes = self.notes.before.pop(token.start, [])
        parts: list[Doc] = []
        blanks = [*(note.blank for note in notes[1:]), token.start in self.notes.blank]
        for note, blank in zip(notes, blanks, strict=False):
            parts += [Fresh(), note.text, Hard(blank)] if note.above else [Aside(f"{note.text} ")]
        return cat(*parts)

    def after(self, token: Token | None) -> Doc:
        """The comments after a token."""
        notes = self.notes.after.pop(token.start, []) if token else []
        return cat(*map(_behind, notes))

    def comma(self, token: Token | None, sign: Doc) -> Doc:
        """A comma, as `sign` says, with the comments of the one that the author wrote."""
        if token is None:
            return sign
        notes = self.notes.before.get(token.start, [])
        if any(note.kind == "doc" for note in notes):
            # Behind the comma it would document the next element.
            return self.leaf(token)
        self.notes.before.pop(token.start, None)
        return cat(*map(_behind, notes), sign, self.after(token))

    def blank(self, node: Node) -> bool:
        """Whether the author left a line empty before something and its comments."""
        token = first(node)
        if token is None:
            return False
        notes = self.notes.before.get(token.start)
        return notes[0].blank if notes else token.start in self.notes.blank

    def dangling(
        self, token: Token | None, end: int, blank: bool, apart: bool = False
    ) -> list[Doc]:
        """The comments before what closes a list, or before the end of the file, a line each;
        `blank`: the first one may have an empty line before it; `apart`: it has one."""
        notes = self.notes.before.pop(token.start if token else end, [])
        blanks = [apart or (blank and note.blank) for note in notes[:1]]
        blanks += [note.blank for note in notes[1:]]
        return [
            part
            for note, empty in zip(notes, blanks, strict=True)
            for part in (Hard(empty), note.text)
        ]

    # --- lists

    def listed(self, open_: Token, content: Sequence[Node], close: Token, pad: str) -> Brackets:
        """A list with commas, between brackets that are `pad` away from it on one line. One that
        ends in a comma is broken."""
        items = elements(list(content))
        begin, behind = self.leaf(open_), self.after(close)
        parts: list[Doc] = [Line(pad)] if items else []
        for n, (item, comma) in enumerate(items):
            is_last = n == len(items) - 1
            parts += [Line(" ", self.blank(item))] if n else []
            parts += [self.line(item), self.comma(comma, Either(",", "") if is_last else ",")]
        dangling = self.dangling(close, 0, bool(items))
        end = Hard() if dangling else Line(pad) if items else ""
        inside = cat(begin, Indent(cat(*parts, *dangling)), end, close.text)
        broken = bool(items) and items[-1][1] is not None
        return Brackets(inside, behind, not items, broken)

    # --- bodies

    def body(self, open_: Token, items: Sequence[Element], close: Token) -> Doc:
        """Elements in braces, one a line."""
        begin, inner = self.leaf(open_), self.lines(items)
        inner += self.dangling(close, 0, bool(items))
        end = [Hard()] if inner else []
        return cat(begin, Indent(cat(*inner)), *end, close.text, self.after(close))

    def lines(self, items: Sequence[Element]) -> list[Doc]:
        """Elements, one a line; commas between them go."""
        parts: list[Doc] = []
        for n, (item, comma) in enumerate(items):
            parts += [Hard(n > 0 and self.blank(item)), self.line(item), self.comma(comma, "")]
        return parts

    def line(self, item: Tree) -> Doc:
        """An element that may have a line of its own; the comments around it do not break it."""
        above, behind = self.before(first(item)), self.after(last(item))
        return cat(above, self.layout(item), behind)


def _behind(note: Note) -> Doc:
    return Suffix(note.text, note.kind == "line") if note.above else Aside(f" {note.text}")
