"""A file as the trees of its units with every token in them; the text must be free of mistakes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from linnet.source.diagnostics import Sink
from linnet.syntax.lalr import Make, Parser
from linnet.syntax.resolve import hidden_by, resolve
from linnet.syntax.segment import Unit, segment
from linnet.syntax.tables import RULES, tables
from linnet.syntax.tokens import Lexed, Token


@dataclass(frozen=True, slots=True)
class Tree:
    """An alternative of the grammar, by its name, and the parts that it is made of."""

    rule: str
    children: list[Node]


Node = Tree | Token


@cache
def _parser() -> Parser:
    def maker(name: str) -> Make:
        return lambda children: Tree(name, children)

    return Parser.of(tables(), maker)


@dataclass(frozen=True, slots=True)
class Part:
    """A unit's tree; of a block its head, with its members and its last brace."""

    tree: Tree
    members: list[Part] = field(default_factory=list["Part"])
    end: Token | None = None


def parts(lexed: Lexed) -> list[Part]:
    """The units of a file."""
    return [_part(lexed.tokens, unit, set()) for unit in segment(lexed.tokens)]


def _part(tokens: list[Token], unit: Unit, hidden: set[str]) -> Part:
    own = tokens[unit.start : unit.end]
    resolve(own, hidden, Sink())
    tree = _parser().parse(own, RULES[unit.kind])
    if unit.kind != "BLOCK":
        return Part(tree)
    inner = hidden_by(tokens, unit.members)
    members = [_part(tokens, member, inner) for member in unit.members]
    return Part(tree, members, tokens[unit.stop - 1])


def elements(nodes: list[Node]) -> list[tuple[Tree, Token | None]]:
    """The elements of a list, each with the comma after it. `nodes` are what is between the
    brackets."""
    found: list[tuple[Tree, Token | None]] = []
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Token):
            found[-1] = (found[-1][0], node)
        elif node.rule in _LISTS:
            waiting += reversed(node.children)
        else:
            found.append((node, None))
    return found


_LISTS = frozenset(["same", "seq_one", "seq_more", "seq_next", "nothing"])


def first(node: Node) -> Token | None:
    """The first token in a tree, None if it is empty."""
    return _outermost(node, 1)


def last(node: Node) -> Token | None:
    """The last token in a tree, None if it is empty."""
    return _outermost(node, -1)


def _outermost(node: Node, step: int) -> Token | None:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Token):
            return node
        waiting += node.children[::-step]
    return None
