"""Items in an order that needs no deep stack: what an item's declaration mentions comes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from linnet.check.names import ItemRef, ModuleScope
from linnet.syntax import ast
from linnet.syntax.nodes import nodes, parts_of


def dependencies_first(scopes: Mapping[str, ModuleScope]) -> list[ItemRef]:
    """All items, each after those of its module that it is declared with. Of a circle of items
    the one that is met first comes first, as if there were no order."""
    order: dict[str, ItemRef] = {}
    for scope in scopes.values():
        seen: set[str] = set()
        for name in scope.items:
            _visit(scope, name, seen, order)
    return list(order.values())


def _visit(scope: ModuleScope, start: str, seen: set[str], order: dict[str, ItemRef]) -> None:
    """Depth first without recursion."""
    if start in seen:
        return
    seen.add(start)
    way: dict[str, Iterator[str]] = {start: _mentioned(scope, start)}
    while way:
        name = next(reversed(way))
        below = next(way[name], None)
        if below is None:
            way.pop(name)
            order.setdefault(scope.items[name].key, scope.items[name])
        elif below in way:
            order.setdefault(scope.items[below].key, scope.items[below])
        elif below not in seen:
            seen.add(below)
            way[below] = _mentioned(scope, below)


def _mentioned(scope: ModuleScope, name: str) -> Iterator[str]:
    """The items of a module that the declaration of one of them mentions, bodies left aside."""
    for node in nodes(scope.items[name].item, _without_body):
        head = node.name if isinstance(node, ast.NameExpr) else None
        if isinstance(node, (ast.NamedTypeExpr, ast.StructExpr)):
            head = node.path[0].text
        if head in scope.items and head != name:
            yield head


def _without_body(node: Any) -> tuple[str, ...]:
    parts = parts_of(node)
    return tuple(p for p in parts if p != "body") if isinstance(node, ast.FunctionDecl) else parts
