"""What stays Python in a function, each in a statement of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Straightening:
    """Rewrites the statements of a function so that calls which `stays` picks, and conditional
    expressions, are assigned to a variable each, and what they take is a variable before that."""

    def __init__(self, stays: Callable[[ast.Call], bool], fresh: Callable[[str], str]) -> None:
        self._picked = stays
        self._fresh = fresh

    def body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements, and those of loops and branches among them."""
        return [part for s in statements for part in self._parts(s)]

    def stays(self, node: ast.AST | None) -> bool:
        """Whether an expression stays Python as a whole."""
        call = isinstance(node, ast.Call) and self._picked(node)
        return call or isinstance(node, ast.IfExp)

    def _parts(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        before: list[ast.stmt] = []
        match statement:
            case ast.Return(value=ast.expr() as value) if not is_plain(value):
                statement.value = self._apart(value, before)
            case ast.If():
                statement.test = self._atom(statement.test, before)
                statement.body, statement.orelse = map(
                    self.body, (statement.body, statement.orelse)
                )
            case ast.For() | ast.While():
                statement.body = self.body(statement.body)
            case ast.Assign() | ast.Expr():
                statement.value = self._value(statement.value, before)
            case _:
                pass
        yield from before
        yield statement

    def _value(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """What a variable may be assigned."""
        if isinstance(node, ast.IfExp):
            node.test = self._atom(node.test, before)
            return node
        if not isinstance(node, ast.Call) or not self.stays(node):
            return self._hoisted(node, before)
        node.args = [self._atom(a, before) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self._atom(keyword.value, before)
        return node

    def _atom(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        return node if is_plain(node) else self._apart(node, before)

    def _apart(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        name = self._fresh("value")
        value = self._value(node, before)
        line = ast.Assign([ast.Name(name, ast.Store())], value)
        before.append(ast.copy_location(line, node))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _hoisted(self, node: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """`node` without what stays Python, which is computed before."""
        if self.stays(node):
            return self._apart(node, before)
        fields: Iterator[tuple[str, Any]] = ast.iter_fields(node)
        for name, value in fields:
            if isinstance(value, ast.expr):
                setattr(node, name, self._hoisted(value, before))
            elif isinstance(value, list):
                setattr(node, name, [self._element(e, before) for e in _elements(value)])
        return node

    def _element(self, node: ast.AST, before: list[ast.stmt]) -> ast.AST:
        if isinstance(node, ast.keyword):
            node.value = self._hoisted(node.value, before)
        return self._hoisted(node, before) if isinstance(node, ast.expr) else node


def _elements(found: Any) -> list[ast.AST]:
    return found


def is_plain(node: ast.expr) -> bool:
    """Whether Python finds a value without running an operation of a tensor."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute():
            return is_plain(node.value)
        case ast.Subscript():
            return isinstance(node.slice, ast.Constant) and _is_shape(node.value)
        case ast.UnaryOp(op=ast.Not()):
            return is_plain(node.operand)
        case ast.Tuple():
            return all(map(is_plain, node.elts))
        case _:
            return False


def _is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "_modules")
