"""Cuts the tokens of a file into units that are parsed one by one.

A unit is the header, a `use`, an item, or, inside a block, a member or a method. A mistake in
one unit therefore leaves the others readable. Where the braces of a file match, they alone
decide; where they do not, a keyword that cannot stand inside a body begins a unit as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from linnet.syntax.tokens import Token, words

_BODIED = frozenset(["FN", "OP", "ENTRY", "BLOCK", "STRUCT", "ENUM"])
_ITEMS = _BODIED | {"CONST", "TYPE", "USE", "MODULE"}
_ENDED_BY_BRACE = _BODIED | {"USE", "RESERVED"}
_NEVER_IN_BODY = frozenset(["BLOCK", "STRUCT", "ENUM", "CONST", "TYPE", "USE", "MODULE"])
_MEMBERS = frozenset(["PARAM", "BUFFER", "STATE", "SUB"])
_METHODS = frozenset(["FN", "OP", "ENTRY"])
_NAMES = frozenset(["NAME", "RESERVED", "CRATE", "SELF", "SUPER"])
_MEMBER_BEGINNERS = _MEMBERS | _METHODS | {"PUB"}
_BEGINNERS = _ITEMS | {"PUB", "RESERVED", "EXTERN"}
_FOREIGN_ITEMS = words("def class import from func function let var")
_SEPARATORS = frozenset(["COMMA", "SEMICOLON"])
_LITERALS = frozenset(["INT", "FLOAT", "STRING", "TRUE", "FALSE", "NONE"])
_OPERAND_ENDS = _NAMES | _LITERALS | {"RPAR", "RSQB", "RBRACE", "QMARK"}
_NEED_A_NAME = _ITEMS | {"DOT", "PATH_SEP", "LET", "VAR", "PUB", "EXTERN"}


@dataclass(slots=True)
class Unit:
    """Tokens `start` to `end` (excluded). `kind` is the keyword that decides how to read them,
    or `RESERVED`, `MEMBER`, or `JUNK`. A block ends after its `{`; its `members` follow, and
    `closed` says whether a `}` does. `stop` is where the next unit begins. `certain` says that
    the unit is no piece of the one before it: braces match, and it begins a line."""

    kind: str
    start: int
    end: int
    members: list[Unit] = field(default_factory=list["Unit"])
    closed: bool = True
    stop: int = 0
    certain: bool = False

    def __post_init__(self) -> None:
        self.stop = max(self.end, self.start + 1)


def segment(tokens: list[Token]) -> list[Unit]:
    """The units of a file, in order, without gaps."""
    cutter = _Cutter(tokens, _balanced(tokens))
    units: list[Unit] = []
    while (at := units[-1].stop if units else 0) < len(tokens):
        units.append(cutter.unit(at))
        units[-1].certain = at > 0 and cutter.balanced and cutter.begins_line(at)
    return units


def _balanced(tokens: list[Token]) -> bool:
    depth = 0
    for token in tokens:
        if token.type == "LBRACE":
            depth += 1
        elif token.type == "RBRACE":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


@dataclass(slots=True)
class _Cutter:
    tokens: list[Token]
    balanced: bool

    def type_at(self, at: int) -> str:
        return self.tokens[at].type if 0 <= at < len(self.tokens) else ""

    def kind(self, at: int) -> str:
        """What begins at a token, `pub` left aside."""
        kind = self.type_at(at + (self.type_at(at) == "PUB"))
        if kind in _ITEMS:
            return kind
        return "RESERVED" if kind in ("RESERVED", "EXTERN") else "JUNK"

    def begins_line(self, at: int) -> bool:
        """Whether a token is the first of its line. White space has no meaning, but where a
        mistake has to be told from the next item, it shows what the writer meant."""
        if at == 0:
            return True
        token, before = self.tokens[at], self.tokens[at - 1]
        return token.file.text.find("\n", before.end, token.start) >= 0

    def ends_operand(self, at: int) -> bool:
        """Whether a token ends a value or a type, `>` for one with generic arguments: that a
        comparison has a keyword of these at its right is wrong anyway."""
        return self.type_at(at) in _OPERAND_ENDS or (at >= 0 and self.tokens[at].text == ">")

    def may_begin(self, at: int, brackets: int, headless: bool) -> bool:
        """Whether what stands before a token could be the end of an item or a member.

        In the right places a keyword follows the end of an operand, or `,` and `;` that do not
        belong there. A keyword somewhere else, or before the body of what needs one
        (`headless`), is a mistake within an item unless it begins a line.
        """
        separated = self.type_at(at - 1) in _SEPARATORS and brackets <= 0
        ended = self.ends_operand(at - 1) or separated
        return (ended and not headless) or self.begins_line(at)

    def begins_item(self, at: int, brackets: int = 0, headless: bool = False) -> bool:
        """Whether a token outside all braces begins an item."""
        kind, before, after = self.type_at(at), self.type_at(at - 1), self.type_at(at + 1)
        if self.tokens[at].text in _FOREIGN_ITEMS:
            return after in _NAMES and before not in _NEED_A_NAME and self.begins_line(at)
        if kind not in _BEGINNERS or not self.may_begin(at, brackets, headless):
            return False
        ended = self.ends_operand(at - 1)
        if kind == "PUB":
            return ended or after in _BEGINNERS
        if kind in ("RESERVED", "EXTERN"):
            return ended
        if before in _NEED_A_NAME:
            return after in _NAMES and self.begins_line(at)
        if after in _NAMES or before in ("RBRACE", "RESERVED"):
            return True
        return ended and brackets <= 0 and self.begins_line(at)

    def restarts(self, at: int, in_block: bool) -> bool:
        """Whether a token inside braces that do not match begins an item all the same."""
        word = at + (self.type_at(at) == "PUB")
        kind = self.type_at(word)
        if kind not in _NEVER_IN_BODY and (in_block or kind not in _METHODS):
            return False
        return self.type_at(word + 1) in _NAMES and self.begins_item(at)

    def begins_member(self, at: int, depth: int, brackets: int, headless: bool) -> bool:
        """Whether a token at a depth of braces inside a block begins a member or a method."""
        if depth > 0 and self.balanced:
            return False
        kind, before = self.type_at(at), self.type_at(at - 1)
        if kind not in _MEMBER_BEGINNERS or not self.may_begin(at, brackets, headless):
            return False
        if before in _NEED_A_NAME:
            return False
        named = self.type_at(at + 1) in _NAMES or before == "RBRACE" or depth == 0
        return kind not in _METHODS or named

    def unit(self, start: int) -> Unit:
        kind = self.kind(start)
        if kind == "MODULE" and (end := self.header_end(start)):
            return Unit(kind, start, end)
        braces = brackets = 0
        opened = False
        at = start + 1 + (self.type_at(start) == "PUB" and kind != "JUNK")
        while at < len(self.tokens):
            token = self.type_at(at)
            if token == "LBRACE":
                if braces == 0 and brackets == 0 and kind == "BLOCK":
                    return self.block(start, at + 1)
                if kind == "RESERVED" and braces == 0:
                    brackets = 0
                braces += 1
                opened = True
            elif token == "RBRACE":
                braces -= 1
                if braces < 0:  # its own, if its `{` was forgotten
                    return Unit(kind, start, at + (kind in _ENDED_BY_BRACE and not opened))
                if braces == 0 and brackets == 0 and kind in _ENDED_BY_BRACE:
                    return Unit(kind, start, at + 1)
            elif token in ("LPAR", "LSQB"):
                brackets += braces == 0
            elif token in ("RPAR", "RSQB"):
                brackets -= braces == 0
            elif kind == "BLOCK" and token in _MEMBERS and not self.balanced:
                return self.block(start, at)  # the head without its `{`
            elif braces == 0:
                if self.begins_item(at, brackets, kind in _BODIED and not opened):
                    return Unit(kind, start, at)
            elif self.restarted(at, False):
                return Unit(kind, start, at)
            at += 1
        return Unit(kind, start, at)

    def header_end(self, start: int) -> int:
        """The place after `module a.b`, or 0 if no path follows the word."""
        at = start + 1
        while self.type_at(at) in _NAMES:
            if self.type_at(at + 1) != "DOT":
                return at + 1
            at += 2
        return 0

    def restarted(self, at: int, in_block: bool) -> bool:
        return not self.balanced and self.restarts(at, in_block)

    def block(self, start: int, at: int) -> Unit:
        """A block from its start, its head ending before `at`."""
        block = Unit("BLOCK", start, at, closed=False)
        depth, brackets, begin = 0, 0, at
        while at < len(self.tokens) and not self.restarted(at, True):
            token = self.type_at(at)
            in_method = begin < at and self.kind(begin) in _METHODS
            if token == "LBRACE":
                depth += 1
            elif token == "RBRACE":
                depth -= 1
                if depth < 0 and not (in_method and not self.balanced):
                    block.closed = True
                    break
                if depth <= 0 and brackets <= 0 and in_method:
                    self.add_member(block, begin, at + 1)
                    depth, begin = 0, at + 1
            elif token in ("LPAR", "LSQB"):
                brackets += depth == 0
            elif token in ("RPAR", "RSQB"):
                brackets -= depth == 0
            elif at > begin and self.begins_member(at, depth, brackets, in_method and depth <= 0):
                self.add_member(block, begin, at)
                depth, begin = 0, at
            if begin >= at:
                brackets = 0
            at += 1
        self.add_member(block, begin, at)
        block.stop = at + block.closed
        return block

    def add_member(self, block: Unit, start: int, end: int) -> None:
        if start < end:
            kind = "MEMBER" if self.type_at(start) in _MEMBERS else self.kind(start)
            certain = self.balanced and self.begins_line(start)
            block.members.append(Unit(kind, start, end, certain=certain))
