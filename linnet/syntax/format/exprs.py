"""Lays out expressions and types: one method for each name in `linnet.lark`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from linnet.syntax.build_exprs import OPERATORS
from linnet.syntax.format.concrete import Node, Tree, elements, first, last
from linnet.syntax.format.doc import Choice, Doc, Hard, Indent, Line, cat, group
from linnet.syntax.format.leaves import Brackets, Leaves
from linnet.syntax.tokens import Token

CHAINS = frozenset(["folded_chain", "folded_pair", "folded_more"])
_PIECES = frozenset(["chain_start", "chain_more", "same"])  # `same` is an operator
_POSTFIXES = frozenset(["call", "call_generic", "method_generic", "field_of", "index_of"])
_OPENERS = frozenset(["LPAR", "LSQB", "LANGLE"])


class Glued(Leaves):
    """What has no white space inside but that of its parts."""

    def glued(self, *parts: Node) -> Doc:
        """Parts one after the other."""
        return cat(*map(self.layout, parts))

    same = absent = nothing = glued
    path_one = name = variant = plain_index = pack_index = glued
    name_value = int_ = float_ = string = true = false = none = pack = ellipsis = glued
    unary = slice = slice_step = slice_to_step = positional = glued
    none_pattern = variant_pattern = some_pattern = named_type = optional_type = glued

    def path_more(self, start: Node, dot: Node, name: Node) -> Doc:
        """A path, which may be of any length, and is a tree that deep."""
        parts = [name, dot]
        while not isinstance(start, Token) and start.rule == "path_more":
            start, dot, name = start.children
            parts += [name, dot]
        return self.glued(start, *reversed(parts))

    def spaced(self, *parts: Node) -> Doc:
        """Parts with a space between each two."""
        docs = list(map(self.layout, parts))
        return cat(docs[0], *(part for doc in docs[1:] for part in (" ", doc)))

    named = spaced

    def field_value(self, name: Token, colon: Token, value: Node) -> Doc:
        return cat(self.leaf(name), self.leaf(colon), " ", self.layout(value))


class Operators(Glued):
    """Operators and reductions."""

    def folded_chain(self, *parts: Node) -> Doc:
        return self.chain(parts)[0]

    folded_pair = folded_more = folded_chain

    def chain(self, parts: Sequence[Node]) -> tuple[Doc, Doc]:
        """Operands and operators, with what is broken further right, and not."""
        run = _run(parts)
        commented = any(self.is_commented(a, b) for a, b in pairwise(run))
        return self.operations([self.layout(part) for part in run], run[1::2], commented)

    def is_commented(self, left: Node, right: Node) -> bool:
        """Whether comments between two parts of a chain end a line."""
        a, b = last(left), first(right)
        notes = self.notes.after.get(a.start, []) if a else []
        notes = notes + (self.notes.before.get(b.start, []) if b else [])
        return any(note.above for note in notes)

    def operations(self, run: list[Doc], signs: list[Any], commented: bool) -> tuple[Doc, Doc]:
        """Broken after the loosest operators where it has to be, what binds tighter for itself."""
        if len(run) == 1:
            return run[0], run[0]
        levels = [OPERATORS[sign.text][0] for sign in signs]
        cuts = [n for n, level in enumerate(levels) if level == min(levels)]
        segments: list[Doc] = []
        for begin, end in pairwise([-1, *cuts, len(signs)]):
            part = run[2 * begin + 2 : 2 * end + 1]
            segments.append(self.operations(part, signs[begin + 1 : end], commented)[0])
        together: list[Doc] = [segments[0]]
        following: list[Doc] = []
        for cut, segment in zip(cuts, segments[1:], strict=True):
            sign = run[2 * cut + 1]
            together += [" ", sign, " ", segment]
            following += [" ", sign, Hard(), segment]
        further = cat(segments[0], Indent(cat(*following)))
        level = cat(segments[0], *following)
        if commented:
            return further, level
        one_line = cat(*together)
        return Choice((one_line, further)), Choice((one_line, level))

    def reduce(self, word: Token, open_: Token, indices: Node, close: Token, body: Node) -> Doc:
        listed = self.listed(open_, [indices], close, "").doc()
        return cat(self.leaf(word), listed, " ", self.layout(body))

    def reduce_as(self, word: Token, left: Token, dtype: Node, right: Token, *rest: Any) -> Doc:
        open_, indices, close, body = rest
        chosen = self.glued(word, left, dtype, right)
        listed = self.listed(open_, [indices], close, "").doc()
        return cat(chosen, listed, " ", self.layout(body))


class Operands(Operators):
    """Operands in brackets, choices, and postfixes."""

    def enclosed(self, open_: Token, value: Node, close: Token) -> Doc:
        """One expression in brackets."""
        begin, behind, inner = self.leaf(open_), self.after(close), self.level(value)
        doc = cat(begin, Indent(cat(Line(""), inner)), Line(""), self.leaf(close))
        return cat(group(doc), behind)

    def level(self, value: Node) -> Doc:
        """An expression whose lines all begin in one column, operators or not."""
        return self.both(value)[1]

    def both(self, value: Node) -> tuple[Doc, Doc]:
        """An expression for the middle of a line, and for a line of its own."""
        if isinstance(value, Tree) and value.rule in CHAINS:
            return self.chain(value.children)
        doc = self.layout(value)
        return doc, doc

    def grouped(self, open_: Token, value: Node, close: Token) -> Doc:
        return self.enclosed(open_, value, close)

    def some(self, word: Token, open_: Token, value: Node, close: Token) -> Doc:
        return cat(self.leaf(word), self.enclosed(open_, value, close))

    def tuple_(self, open_: Token, *parts: Any) -> Doc:
        *content, close = parts
        return self.listed(open_, content, close, "").doc()

    tuple_type = tuple_
    shape = empty_shape = tuple_

    def if_expr(self, *parts: Node) -> Doc:
        return group(self.branches(*parts))

    def branches(self, *parts: Any) -> Doc:
        word, condition, open_, then, close, else_, other = parts
        head = cat(self.leaf(word), " ", self.layout(condition), " ")
        value = self.branch(open_, then, close)
        return cat(head, value, " ", self.leaf(else_), " ", self.otherwise(other))

    def otherwise(self, tree: Tree) -> Doc:
        """What follows an `else`; a chain of them is broken together."""
        if tree.rule == "else_value":
            return self.branch(*tree.children)
        (following,) = tree.children
        assert isinstance(following, Tree)
        return self.branches(*following.children)

    def branch(self, *parts: Any) -> Doc:
        open_, value, close = parts
        return cat(
            self.leaf(open_), Indent(cat(Line(" "), self.level(value))), Line(" "), self.leaf(close)
        )

    def match(self, word: Token, subject: Node, open_: Token, *rest: Any) -> Doc:
        *arms, close = rest
        head = cat(self.leaf(word), " ", self.layout(subject), " ")
        return cat(head, self.body(open_, elements(arms), close))

    def arm(self, pattern: Node, arrow: Token, value: Node) -> Doc:
        return self.spaced(pattern, arrow, value)

    def struct(self, path: Node, open_: Token, *rest: Any) -> Doc:
        *values, close = rest
        return cat(self.layout(path), " ", self.listed(open_, values, close, " ").doc())

    struct_empty = struct

    def struct_generic(self, path: Node, left: Token, generics: Node, *rest: Any) -> Doc:
        right, open_, *values, close = rest
        chosen = self.listed(left, [generics], right, "")
        given = self.listed(open_, values, close, " ")
        return _one_broken([self.layout(path), chosen, " ", given], 3)

    struct_generic_empty = struct_generic

    def postfix(self, base: Node, *rest: Any) -> Doc:
        """An operand with all that is called and looked up on it; of its brackets those of the
        last call are broken first."""
        waiting: list[Any] = list(rest)
        while isinstance(base, Tree) and base.rule in _POSTFIXES:
            base, *before = base.children
            waiting = [*before, *waiting]
        pieces: list[Doc | Brackets] = [self.layout(base)]
        preferred = 0
        while waiting:
            token = waiting.pop(0)
            if token.type in _OPENERS:
                content, close = waiting.pop(0), waiting.pop(0)
                brackets = self.listed(token, [content], close, "")
                if not brackets.empty and (token.type == "LPAR" or not preferred):
                    preferred = len(pieces)
                pieces.append(brackets)
            else:
                pieces.append(self.leaf(token))
        return _one_broken(pieces, preferred)

    call = call_generic = method_generic = field_of = index_of = postfix


class Types(Operands):
    """Types."""

    def generic_type(self, path: Node, left: Token, arguments: Node, right: Token) -> Doc:
        return cat(self.layout(path), self.listed(left, [arguments], right, "").doc())

    def tensor_type(self, word: Token, open_: Token, dims: Node, *rest: Any) -> Doc:
        semicolon, dtype, close = rest
        begin, behind = cat(self.leaf(word), self.leaf(open_)), self.after(close)
        items = elements([dims])
        parts: list[Doc] = []
        for n, (item, comma) in enumerate(items):
            # After the last one stands a `;`, also where the author wrote a comma before it.
            is_last = n == len(items) - 1
            parts += [self.layout(item), self.comma(comma, "" if is_last else ",")]
            parts += [] if is_last else [Line(" ")]
        inner = cat(Line(""), *parts, self.leaf(semicolon), Line(" "), self.layout(dtype))
        return cat(group(cat(begin, Indent(inner), Line(""), self.leaf(close))), behind)

    def array_type(self, open_: Token, element: Node, *rest: Any) -> Doc:
        semicolon, count, close = rest
        return cat(self.glued(open_, element, semicolon), " ", self.glued(count, close))


def _run(parts: Sequence[Node]) -> list[Node]:
    """The operands and operators of a chain, in turn."""
    found: list[Node] = []
    waiting: list[Node] = list(reversed(parts))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Tree) and node.rule in _PIECES:
            waiting += reversed(node.children)
        else:
            found.append(node)
    return found


def _one_broken(pieces: list[Doc | Brackets], preferred: int) -> Doc:
    """Pieces on one line, or with the one preferred list broken, or all that have to be."""
    lists = [p for p in pieces if isinstance(p, Brackets) and not p.empty]
    natural = cat(*(p.doc() if isinstance(p, Brackets) else p for p in pieces))
    if len(lists) < 2:
        return natural
    chosen = cat(
        *(p.doc(n == preferred) if isinstance(p, Brackets) else p for n, p in enumerate(pieces))
    )
    return Choice((natural, chosen, natural))
