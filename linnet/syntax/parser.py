"""Text to tree. Each unit of a file is parsed for itself, so that one run finds all mistakes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span
from linnet.syntax import ast
from linnet.syntax.build_items import BlockHead
from linnet.syntax.depth import depth_of
from linnet.syntax.docs import documentation
from linnet.syntax.expected import syntax_error, unexpected
from linnet.syntax.lalr import UnexpectedTokenError
from linnet.syntax.lexer import lex
from linnet.syntax.misspelt import keyword_meant, misspelt
from linnet.syntax.resolve import NESTING_LIMIT, Resolved, hidden_by, resolve
from linnet.syntax.segment import Unit, segment
from linnet.syntax.tables import RULES, parser
from linnet.syntax.tokens import Lexed, Token, words

# The parts of an item that may be documented themselves; members and methods are units.
_PARTS: dict[type[Any], str] = {
    ast.FunctionDecl: "params",
    ast.StructDecl: "fields",
    ast.EnumDecl: "variants",
}
_METHODS = frozenset(["FN", "OP", "ENTRY"])
_DECLARE = words("FN OP ENTRY BLOCK STRUCT ENUM TYPE CONST PARAM BUFFER STATE SUB RESERVED")
_ITEM_WORDS = "`use`, `const`, `type`, `struct`, `enum`, `fn`, `op`, `block` or `entry`"
_MEMBER_WORDS = "`param`, `buffer`, `state`, `sub`, `fn`, `pub` or `}`"


def parse(file: SourceFile, sink: Sink) -> ast.Module | None:
    """The tree of a file; findings go to `sink`. None if there is nothing to make a module of."""
    lexed = lex(file, sink)
    return _FileParser(file, sink, lexed, documentation(file.text, lexed)).run()


@dataclass(slots=True)
class _FileParser:
    file: SourceFile
    sink: Sink
    lexed: Lexed
    docs: dict[int, str]
    path: ast.ModulePath | None = None
    uses: list[ast.UseDecl] = field(default_factory=list[ast.UseDecl])
    items: list[ast.Item] = field(default_factory=list[ast.Item])
    doc: str | None = None
    complete: bool = True
    after_error: set[int] = field(default_factory=set[int])
    lost: set[str] = field(default_factory=set[str])
    failures: int = 0  # units that could not be read; what follows one may be a part of it

    def run(self) -> ast.Module | None:
        # Resolving may add a token to a unit, so tokens are told by their identity, not place.
        tokens = self.lexed.tokens
        self.after_error = {id(tokens[n]) for n in self.lexed.after_error if n < len(tokens)}
        units = segment(self.lexed.tokens)
        if self.lexed.after_error:
            self.complete = False
        if not units or units[0].kind != "MODULE":
            self.no_header()
        silent = True  # what precedes the first unit is the missing header's matter
        for unit in units:
            failures = self.failures
            self.unit(unit, silent and not unit.certain)
            silent = self.failures > failures
        if self.path is None:
            if not self.uses and not self.items:
                return None
            start = Span(self.file, 0, 0)
            name = PurePath(self.file.path).stem or "main"
            self.path = ast.ModulePath((ast.Name(name, start),), start)
        span = Span(self.file, 0, len(self.file.text))
        uses, items = tuple(self.uses), tuple(self.items)
        return ast.Module(
            self.path, uses, items, self.doc, self.complete, frozenset(self.lost), span
        )

    # --- units

    def unit(self, unit: Unit, silent: bool) -> None:
        if unit.kind == "JUNK":
            self.unknown(unit, "an item", f"an item begins with {_ITEM_WORDS}", silent)
        elif unit.kind == "RESERVED":
            self.reserved(unit)
        elif unit.kind == "BLOCK":
            self.block(unit)
        else:
            tree = self.tree(unit)
            if isinstance(tree, ast.ModulePath):
                self.header(unit, tree)
            elif isinstance(tree, ast.UseDecl):
                self.uses.append(tree)
            elif tree is not None:
                self.items.append(self.documented(tree))

    def no_header(self) -> None:
        self.complete = False
        tokens = self.lexed.tokens
        span = tokens[0].span if tokens else Span(self.file, 0, 0)
        help = "begin the file with `module` and its path, `module a.b` for instance"
        message = "a file starts with `module`"
        self.sink.add(Diagnostic("E1102", message, span, "`module` expected here", help=help))

    def header(self, unit: Unit, path: ast.ModulePath) -> None:
        if self.path is None:
            self.path, self.doc = path, self.docs.get(self.lexed.tokens[unit.start].start)
        if unit.start > 0 and self.complete:
            self.complete = False
            message = "unexpected `module`, a file is one module"
            span = self.lexed.tokens[unit.start].span
            self.sink.add(Diagnostic("E1101", message, span, "a second `module`"))

    def unknown(self, unit: Unit, what: str, help: str, silent: bool) -> None:
        """Reports a unit that begins with none of the words that could begin it."""
        self.complete = False
        # A `}` too many, after a failure, closes what a missing `{` did not open.
        silent |= self.failures > 0 and self.lexed.tokens[unit.start].type == "RBRACE"
        self.failures += 1
        self.lose(unit)
        tokens = self.lexed.tokens[unit.start : unit.end] or [self.lexed.tokens[unit.start]]
        if silent or unit.start in self.lexed.after_error:
            return
        at = int(tokens[0].type == "PUB" and len(tokens) > 1 and tokens[1].type == "NAME")
        found = unexpected(tokens[at], [what])
        known = syntax_error(tokens, at, None, set(), []).help
        meant = keyword_meant(tokens[at].text, re.findall(r"`(\w+)`", help))
        self.sink.add(replace(found, help=known or meant or help))

    def lose(self, unit: Unit) -> None:
        """Keeps the names that a unit declares: what uses them is not to blame for the unit."""
        tokens = self.lexed.tokens[unit.start : max(unit.end, unit.start + 1)]
        for before, token in pairwise(tokens):
            if token.text.isidentifier() and (unit.kind == "USE" or before.type in _DECLARE):
                self.lost.add(token.text)
        if unit.kind == "JUNK":  # `def f`, `w: Tensor`, `let N`
            self.lost.update(token.text for token in tokens[:3] if token.text.isidentifier())

    def reserved(self, unit: Unit) -> None:
        self.complete = False
        self.lose(unit)
        token = self.lexed.tokens[unit.start]
        if token.type == "PUB":
            token = self.lexed.tokens[unit.start + 1]
        message = f"`{token.text}` is reserved for a later version of the language"
        self.sink.add(Diagnostic("E1103", message, token.span, "reserved syntax"))

    def block(self, unit: Unit) -> None:
        failures = self.failures
        head = self.tree(unit)
        hidden = hidden_by(self.lexed.tokens, unit.members)
        members: list[ast.Member] = []
        methods: list[ast.FunctionDecl] = []
        for part in unit.members:
            if part.kind == "RESERVED":
                self.reserved(part)
                continue
            if part.kind not in _METHODS and part.kind != "MEMBER":
                silent = head is None or (self.failures > failures and not part.certain)
                self.unknown(part, "a member or a method", f"a block holds {_MEMBER_WORDS}", silent)
                continue
            failures = self.failures
            tree = self.tree(part, hidden)
            if isinstance(tree, ast.Member):
                members.append(self.documented(tree))
            elif isinstance(tree, ast.FunctionDecl):
                methods.append(self.documented(tree))
        if not unit.closed:
            self.unclosed_block(unit)
        if isinstance(head, BlockHead):
            last = self.lexed.tokens[unit.stop - 1]
            public, name, generics, where = head.public, head.name, head.generics, head.where
            start = head.span.start
            head_span = Span(self.file, start, self.lexed.tokens[unit.end - 2].end)
            span = Span(self.file, start, last.end)
            parts = tuple(members), tuple(methods)
            doc = self.docs.get(start)
            block = ast.BlockDecl(public, name, generics, where, *parts, doc, head_span, span)
            self.items.append(block)

    def unclosed_block(self, unit: Unit) -> None:
        # A mistake inside has taken the brace with it, as far as the reader can tell.
        if self.complete:
            self.complete = False
            tokens = self.lexed.tokens[: unit.stop]
            following = self.following(unit.stop)
            opener = unit.end - 1
            self.sink.add(syntax_error(tokens, unit.stop, following, {"RBRACE"}, [opener]))

    # --- one unit

    def following(self, at: int) -> Token | None:
        return self.lexed.tokens[at] if at < len(self.lexed.tokens) else None

    def tree(self, unit: Unit, hidden: set[str] | None = None) -> Any:
        """What a unit says, or None where that was not clear and has been reported."""
        tokens = self.lexed.tokens[unit.start : unit.end]
        resolved = resolve(tokens, hidden or set(), self.sink)
        if resolved.reserved:
            self.complete = False
        if resolved.too_deep:
            return self.too_deep(unit, tokens, resolved)
        try:
            tree = parser().parse(tokens, RULES[unit.kind])
        except UnexpectedTokenError as error:
            self.unexpected(unit, tokens, resolved, error)
            return None
        if resolved.deep is not None and depth_of(tree) > NESTING_LIMIT:
            return self.too_deep(unit, tokens, resolved)
        return self.with_relations(tree)

    def unexpected(
        self, unit: Unit, tokens: list[Token], resolved: Resolved, error: UnexpectedTokenError
    ) -> None:
        """Reports a syntax error, unless a finding that is already known explains it."""
        self.complete = False
        self.failures += 1
        self.lose(unit)
        at = error.at
        following = self.following(unit.end)
        near = tokens[max(at - 2, 0) : at + 1]
        if at == len(tokens) and following is not None:
            near.append(following)
        if any(id(t) in self.after_error or id(t) in resolved.reserved for t in near):
            return
        if at == len(tokens) and unit.end in self.lexed.after_error:
            return
        unclosed = [u for u in resolved.unclosed if unit.kind != "BLOCK" or u < unit.end - 1]
        follows = partial(parser().accepted, start=RULES[unit.kind])
        found = misspelt(tokens, at, follows)
        wanted = follows(tokens[:at])
        self.sink.add(found or syntax_error(tokens, at, following, wanted, unclosed))

    def too_deep(self, unit: Unit, tokens: list[Token], resolved: Resolved) -> None:
        self.complete = False
        self.lose(unit)
        span = tokens[resolved.deep or 0].span
        message = f"nested too deeply (limit {NESTING_LIMIT})"
        help = "name a part of it with `let`, or move a part to a function of its own"
        self.sink.add(Diagnostic("E1104", message, span, "beyond the limit here", help=help))

    def with_relations(self, tree: Any) -> Any:
        """Reports what stands in a `where` and is no relation, and leaves it out."""
        where: tuple[ast.Expr, ...] = getattr(tree, "where", ())
        kept = tuple(relation for relation in where if _is_relation(relation))
        if len(kept) == len(where):
            return tree
        self.complete = False
        self.failures += 1
        for relation in where:
            if not _is_relation(relation):
                message = "unexpected expression, expected a relation"
                help = "`where` lists comparisons of dimensions: `where N > 0, H % N == 0`"
                self.sink.add(
                    Diagnostic("E1101", message, relation.span, "not a relation", help=help)
                )
        return replace(tree, where=kept)

    # --- documentation

    def documented(self, node: Any) -> Any:
        """A node with the documentation that stands before it and before its parts."""
        changes: dict[str, Any] = {}
        if name := _PARTS.get(node.__class__):
            changes[name] = tuple(map(self.documented, getattr(node, name)))
        if doc := self.docs.get(node.span.start):
            changes["doc"] = doc
        return replace(node, **changes) if changes else node


def _is_relation(tree: ast.Expr) -> bool:
    return isinstance(tree, ast.BinaryExpr) and tree.op in ast.COMPARISONS
