"""The order of modules: dependencies first, cycles reported and cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linnet.graphs import depth_first
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
    order, cycles = depth_first(nodes, lambda node: [target for _, target in _uses(node)])
    for cycle in cycles:
        _report(cycle, sink)
    for cycle in cycles:
        last = cycle[-1]
        last.uses = {n: target for n, target in last.uses.items() if target is not cycle[0]}
    return order


def _uses(node: Node) -> list[tuple[int, Node]]:
    return sorted(node.uses.items(), key=lambda use: use[0])


def _report(cycle: Sequence[Node], sink: Sink) -> None:
    """Every `use` on the way is shown; the last gets the blame."""
    following = [*cycle[1:], cycle[0]]
    names = " -> ".join(node.key for node in [cycle[0], *following])
    uses: list[ast.UseDecl] = []
    for node, target in zip(cycle, following, strict=True):
        number = next(n for n, used in _uses(node) if used is target)
        uses.append(node.tree.uses[number])
    related = tuple(
        Related(use.path.span, f"`{node.key}` uses `{use.path.dotted()}`")
        for node, use in zip(cycle[:-1], uses, strict=False)
    )
    span = uses[-1].path.span
    hint = "move what both need into a module of its own"
    sink.add(Diagnostic("E1206", f"import cycle: {names}", span, "closes it", related, (), hint))
