"""Settles what one token of lookahead cannot, by changing the types of tokens.

- `<` and `>` become LANGLE and RANGLE where they enclose generics (see `angles.py`);
- `{` becomes STRUCT_OPEN where it opens a struct value and not a body: in the head of an `if`,
  `while`, `match`, `static for` or an item, the first `{` outside all brackets is the body's;
- `sum`, `prod`, `max`, `min`, `any`, `all` become REDUCE before an index list, unless a
  parameter or a local of that name is in scope;
- `Tensor` becomes TENSOR before `[`, and a reserved word a NAME once it has been reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.syntax.angles import Angles
from linnet.syntax.segment import Unit
from linnet.syntax.tokens import REDUCTIONS, Token

# Nesting beyond this is refused (E1104), in brackets as in the tree, so that what walks the
# tree recursively later stays well within Python's own limit of a thousand frames.
NESTING_LIMIT = 80

_HEADS = {
    **dict.fromkeys(("FN", "OP", "ENTRY", "WHILE", "FOR"), "body"),
    "BLOCK": "block",
    "STRUCT": "struct",
    "ENUM": "enum",
    "IF": "value",
    "MATCH": "match",
}
_CLOSERS = {"RPAR": "(", "RSQB": "[", "RBRACE": "{"}
_OPENERS = {"LPAR": "(", "LSQB": "[", "LBRACE": "{"}
_STATEMENTS = frozenset(["LET", "VAR", "RETURN", "STATIC", "WHILE"])
_NOT_BEFORE_TARGET = frozenset(["LET", "VAR", "DOT", "COLON"])
_INSTEAD = {
    "mut": "what is assigned again is declared with `var`",
    "ref": "there are no references",
}
_OPERATORS = frozenset(["BINARY", "SIGN", "STAR", "BANG", "DOT"])


@dataclass(slots=True)
class _Frame:
    """An open bracket. `shadows` holds the reduction names that are locals in it, `coming` the
    one of the statement being read; `base` and `count` bound the nesting of the tree."""

    sign: str
    kind: str
    at: int
    base: int
    count: int = 0
    shadows: set[str] = field(default_factory=set[str])
    coming: set[str] = field(default_factory=set[str])

    def statement(self) -> None:
        """A statement begins: the name that the one before it declared is in scope now."""
        self.count = 0
        if self.coming:
            self.shadows |= self.coming
            self.coming = set()


@dataclass(slots=True)
class Resolved:
    """What resolving found beside the types of the tokens.

    `deep` is the number of the token where the tree may be nested beyond the limit (`too_deep`:
    where it is for certain), `unclosed` has the brackets without an end, `reserved` the ids of
    the tokens that were reserved words.
    """

    deep: int | None = None
    too_deep: bool = False
    reserved: set[int] = field(default_factory=set[int])
    unclosed: list[int] = field(default_factory=list[int])


def resolve(tokens: list[Token], hidden: set[str], sink: Sink) -> Resolved:
    """Resolves the tokens of one unit in place; `hidden` are reductions that members hide."""
    resolver = _Resolver(tokens, sink)
    resolver.frames[0].shadows |= hidden
    resolver.run()
    resolver.result.unclosed = [frame.at for frame in resolver.frames[1:]] + resolver.unclosed
    return resolver.result


def hidden_by(tokens: list[Token], members: list[Unit]) -> set[str]:
    """The reductions that members of a block hide by their names."""
    starts = [member.start for member in members if member.kind == "MEMBER"]
    named = [tokens[start + 1] for start in starts if start + 1 < len(tokens)]
    return {token.text for token in named} & REDUCTIONS


class _Resolver:
    def __init__(self, tokens: list[Token], sink: Sink) -> None:
        self.tokens = tokens
        self.sink = sink
        self.result = Resolved()
        self.angles = Angles(tokens)
        self.frames = [_Frame("", "", -1, 0)]
        self.heads: list[tuple[str, int]] = []  # what an awaited `{` opens, and at which depth
        self.in_where = False
        self.next_shadows: set[str] = set()  # names that the next body declares
        self.reported: set[str] = set()
        self.unclosed: list[int] = []

    def type_at(self, at: int) -> str:
        return self.tokens[at].type if 0 <= at < len(self.tokens) else ""

    def run(self) -> None:
        tokens = self.tokens
        at = 0
        while at < len(tokens) and not self.result.too_deep:
            token = tokens[at]
            kind = token.type
            if kind == "NAME":
                self.name(at, token)
            elif kind in _OPERATORS:
                self.operator(at, token)
            elif kind in _OPENERS:
                self.open(at, token)
            elif kind in _CLOSERS:
                self.close(at, _CLOSERS[kind])
            elif kind == "COMMA" or kind == "EQUAL":
                self.frames[-1].count = 0
            elif kind == "RESERVED":
                self.reserved(at, token)
            else:
                self.keyword(at, kind)
            at += 1

    # --- names

    def name(self, at: int, token: Token) -> None:
        after = self.type_at(at + 1)
        text = token.text
        if after == "LSQB" and text == "Tensor":
            token.type = "TENSOR"
        elif after in ("EQUAL", "LSQB") and self.is_assignment(at, after):
            self.frames[-1].statement()
            return
        elif after == "FAT_ARROW" and self.frames[-1].kind == "match":
            self.frames[-1].shadows = set()
        if text in REDUCTIONS:
            self.reduction(at, token, after)

    def is_assignment(self, at: int, after: str) -> bool:
        """Whether a name begins a statement: `name =` or `name[i, j] =`."""
        if self.frames[-1].kind != "body" or self.type_at(at - 1) in _NOT_BEFORE_TARGET:
            return False
        if after == "EQUAL":
            return True
        depth = 0
        for place in range(at + 1, len(self.tokens)):
            kind = self.tokens[place].type
            if kind == "LSQB":
                depth += 1
            elif kind == "RSQB":
                depth -= 1
                if depth == 0:
                    return self.type_at(place + 1) == "EQUAL"
            elif kind not in ("NAME", "STAR", "COMMA", "RESERVED"):
                return False  # a left side lists indices only
        return False

    def reduction(self, at: int, token: Token, after: str) -> None:
        before = self.type_at(at - 1)
        if before in ("LET", "VAR"):
            self.frames[-1].coming.add(token.text)
        elif before == "FOR":
            self.next_shadows.add(token.text)
        elif before in ("LPAR", "COMMA") and self.in_let_tuple():
            self.frames[-2].coming.add(token.text)
        elif before in ("LPAR", "COMMA") and after == "COLON" and self.in_parameters():
            self.frames[0].shadows.add(token.text)
        elif before == "LPAR" and self.type_at(at - 2) == "SOME" and after == "RPAR":
            if self.type_at(at + 2) == "FAT_ARROW" and len(self.frames) > 1:
                self.frames[-2].shadows = {token.text}
        elif before != "DOT" and not any(token.text in f.shadows for f in self.frames):
            indexed = after == "LSQB"
            if after == "BINARY" and self.tokens[at + 1].text == "<":
                close = self.angles.closing(at + 1, declares=False)
                indexed = close is not None and self.type_at(close + 1) == "LSQB"
            if indexed:
                token.type = "REDUCE"

    def in_parameters(self) -> bool:
        """Whether the innermost bracket is the one after a function's name."""
        return len(self.frames) == 2 and self.frames[1].sign == "(" and self.heads == [("body", 1)]

    def in_let_tuple(self) -> bool:
        frame = self.frames[-1]
        return frame.sign == "(" and self.type_at(frame.at - 1) == "LET"

    def reserved(self, at: int, token: Token) -> None:
        token.type = "NAME"
        if token.text == "random" and "DOT" in (self.type_at(at - 1), self.type_at(at + 1)):
            return  # the module `std.random`
        self.result.reserved.add(id(token))
        if token.text not in self.reported:
            self.reported.add(token.text)
            message = f"`{token.text}` is a reserved word"
            help = _INSTEAD.get(token.text, f"use another name, `{token.text}_` for instance")
            self.sink.add(Diagnostic("E1004", message, token.span, "not a name", help=help))

    # --- signs and keywords

    def operator(self, at: int, token: Token) -> None:
        self.grow(at)
        if (
            token.text == "<"
            and token.type == "BINARY"
            and self.type_at(at - 1) in ("NAME", "REDUCE")
        ):
            self.angle(at)

    def grow(self, at: int) -> None:
        """Counts a token that may put what stands before or after it one level deeper."""
        frame = self.frames[-1]
        frame.count += 1
        if frame.base + frame.count > NESTING_LIMIT and self.result.deep is None:
            self.result.deep = at

    def angle(self, at: int) -> None:
        """Decides whether a `<` after a name opens generic arguments."""
        start = at - 1
        while self.type_at(start - 1) == "DOT" and self.type_at(start - 2) == "NAME":
            start -= 2
        before = self.type_at(start - 1)
        declares = before in ("FN", "OP", "ENTRY", "BLOCK", "STRUCT", "TYPE")
        in_type = before == "ARROW" or (
            before == "COLON"
            and self.frames[-1].kind != "struct value"
            and self.frames[-1].sign != "["
        )
        if self.in_where and not declares:
            return
        close = self.angles.closing(at, declares, in_type)
        if close is None:
            if declares or in_type:
                self.tokens[at].type = "LANGLE"
            return
        if self.angles.generic_before(close, self.tokens[at - 1].type) or declares or in_type:
            self.tokens[at].type = "LANGLE"
            self.angles.close(close)

    def keyword(self, at: int, kind: str) -> None:
        if kind in _HEADS:
            self.heads.append((_HEADS[kind], len(self.frames)))
            if kind in ("IF", "MATCH"):
                self.grow(at)
        elif kind == "ELSE" and self.type_at(at + 1) == "LBRACE":
            self.heads.append(("value", len(self.frames)))
        if kind in _STATEMENTS:
            self.frames[-1].statement()
        elif kind == "WHERE":
            self.in_where = True
        elif kind == "NONE" and self.type_at(at + 1) == "FAT_ARROW":
            self.frames[-1].shadows = set()

    # --- brackets

    def open(self, at: int, token: Token) -> None:
        sign, kind = _OPENERS[token.type], ""
        if sign == "{":
            kind = self.brace(at, token)
        frame = self.frames[-1]
        self.frames.append(_Frame(sign, kind, at, frame.base + frame.count + 1))
        if kind == "body":
            self.frames[-1].shadows |= self.next_shadows
            self.next_shadows = set()
        if len(self.frames) > NESTING_LIMIT and not self.result.too_deep:
            self.result.deep, self.result.too_deep = at, True

    def brace(self, at: int, token: Token) -> str:
        """What a `{` opens."""
        if self.heads and self.heads[-1][1] == len(self.frames):
            self.in_where = False
            return self.heads.pop()[0]
        if self.type_at(at - 1) in ("NAME", "RANGLE"):
            token.type = "STRUCT_OPEN"
            return "struct value"
        return "value"

    def close(self, at: int, sign: str) -> None:
        """Closes the innermost bracket of a sign; those left open inside it end with it."""
        if not any(frame.sign == sign for frame in self.frames):
            return
        while len(self.frames) > 1:
            frame = self.frames.pop()
            if frame.sign == sign:
                break
            self.unclosed.append(frame.at)
        while self.heads and self.heads[-1][1] > len(self.frames):
            self.heads.pop()
        self.grow(at)
