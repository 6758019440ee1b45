"""Orders of a graph, found without recursion: a chain of modules or calls may be of any length."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def depth_first(
    nodes: Iterable[Node], edges: Callable[[Node], Iterable[Node]]
) -> tuple[list[Node], list[list[Node]]]:
    """All nodes, each after those that its edges lead to, and the cycles that stand against that.

    A cycle begins with the node of it that is met first; the edge from its last node back to
    that one is left aside in the order. Each such edge gives one cycle.
    """
    done: dict[Node, None] = {}
    cycles: list[list[Node]] = []
    for start in nodes:
        way: dict[Node, Iterator[Node]] = {}  # from `start` on, with the edges still to follow
        step: Node | None = None if start in done else start
        while step is not None or way:
            if step is not None:
                way[step] = iter(dict.fromkeys(edges(step)))
            node, rest = next(reversed(way.items()))
            step = None
            for target in rest:
                if target in way:
                    passed = list(way)
                    cycles.append(passed[passed.index(target) :])
                elif target not in done:
                    step = target
                    break
            else:
                del way[node]
                done[node] = None
    return list(done), cycles
