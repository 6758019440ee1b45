"""The tree in one line, for tests: `(+ a (* b c))`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any, cast

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span
from linnet.syntax import ast
from linnet.syntax.parser import parse


def parsed(text: str) -> tuple[ast.Module | None, list[Diagnostic]]:
    sink = Sink()
    module = parse(SourceFile("test.linnet", text), sink)
    return module, list(sink)


def good(text: str) -> ast.Module:
    """The module of a text that must have no findings."""
    module, found = parsed(text)
    assert found == []
    assert module is not None and module.complete
    return module


def expression(text: str) -> str:
    """The dump of an expression, read as the value of a `return`."""
    return body(f"return {text}").removeprefix("(return ").removesuffix(")")


def body(text: str, head: str = "fn f() -> i32") -> str:
    """The dump of the statements of a function."""
    item = good(f"module m {head} {{ {text} }}").items[0]
    assert isinstance(item, ast.FunctionDecl)
    return " ".join(dump(statement) for statement in item.body)


def codes(text: str) -> list[str]:
    return [found.code for found in parsed(text)[1]]


def dump(node: Any) -> str:
    match node:
        case ast.BinaryExpr() | ast.UnaryExpr():
            operands = (
                [node.left, node.right] if isinstance(node, ast.BinaryExpr) else [node.operand]
            )
            return _list(node.op, operands)
        case ast.NameExpr(name) | ast.Name(name):
            return name
        case ast.IntLit(value) | ast.BoolLit(value) | ast.StringLit(value):
            return repr(value)
        case ast.FloatLit(text):
            return text
        case ast.NoneLit() | ast.NonePattern():
            return "none"
        case ast.PackExpr(name):
            return f"*{name.text}"
        case ast.IndexName(name, pack):
            return f"*{name}" if pack else name
        case ast.ShapeExpr(items):
            return f"[{' '.join(map(dump, items))}]"
        case ast.ReturnStmt(value):
            return _list("return", [value])
        case ast.CallExpr(callee, None, args):
            return _list("call", [callee, *args])
        case ast.CallExpr(callee, generics, args):
            return _list("call", [callee, generics, *args])
        case ast.IndexExpr(base, items):
            return _list("at", [base, *items])
        case ast.FieldExpr(base, name):
            return f"{dump(base)}.{name.text}"
        case ast.Argument(name, value):
            return dump(value) if name is None else f"{name.text}={dump(value)}"
        case tuple():
            parts = cast("tuple[Any, ...]", node)
            return f"<{' '.join(map(dump, parts))}>"
        case None:
            return "_"
        case _ if is_dataclass(node):
            values = [getattr(node, part.name) for part in fields(node)]
            kept = [value for value in values if not isinstance(value, Span)]
            return _list(type(node).__name__, kept)
        case _:
            return str(node)


def _list(head: str, parts: Iterable[Any]) -> str:
    return f"({' '.join([head, *map(dump, parts)])})"
