"""W2005: a `let` that gives a second name to what has one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from linnet.lint.subject import Subject
from linnet.lint.trees import declared, is_marked
from linnet.source.diagnostics import Diagnostic
from linnet.syntax import ast
from linnet.syntax.nodes import nodes


def renames(subject: Subject) -> Iterator[Diagnostic]:
    """W2005. A `let` that keeps what is about to change is no second name: what changes is a
    `var`, a `state`, or a name that is declared again."""
    for decl, block in subject.functions():
        names = Counter(n.text for n in (*(p.name for p in decl.params), *declared(decl.body)))
        body = list(nodes(decl.body))
        changing = {n.name.text for n in body if isinstance(n, ast.LetStmt) and n.mutable}
        members = {m.name.text: m.kind for m in (block.members if block else ())}
        for node in body:
            if not isinstance(node, ast.LetStmt) or node.mutable or node.indices is not None:
                continue
            value = node.value
            if not isinstance(value, ast.NameExpr) or value.name in changing:
                continue
            if is_marked(node.name.text):
                continue
            local = names[value.name] == 1
            member = names[value.name] == 0 and members.get(value.name) in ("param", "buffer")
            if local or member:
                message = f"`{node.name.text}` is only another name of `{value.name}`"
                help_ = f"use `{value.name}`"
                yield Diagnostic("W2005", message, node.span, help=help_)
