"""Lints: what is declared and never used, in the modules that were asked for."""

from __future__ import annotations

import re

from linnet.check.scope import BlockInfo, Scope, World
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span
from linnet.syntax.habits import DIVIDED
from linnet.syntax.habits_of_items import BUILT
from linnet.syntax.lexer import lex
from linnet.syntax.tokens import Token

# Few files have a line that may be such a division, and only those are read again.
_DIVIDED = re.compile(r"[\w)\]][ \t]*//[ \t]*\w")
_DIVISOR = re.compile(r"(//[ \t]*(\d+|[A-Za-z_]\w*))\s*(?:(?://|#).*)?")
_OPERANDS = frozenset(["NAME", "INT", "RPAR", "RSQB"])
_FEW = 200  # the tokens of a long line
_CALLED_BY_PYTHON = {
    "__init__": BUILT,
    "__call__": "a method has any name, and is called by it: `pub fn forward(...)`",
}


def lint(world: World, finished: list[Scope]) -> None:
    """W1001 to W1005; called only when there are no errors."""
    _imports(world)
    for scope in world.scopes.values():
        if scope.root:
            _comments(scope.tree.span.file, world.sink)
    for scope in finished:
        if scope.module.root:
            _locals(scope)
    for info in world.blocks.found.values():
        if info is not None and world.scopes[info.ref.module].root:
            _members(world, info)


def _imports(world: World) -> None:
    for scope in world.scopes.values():
        if not scope.root:
            continue
        for name, span in scope.import_spans.items():
            if name not in scope.used:
                message = f"the import `{name}` is never used"
                world.sink.add(Diagnostic("W1001", message, span, help="remove it"))


def _comments(file: SourceFile, sink: Sink) -> None:
    """Report `n // 2`, of which `n` is left: a line that assigns or returns, an operand, and a
    comment of nothing but a number or a generic."""
    if not _DIVIDED.search(file.text):
        return
    lexed = lex(file, Sink())
    generics = {a.text for a, b, c in zip(*_three(lexed.tokens), strict=False) if _is_dim(b, c)}
    at = 0
    for comment in lexed.comments:
        while at < len(lexed.tokens) and lexed.tokens[at].start < comment.start:
            at += 1
        divisor = _DIVISOR.fullmatch(file.text, comment.start, comment.end)
        if divisor is None or not (divisor[2].isdigit() or divisor[2] in generics):
            continue
        if _in_a_value(file.text, lexed.tokens[:at], comment.start):
            message = f"`{divisor[1]}` is a comment, and divides nothing"
            span = Span(file, comment.start, divisor.end(1))
            sink.add(Diagnostic("W1004", message, span, help=DIVIDED))


def _three(tokens: list[Token]) -> tuple[list[Token], list[Token], list[Token]]:
    return tokens, tokens[1:], tokens[2:]


def _is_dim(colon: Token, kind: Token) -> bool:
    return colon.type == "COLON" and kind.text == "Dim"


def _in_a_value(text: str, before: list[Token], start: int) -> bool:
    """Whether an operand that a line assigns or returns ends just before `start`."""
    line = text.rfind("\n", 0, start) + 1
    here = [t.type for t in before[-_FEW:] if t.start >= line]
    return bool(here) and here[-1] in _OPERANDS and not {"EQUAL", "RETURN"}.isdisjoint(here)


def _locals(scope: Scope) -> None:
    for local in scope.locals:
        if local not in scope.reads and not local.name.startswith("_"):
            message = f"`{local.name}` is never read"
            help_ = f"remove it, or name it `_{local.name}`"
            scope.world.sink.add(Diagnostic("W1002", message, local.span, help=help_))


def _members(world: World, info: BlockInfo) -> None:
    typed = info.typed
    for member in (*typed.members.values(), *typed.subs.values()):
        if member.name not in info.used:
            message = f"the member `{member.name}` is never used"
            world.sink.add(Diagnostic("W1003", message, member.span))
    for name, method in info.methods.items():
        if name in _CALLED_BY_PYTHON:
            message = f"nothing calls `{name}` but what names it"
            world.sink.add(Diagnostic("W1005", message, method.span, help=_CALLED_BY_PYTHON[name]))
        elif name not in info.public and name not in info.used:
            message = f"the private method `{name}` is never called"
            world.sink.add(Diagnostic("W1003", message, method.span))
