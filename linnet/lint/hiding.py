"""W2004: a local that takes the name of something else that its reader may look for.

`let x = f(x)` goes on with `x`, which is meant. To hide a member, an item or a generic is not, nor
is a second local of a name inside a loop or an arm: there an assignment was meant, mostly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from linnet.lint.subject import Subject
from linnet.source.diagnostics import Diagnostic, Related
from linnet.source.files import Span
from linnet.syntax import ast
from linnet.syntax.nodes import nodes

Known = Mapping[str, tuple[str, Span]]
"""What a name means further out: in words, and where it is declared."""


def hidden(subject: Subject) -> Iterator[Diagnostic]:
    """W2004."""
    module = dict(_of_module(subject.tree))
    for decl, block in subject.functions():
        known = {**module, **dict(_of_block(block, decl))}
        for param in decl.params:
            yield from _check(param.name, known)
        locals_ = {p.name.text: ("the parameter", p.name.span) for p in decl.params}
        yield from _body(decl.body, known, locals_)


def _of_module(tree: ast.Module) -> Iterator[tuple[str, tuple[str, Span]]]:
    for use in tree.uses:
        for each in use.names or ():
            name = each.alias or each.name
            yield name.text, ("the import", name.span)
        if use.names is None:
            name = use.path.parts[-1]
            yield name.text, ("the module", name.span)
    for item in tree.items:
        yield item.name.text, ("the item", item.name.span)


def _of_block(
    block: ast.BlockDecl | None, decl: ast.FunctionDecl
) -> Iterator[tuple[str, tuple[str, Span]]]:
    if block is not None:
        for member in (*block.members, *block.methods):
            what = "the member" if isinstance(member, ast.Member) else "the method"
            yield member.name.text, (what, member.name.span)
    for generic in (*(block.generics if block else ()), *decl.generics):
        yield generic.name.text, ("the generic", generic.name.span)


def _body(
    stmts: Iterable[ast.Stmt], outer: Known, frame: dict[str, tuple[str, Span]]
) -> Iterator[Diagnostic]:
    """The statements of a block. `frame` are locals of the same one, which may be taken over."""
    frame = dict(frame)
    for stmt in stmts:
        known = {**outer, **frame}
        match stmt:
            case ast.StaticForStmt(variable=variable, body=body):
                yield from _check(variable, known)
                yield from _body(body, known, {variable.text: ("the loop variable", variable.span)})
            case ast.WhileStmt(condition=condition, body=body):
                yield from _patterns(condition, known)
                yield from _body(body, known, {})
            case ast.LetStmt(name=name):
                yield from _patterns(stmt, known)
                yield from _check(name, outer, "or assign to the outer one: `{} = ...`")
                frame[name.text] = ("the local", name.span)
            case ast.LetTupleStmt(names=names):
                yield from _patterns(stmt, known)
                for name in names:
                    yield from _check(name, outer)
                    frame[name.text] = ("the local", name.span)
            case ast.AssignStmt() | ast.ReturnStmt():
                yield from _patterns(stmt, known)


def _patterns(tree: object, known: Known) -> Iterator[Diagnostic]:
    """What `some(x)` names in a tree. `match x { some(x) => ... }` goes on with `x`."""
    for node in nodes(tree):
        if not isinstance(node, ast.MatchExpr):
            continue
        subject = node.subject.name if isinstance(node.subject, ast.NameExpr) else None
        for arm in node.arms:
            pattern = arm.pattern
            if isinstance(pattern, ast.SomePattern) and pattern.name.text != subject:
                yield from _check(pattern.name, known)


def _check(name: ast.Name, known: Known, otherwise: str = "") -> Iterator[Diagnostic]:
    """`otherwise` is another way out where the hidden thing is a local."""
    if name.text not in known:
        return
    what, span = known[name.text]
    help_ = "choose another name"
    if otherwise and what == "the local":
        help_ = f"{help_}, {otherwise.format(name.text)}"
    message = f"`{name.text}` hides {what} of that name"
    yield Diagnostic("W2004", message, name.span, related=(Related(span, "this one"),), help=help_)
