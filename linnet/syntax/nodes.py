"""Going through a syntax tree without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from linnet.source.files import SourceFile, Span


def parts_of(node: Any) -> tuple[str, ...]:
    """The names of a node's fields; none of what is no node."""
    return getattr(node, "__match_args__", ())


def nodes(tree: Any, parts_of: Callable[[Any], tuple[str, ...]] = parts_of) -> Iterator[Any]:
    """Every node of a tree, in the order in which they are written; `tree` may be a tuple. Of a
    node it goes into `parts_of` it."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(reversed(cast("tuple[Any, ...]", node)))
        elif not isinstance(node, (Span, SourceFile)) and (parts := parts_of(node)):
            yield node
            waiting.extend(getattr(node, part) for part in reversed(parts))
