"""How deep a tree is, found without recursion."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from linnet.source.files import SourceFile, Span
from linnet.syntax import ast

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
        elif is_dataclass(node) and not isinstance(node, (Span, SourceFile, ast.Name)):
            depth += not isinstance(node, _FLAT)
            deepest = max(deepest, depth)
            waiting += [(getattr(node, part.name), depth) for part in fields(node)]
    return deepest
