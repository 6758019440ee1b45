"""Which names a part of a syntax tree mentions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from linnet.syntax import ast
from linnet.syntax.nodes import nodes


def mentions(tree: Any) -> frozenset[str]:
    """The names that are put to use in a tree, whatever they mean there. What is declared, a
    field, a named argument and the target of an assignment are no uses."""
    return frozenset(name for node in nodes(tree) if (name := _mentioned(node)) is not None)


def written(tree: Any) -> frozenset[str]:
    """Every name in a tree, declared or put to use."""
    return frozenset(_written(tree))


def _written(tree: Any) -> Iterator[str]:
    for node in nodes(tree):
        name = node.text if isinstance(node, ast.Name) else getattr(node, "name", None)
        if isinstance(name, str):
            yield name


def _mentioned(node: object) -> str | None:
    match node:
        case ast.NameExpr(name):
            return name
        case ast.PackExpr(name):
            return name.text
        case ast.NamedTypeExpr(path) | ast.StructExpr(path):
            return path[0].text
        case _:
            return None


def declared(tree: Any) -> Iterator[ast.Name]:
    """The names of the locals that a body declares, patterns and loop variables among them."""
    for node in nodes(tree):
        match node:
            case ast.LetStmt(name=name) | ast.SomePattern(name=name):
                yield name
            case ast.StaticForStmt(variable=name):
                yield name
            case ast.LetTupleStmt(names=names):
                yield from names
            case _:
                pass


def is_marked(name: str) -> bool:
    """Whether a name says that it is not used."""
    return name.startswith("_")
