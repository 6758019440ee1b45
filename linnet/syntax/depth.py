"""How deep a tree is, found without recursion."""

from __future__ import annotations

from typing import Any

from linnet.source.files import SourceFile, Span
from linnet.syntax import ast
from linnet.syntax.nodes import parts_of

# These stand between two levels of a tree and are no level of their own.
_FLAT = (ast.Argument, ast.FieldValue, ast.MatchArm)


def depth_of(tree: Any) -> int:
    """The number of nodes on the longest way down from a node."""
    deepest = 0
    waiting: list[tuple[Any, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, tuple):
            waiting += [(part, depth) for part in node]  # pyright: ignore[reportUnknownVariableType]
        elif not isinstance(node, (Span, SourceFile, ast.Name)) and (parts := parts_of(node)):
            depth += not isinstance(node, _FLAT)
            deepest = max(deepest, depth)
            waiting += [(getattr(node, part), depth) for part in parts]
    return deepest
