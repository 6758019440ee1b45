"""What is asked for at the place of a word that stands in the text for the one to come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from linnet.check.types import EnumType, StructType, Type
from linnet.lsp.bodies import Bodies, part_of_type
from linnet.lsp.declared import Declaration, Names
from linnet.lsp.view import View
from linnet.source.files import Span
from linnet.syntax import ast

# Any identifier would do; nobody has one of this name.
WORD = "word_that_is_typed"

Wanted = Literal["name", "part", "value"]


@dataclass(slots=True)
class Asked:
    """`name`: any of `names`. `part`: one of the `names` behind a point. `value`: a part of the
    value at `base`, whose type is not known yet. `arguments` may be given by name as well."""

    wanted: Wanted
    names: dict[str, Declaration] = field(default_factory=dict[str, Declaration])
    arguments: dict[str, Declaration] = field(default_factory=dict[str, Declaration])
    base: Span | None = None


@dataclass(slots=True)
class Probe(Bodies):
    """Notes what is asked for where `WORD` is met."""

    asked: Asked | None = None

    def name(self, view: View, name: str, span: Span) -> Declaration | None:
        if name == WORD and self.asked is None:
            self.asked = Asked("name", view.every())
        return Bodies.name(self, view, name, span)

    def path(self, view: View, path: tuple[ast.Name, ...]) -> Declaration | None:
        first, *rest = path
        if first.text == WORD:
            self.asked = Asked("name", view.every())
        elif rest and rest[0].text == WORD:
            found = view.find(first.text)
            self.asked = Asked("part", public_parts(found.meant) if found is not None else {})
        return Bodies.path(self, view, path)

    def part_of(self, type_: Type | None, name: ast.Name) -> Declaration | None:
        if name.text == WORD:
            self.asked = Asked("part", parts_of_type(self.names, type_))
        return Bodies.part_of(self, type_, name)

    def part(self, whole: Declaration, name: ast.Name) -> Declaration | None:
        if name.text == WORD:
            self.asked = Asked("part", public_parts(whole))
        return Bodies.part(self, whole, name)

    def field(self, view: View, e: ast.FieldExpr) -> Declaration | None:
        found = Bodies.field(self, view, e)
        if e.name.text == WORD and self.asked is not None and not self.asked.names:
            self.asked = Asked("value", base=e.base.span)
        return found

    def call(self, view: View, e: ast.CallExpr) -> Declaration | None:
        callee = Bodies.call(self, view, e)
        values = [arg.value for arg in e.args if arg.name is None]
        here = any(isinstance(v, ast.NameExpr) and v.name == WORD for v in values)
        if callee is not None and self.asked is not None and here:
            given = {arg.name.text for arg in e.args if arg.name is not None}
            # Those before the word are given by their place.
            names = list(callee.parts)[len(values) - 1 :]
            self.asked.arguments = {n: callee.parts[n] for n in names if n not in given}
        return callee

    def struct(self, view: View, e: ast.StructExpr) -> Declaration | None:
        struct = Bodies.struct(self, view, e)
        given = {field.name.text for field in e.fields}
        if WORD in given and struct is not None:
            parts = {name: part for name, part in struct.parts.items() if name not in given}
            self.asked = Asked("part", parts)
        return struct


def parts_of_type(names: Names, type_: Type | None) -> dict[str, Declaration]:
    """The fields or variants of a type."""
    if not isinstance(type_, StructType | EnumType):
        return {}
    whole = part_of_type(names, type_)
    return whole.parts if whole is not None else {}


def public_parts(whole: Declaration) -> dict[str, Declaration]:
    """What can be named behind a point from outside."""
    if whole.kind not in ("module", "block"):
        return whole.parts
    return {name: part for name, part in whole.parts.items() if getattr(part.node, "public", False)}
