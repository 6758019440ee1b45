"""The order of modules: dependencies first, cycles reported and cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linnet.packages.package import Package
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.files import SourceFile
from linnet.syntax import ast


@dataclass(slots=True, eq=False)
class Node:
    """A module while the graph is built; `parts` are its names below the package."""

    key: str
    path: Path
    source: SourceFile
    tree: ast.Module
    package: Package | None
    parts: tuple[str, ...]
    root: bool
    uses: dict[int, Node] = field(default_factory=dict[int, "Node"])


def dependencies_first(nodes: Sequence[Node], sink: Sink) -> list[Node]:
    """The nodes, each after those it uses. A `use` that closes a cycle is reported and dropped."""
    done: dict[Node, None] = {}
    for node in nodes:
        if node not in done:
            _visit(node, done, sink)
    return list(done)


def _visit(start: Node, done: dict[Node, None], sink: Sink) -> None:
    """Depth first without recursion: a chain of modules may be long."""
    # One entry a module on the way: the module, the `use` being followed, those still to follow.
    way: dict[Node, int] = {start: -1}
    rest: list[Iterator[int]] = [iter(sorted(start.uses))]
    while rest:
        node = next(reversed(way))
        index = next(rest[-1], None)
        if index is None:
            rest.pop()
            way.pop(node)
            done[node] = None
            continue
        way[node] = index
        target = node.uses[index]
        if target in way:
            _report(way, target, sink)
            del node.uses[index]
        elif target not in done:
            way[target] = -1
            rest.append(iter(sorted(target.uses)))


def _report(way: dict[Node, int], first: Node, sink: Sink) -> None:
    """The cycle is the part of the way from `first` on; its last `use` gets the blame."""
    nodes = list(way)
    cycle = nodes[nodes.index(first) :]
    names = " -> ".join([n.key for n in cycle] + [first.key])
    uses = [(n, n.tree.uses[way[n]]) for n in cycle]
    related = tuple(
        Related(use.path.span, f"`{node.key}` uses `{use.path.dotted()}`")
        for node, use in uses[:-1]
    )
    span = uses[-1][1].path.span
    hint = "move what both need into a module of its own"
    sink.add(Diagnostic("E1206", f"import cycle: {names}", span, "closes it", related, (), hint))
