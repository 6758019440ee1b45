"""W2001 to W2003 and W2006: what is declared, and never put to its use.

A name counts as used where it occurs, whatever it means there: what these find is unused.
"""

from __future__ import annotations

from collections.abc import Iterator

from linnet.lint.subject import Subject
from linnet.lint.trees import is_marked, mentions
from linnet.source.diagnostics import Diagnostic
from linnet.syntax import ast
from linnet.syntax.nodes import nodes


def generics(subject: Subject) -> Iterator[Diagnostic]:
    """W2001."""
    owners = [
        item for item in subject.tree.items if not isinstance(item, ast.EnumDecl | ast.ConstDecl)
    ]
    for owner in (*owners, *(method for method, block in subject.functions() if block)):
        used = mentions(owner)
        for generic in owner.generics:
            name = generic.name.text
            if name not in used and not is_marked(name):
                message = f"the generic `{name}` of `{owner.name.text}` is never used"
                yield Diagnostic("W2001", message, generic.name.span, help="remove it")


def items(subject: Subject) -> Iterator[Diagnostic]:
    """W2002. An entry is called from outside, `pub` or not, and a block that has one is what a
    card's root may be."""
    every = subject.tree.items
    used = {item.name.text: mentions(item) for item in every}
    for item in every:
        name = item.name.text
        if item.public or _is_run(item) or is_marked(name):
            continue
        if not any(name in there for other, there in used.items() if other != name):
            message = f"`{name}` is private and never used"
            help_ = "remove it, or write `pub` before it where it is for other modules"
            yield Diagnostic("W2002", message, item.name.span, help=help_)


def _is_run(item: ast.Item) -> bool:
    """Whether an item is an entry or has one."""
    functions = item.methods if isinstance(item, ast.BlockDecl) else (item,)
    return any(isinstance(f, ast.FunctionDecl) and f.kind == "entry" for f in functions)


def parameters(subject: Subject) -> Iterator[Diagnostic]:
    """W2003. What is public keeps a promise; a private `op` is one to a kernel."""
    for decl, _ in subject.functions():
        if decl.public or decl.kind != "fn":
            continue
        used = mentions(decl.body)
        for param in decl.params:
            name = param.name.text
            if name not in used and not is_marked(name):
                message = f"the parameter `{name}` of `{decl.name.text}` is never read"
                help_ = f"remove it, or name it `_{name}`"
                yield Diagnostic("W2003", message, param.name.span, help=help_)


def variables(subject: Subject) -> Iterator[Diagnostic]:
    """W2006."""
    for decl, _ in subject.functions():
        body = list(nodes(decl.body))
        assigned = {node.target.text for node in body if isinstance(node, ast.AssignStmt)}
        for node in body:
            if isinstance(node, ast.LetStmt) and node.mutable and node.name.text not in assigned:
                message = f"`{node.name.text}` is never assigned again"
                yield Diagnostic("W2006", message, node.name.span, help="declare it with `let`")
