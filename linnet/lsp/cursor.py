"""What the tokens before a place say of it: no tree is needed, so that it is told of any text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.lexer import lex
from linnet.syntax.tokens import Token, words

ITEM_WORDS = words("use pub const type struct enum fn op block entry")
MEMBER_WORDS = words("param buffer state sub fn pub entry")
STATEMENT_WORDS = words("let var return static while")
EXPRESSION_WORDS = words("if else match true false none some in where")

_OPENS = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}
_CLOSES = frozenset({"RPAR", "RSQB", "RBRACE"})
_HEADS = words("BLOCK STRUCT ENUM FN OP ENTRY MATCH WHILE FOR IF ELSE USE")
_DECLARING = words("FN OP ENTRY BLOCK STRUCT ENUM CONST TYPE")
_IN_USE = words("DOT PATH_SEP LBRACE COMMA NAME CRATE SELF SUPER AS USE")
_BEFORE_PART = words("DOT PATH_SEP LBRACE COMMA USE")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The word at a place is `start` to `end`, of which `offset` is a part; `before` are the tokens
    before it, and `open` the brackets among them that are not closed there."""

    file: SourceFile
    start: int
    end: int
    before: tuple[Token, ...]
    open: tuple[Token, ...]

    @property
    def text(self) -> str:
        return self.file.text

    def begins_line(self) -> bool:
        """Whether the word is the first of its line."""
        line = self.text.rfind("\n", 0, self.start) + 1
        return not self.text[line : self.start].strip()

    def head(self) -> str:
        """The type of the keyword whose braces are innermost; empty outside all."""
        braces = [t for t in self.open if t.type == "LBRACE"]
        if not braces:
            return ""
        at = self.before.index(braces[-1])
        found = (t.type for t in reversed(self.before[:at]) if t.type in _HEADS)
        return next(found, "")

    def words(self) -> frozenset[str]:
        """The keywords that may stand here."""
        if self.begins_line() and not self.open:
            return ITEM_WORDS if self.before else frozenset({"module"})
        if self.begins_line() and self.open[-1].type == "LBRACE":
            if self.head() == "BLOCK":
                return MEMBER_WORDS
            return STATEMENT_WORDS | EXPRESSION_WORDS
        return EXPRESSION_WORDS

    def declares(self) -> bool:
        """Whether only a keyword can begin what stands here, or a name that is new."""
        if self.before and self.before[-1].type in {*_DECLARING, "LET", "VAR", "MODULE", "AS"}:
            return True
        return self.begins_line() and (
            not self.open or (self.open[-1].type == "LBRACE" and self.head() == "BLOCK")
        )

    def use(self) -> tuple[Token, ...] | None:
        """The tokens behind the `use` that the word continues, None if it is in none."""
        if not self.before or self.before[-1].type not in _BEFORE_PART:
            return None
        found: list[Token] = []
        for token in reversed(self.before):
            if token.type == "USE":
                return tuple(reversed(found))
            if token.type not in _IN_USE:
                return None
            found.append(token)
        return None

    def closers(self) -> str:
        """What would close the parentheses and brackets around the word, up to the next brace."""
        out = ""
        for token in reversed(self.open):
            if token.type == "LBRACE":
                break
            out += _OPENS[token.type]
        return out

    def words_of_item(self) -> Iterator[str]:
        """The names that the item around mentions before the word."""
        for token in reversed(self.before):
            if token.type in _DECLARING:
                return
            if token.type == "NAME":
                yield token.text


def cursor(file: SourceFile, offset: int) -> Cursor | None:
    """What stands before a place; None within a comment, a string or a number."""
    text = file.text
    start, end = offset, offset
    while start > 0 and _of_word(text[start - 1]):
        start -= 1
    while end < len(text) and _of_word(text[end]):
        end += 1
    if text[start:end][:1].isdigit():
        return None
    lexed = lex(file, Sink())
    if any(c.start < offset and _reaches(text, c.start, c.end, offset) for c in lexed.comments):
        return None
    before = [t for t in lexed.tokens if t.start < start]
    if before and before[-1].type == "STRING" and before[-1].end >= offset:
        return None
    return Cursor(file, start, end, tuple(before), tuple(_open(before)))


def _of_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


def _reaches(text: str, start: int, end: int, offset: int) -> bool:
    """Whether a comment holds a place: behind a line comment there is still that comment."""
    return offset <= end if text.startswith("//", start) else offset < end


def _open(tokens: list[Token]) -> list[Token]:
    """The brackets that are not closed."""
    found: list[Token] = []
    for token in tokens:
        if token.type in _OPENS:
            found.append(token)
        elif token.type in _CLOSES:
            while found and _OPENS[found.pop().type] != token.text:
                pass
    return found
