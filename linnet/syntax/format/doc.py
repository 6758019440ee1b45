"""Texts with the places where they may be broken, after Wadler's "A prettier printer".

A group is on one line where it fits, else all of its own lines are broken. A `Choice` is the
first of its options that fits, as far as its first line, else the last.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Line:
    """`flat` in a group that is on one line, else a line end; `blank`: and an empty line."""

    flat: str
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Hard:
    """A line end in any case."""

    blank: bool = False


@dataclass(frozen=True, slots=True)
class Fresh:
    """A line end, unless a line has just begun."""


@dataclass(frozen=True, slots=True)
class Suffix:
    """A comment at the end of the line, whatever else is on it. Only a `last` one cannot have
    another behind it."""

    text: str
    last: bool


@dataclass(frozen=True, slots=True)
class Aside:
    """A comment within a line, `text` with its space; behind a suffix if there is one already, so
    that comments stay in order."""

    text: str


@dataclass(frozen=True, slots=True)
class Either:
    """One text where the group is broken, another where it is not."""

    broken: str
    flat: str


@dataclass(frozen=True, slots=True)
class Cat:
    """Parts one after the other."""

    parts: tuple[Doc, ...]
    forced: bool


@dataclass(frozen=True, slots=True)
class Indent:
    """What begins a line in it stands four columns further right."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """All on one line, or `broken`."""

    doc: Doc
    broken: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """The first option that fits, else the last."""

    options: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Assigned:
    """`head` (`let x =`) and its value: beside it where that fits, else below where it fits there
    or `breaks` at its operators, else beside it and broken. `below` is the value laid out for a
    line of its own; None where it never has one."""

    head: Doc
    value: Doc
    below: Doc | None
    breaks: bool


Doc = str | Line | Hard | Fresh | Suffix | Aside | Either | Cat | Indent | Group | Choice | Assigned


def forced(doc: Doc) -> bool:
    """Whether a document cannot be on one line."""
    match doc:
        case Hard() | Fresh() | Suffix():
            return True
        case Cat():
            return doc.forced
        case Indent():
            return forced(doc.doc)
        case Group():
            return doc.broken
        case Choice():
            return forced(doc.options[0])
        case Assigned():
            return forced(doc.head) or forced(doc.value)
        case _:
            return False


def cat(*parts: Doc) -> Doc:
    """Parts one after the other."""
    return Cat(parts, any(map(forced, parts)))


def group(doc: Doc, broken: bool = False) -> Doc:
    """A group, broken also by what is in it."""
    return Group(doc, broken or forced(doc))


def render(doc: Doc, width: int) -> str:
    """The text of a document, in lines of at most `width` characters where that is possible."""
    return _Printer(width).run(doc)


# A document with its indentation and whether the group around it is broken.
_Entry = tuple[int, bool, Doc]


@dataclass(slots=True)
class _Printer:
    width: int
    done: list[str] = field(default_factory=list[str])
    line: str = ""
    suffixes: list[tuple[int, Suffix]] = field(default_factory=list[tuple[int, Suffix]])
    waiting: list[_Entry] = field(default_factory=list[_Entry])

    def run(self, doc: Doc) -> str:
        self.waiting.append((0, True, doc))
        while self.waiting:
            self.print(*self.waiting.pop())
        self.end_line(0)
        return "\n".join(self.done) + "\n"

    def print(self, indent: int, broken: bool, doc: Doc) -> None:
        push = self.waiting.append
        match doc:
            case str():
                self.write(doc)
            case Aside(text):
                if self.suffixes:
                    self.suffixes.append((indent, Suffix(text.strip(), False)))
                else:
                    self.write(text)
            case Line(flat, blank):
                if broken:
                    self.end_line(indent, blank)
                else:
                    self.line += flat
            case Hard(blank):
                self.end_line(indent, blank)
            case Fresh():
                if self.line.strip() or self.suffixes:
                    self.end_line(indent)
            case Suffix():
                self.suffixes.append((indent, doc))
            case Either():
                self.line += doc.broken if broken else doc.flat
            case Cat(parts):
                self.waiting += [(indent, broken, part) for part in reversed(parts)]
            case Indent(inner):
                push((indent + 4, broken, inner))
            case Group(inner, must):
                push((indent, must or (broken and not self.fits(indent, False, inner)), inner))
            case Choice(options):
                push((indent, broken or forced(doc), self.chosen(indent, broken, options)))
            case Assigned():
                push((indent, True, self.assigned(indent, doc)))

    def write(self, text: str) -> None:
        *lines, self.line = (self.line + text).split("\n")
        self.done += lines

    def chosen(self, indent: int, broken: bool, options: tuple[Doc, ...]) -> Doc:
        if not broken and not forced(options[0]):
            return options[0]
        fitting = (option for option in options[:-1] if self.fits(indent, True, option))
        return next(fitting, options[-1])

    def assigned(self, indent: int, doc: Assigned) -> Doc:
        beside = cat(doc.head, " ", doc.value)
        if doc.below is None or self.fits(indent, False, beside):
            return beside
        if not doc.breaks and not self.fits(indent + 4, False, doc.value, indent + 4):
            return beside
        return cat(doc.head, Indent(cat(Hard(), doc.below)))

    def fits(self, indent: int, broken: bool, doc: Doc, column: int | None = None) -> bool:
        """Whether a document and what follows fit on the line, up to where either ends it."""
        room = self.width - (len(self.line) if column is None else column)
        todo: list[_Entry] = [(indent, broken, doc)]
        following = len(self.waiting)
        while room >= 0:
            if not todo:
                if following == 0:
                    return True
                following -= 1
                todo.append(self.waiting[following])
            indent, broken, doc = todo.pop()
            match doc:
                case str() | Aside():
                    first, ends, _ = (doc if isinstance(doc, str) else doc.text).partition("\n")
                    room -= len(first)
                    if ends:
                        return room >= 0
                case Line(flat):
                    if broken:
                        return True
                    room -= len(flat)
                case Hard() | Fresh():
                    return True
                case Suffix():
                    pass
                case Either():
                    room -= len(doc.broken if broken else doc.flat)
                case Cat(parts):
                    todo += [(indent, broken, part) for part in reversed(parts)]
                case Indent(inner):
                    todo.append((indent, broken, inner))
                case Group(inner, must):
                    todo.append((indent, must, inner))
                case Choice(options):
                    todo.append((indent, forced(doc), options[0]))
                case Assigned(head, value):
                    todo += [(indent, False, value), (indent, False, " "), (indent, False, head)]
        return False

    def end_line(self, indent: int, blank: bool = False) -> None:
        after_last = False
        for place, suffix in self.suffixes:
            if after_last:
                self.done.append(self.line.rstrip())
                self.line = " " * place + suffix.text
            else:
                self.line = f"{self.line.rstrip()} {suffix.text}"
            after_last = suffix.last
        self.suffixes.clear()
        self.done.append(self.line.rstrip())
        if blank:
            self.done.append("")
        self.line = " " * indent
