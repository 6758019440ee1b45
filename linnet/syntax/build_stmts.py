"""Builds statements; see `build.py`."""

from __future__ import annotations

from linnet.syntax import ast
from linnet.syntax.build_parts import Parts, join, name_of


class Statements:
    """Statements."""

    def let(self, c: Parts) -> ast.Stmt:
        word, name, type_, _, value = c
        mutable = word.text == "var"
        return ast.LetStmt(mutable, name_of(name), type_, None, value, join(word, value))

    def let_indexed(self, c: Parts) -> ast.Stmt:
        word, name, _, indices, _, _, value = c
        mutable = word.text == "var"
        span = join(word, value)
        return ast.LetStmt(mutable, name_of(name), None, tuple(indices), value, span)

    def let_tuple(self, c: Parts) -> ast.Stmt:
        word, _, names, _, _, value = c
        return ast.LetTupleStmt(tuple(names), value, join(word, value))

    def name(self, c: Parts) -> ast.Name:
        (name,) = c
        return name_of(name)

    def assign(self, c: Parts) -> ast.Stmt:
        target, _, value = c
        return ast.AssignStmt(name_of(target), None, value, join(target, value))

    def assign_indexed(self, c: Parts) -> ast.Stmt:
        target, _, indices, _, _, value = c
        return ast.AssignStmt(name_of(target), tuple(indices), value, join(target, value))

    def return_(self, c: Parts) -> ast.Stmt:
        word, value = c
        return ast.ReturnStmt(value, join(word, value))

    def while_(self, c: Parts) -> ast.Stmt:
        word, condition, _, body, end = c
        return ast.WhileStmt(condition, tuple(body), join(word, end))

    def for_each(self, c: Parts) -> ast.Stmt:
        word, _, variable, _, subs, _, body, end = c
        return ast.StaticForStmt(name_of(variable), subs, None, tuple(body), join(word, end))

    def for_range(self, c: Parts) -> ast.Stmt:
        word, _, variable, _, start, _, stop, _, body, end = c
        return ast.StaticForStmt(name_of(variable), start, stop, tuple(body), join(word, end))

    def plain_index(self, c: Parts) -> ast.IndexName:
        (name,) = c
        return ast.IndexName(name.text, False, name.span)

    def pack_index(self, c: Parts) -> ast.IndexName:
        star, name = c
        return ast.IndexName(name.text, True, join(star, name))
