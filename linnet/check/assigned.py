"""What a statement `x = value` assigns to, and the way out where that cannot be."""

from __future__ import annotations

from collections.abc import Iterator

from linnet.check.blame import names_in
from linnet.check.meanings import Meaning, declared_at
from linnet.check.names import Missing
from linnet.check.reorder import shortly
from linnet.check.scope import Scope
from linnet.check.typed import Local, TMemberDecl
from linnet.check.types import Type
from linnet.check.undeclared import missing
from linnet.check.unknown import near
from linnet.syntax import ast

_ONLY = "only a `var` and the `state` of a block can be assigned to"


def target(scope: Scope, stmt: ast.AssignStmt) -> tuple[Local | str | None, Type | None]:
    """The `var`, or the name of the `state`, and its type; None after a report."""
    name = stmt.target
    found = scope.lookup(name.text)
    message = f"`{name.text}` cannot be assigned to"
    match found:
        case Local(mutable=True):
            return found, found.type
        case TMemberDecl(kind="state"):
            scope.read(name.text)
            return name.text, found.type
        case Missing():
            if not found.reported:
                _undeclared(scope, stmt)
            return None, None
        case TMemberDecl(kind=kind):
            message = f"`{name.text}` is a `{kind}`, only a `state` can be assigned to"
        case _:
            pass
    help_ = _way_out(scope, name.text, found)
    folds = [("assigned", name.text)]
    scope.error("E2108", message, name.span, related=declared_at(found), help=help_, folds=folds)
    return None, None


def _way_out(scope: Scope, name: str, found: Meaning) -> str:
    match found:
        case Local() if found in scope.sources and not _of_tuple(scope, found):
            return "declare it with `var`"
        case Local() if found in scope.sources or scope.frames[0].get(name) == found:
            return f"begin with `var {name} = {name}`, which can be assigned to"
        case TMemberDecl():
            return f"`let new_{name} = ...` names another value; what a block keeps is a `state`"
        case _:
            return _ONLY


def _of_tuple(scope: Scope, local: Local) -> bool:
    """Whether `let (a, b) = ...` declares `local`."""
    return any(
        isinstance(stmt, ast.LetTupleStmt) and any(n.span == local.span for n in stmt.names)
        for stmt in _every(scope.body)
    )


def _undeclared(scope: Scope, stmt: ast.AssignStmt) -> None:
    name = stmt.target
    names = [f"*{index.name}" if index.pack else index.name for index in stmt.indices or ()]
    indices = f"[{', '.join(names)}]" if stmt.indices is not None else ""
    keyword = "var" if _changes(scope, name.text) else "let"
    declared = f"{keyword} {name.text}{indices} = {shortly(stmt.value.span)}"
    scope.error(
        "E1201",
        f"nothing named `{name.text}` is declared here",
        name.span,
        help=near(scope, name.text, scope.visible()) or f"declare it: `{declared}`",
        folds=missing(scope, name.text),
    )


def _changes(scope: Scope, name: str) -> bool:
    """Whether `name` is assigned more than once in the function, as far as that shows: also by a
    loop that goes on from what it was."""
    found = [s for s in _every(scope.body) if isinstance(s, ast.AssignStmt)]
    mine = [s for s in found if s.target.text == name]
    if len(mine) > 1 or name in names_in(mine[0].value.span.text):
        return True
    outside = [s for s in scope.body if not _within(s, mine[0])]
    return mine[0] not in scope.body and any(name in names_in(s.span.text) for s in outside)


def _within(outer: ast.Stmt, inner: ast.Stmt) -> bool:
    return any(stmt is inner for stmt in _every((outer,)))


def _every(stmts: tuple[ast.Stmt, ...]) -> Iterator[ast.Stmt]:
    """The statements, and those in loops."""
    for stmt in stmts:
        yield stmt
        if isinstance(stmt, ast.StaticForStmt | ast.WhileStmt):
            yield from _every(stmt.body)
