"""Text to tokens. What is wrong with a word or a character is reported here, once, and skipped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span
from linnet.syntax.tokens import KINDS, Lexed, Token

_I64_MAX = 2**63 - 1

_MASTER = re.compile(
    r"""[ \t\r\n\f]*(?:
      (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<line_comment>//[^\n]*)
    | (?P<block_comment>/\*)
    | (?P<number>[0-9](?:[0-9_]*\.[0-9][0-9_]*(?:[eE][+-]?[0-9_]+)?|[0-9_]*[eE][+-][0-9_]+)?
        [A-Za-z0-9_]*)
    | (?P<sign>\.\.\.|\.\.|::|=>|->|==|!=|<=|>=|&&|\|\||\*\*|[+\-*/%&|^]=
        |[()\[\]{}<>,.:;=+\-*/%!&|^?])
    | (?P<string>"(?:[^"\\\n]|\\.)*"?)
    | (?P<bad>'[^'\n]*'|[^\x00-\x7f]+|[^ \t\r\n\f])
    )?""",
    re.VERBOSE,
)
_INT = re.compile(r"0x_*[0-9a-fA-F][0-9a-fA-F_]*|0b_*[01][01_]*|[0-9][0-9_]*")
_FLOAT = re.compile(
    r"[0-9][0-9_]*\.[0-9][0-9_]*(?:[eE][+-]?_*[0-9][0-9_]*)?|[0-9][0-9_]*[eE][+-]?_*[0-9][0-9_]*"
)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|x([0-7][0-9a-fA-F])|(.))?")
_SIMPLE_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", '"': '"', "'": "'"}

_BAD_CHARACTER_HELP = {
    "@": "write a product of matrices in index notation: `sum[k] a[i, k] * b[k, j]`",
    "#": "a comment begins with `//`",
    "'": "a string stands in double quotes",
    "`": "names are written without quotes",
}
# A token that ends an operand: a `-` after it is the binary one.
_OPERAND_ENDS = frozenset(["NAME", "INT", "FLOAT", "STRING", "RPAR", "RSQB", "RBRACE"])


def int_value(text: str) -> int | None:
    """The value of an integer literal, None if it is far beyond 64 bits."""
    digits = text.replace("_", "")
    base = {"0x": 16, "0b": 2}.get(digits[:2], 10)
    digits = (digits if base == 10 else digits[2:]).lstrip("0") or "0"
    return int(digits, base) if len(digits) <= 64 else None


def string_value(text: str) -> str:
    """The value of a string literal, its escapes resolved; a bad escape stands for itself."""

    def replace(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code:
            return chr(int(code, 16)) if int(code, 16) < 0x110000 else match[0]
        return _SIMPLE_ESCAPES.get(match[3] or "", match[0])

    body = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    return _ESCAPE.sub(replace, body)


def lex(file: SourceFile, sink: Sink) -> Lexed:
    """The tokens of a file. Reports E1001, E1002, E1003 and E1005 and goes on."""
    lexer = _Lexer(file, sink)
    lexer.run()
    return Lexed(lexer.tokens, lexer.docs, lexer.after_error)


@dataclass(slots=True)
class _Lexer:
    file: SourceFile
    sink: Sink
    tokens: list[Token] = field(default_factory=list[Token])
    docs: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    after_error: set[int] = field(default_factory=set[int])

    def run(self) -> None:
        text, file, tokens = self.file.text, self.file, self.tokens
        match_at, kinds = _MASTER.match, KINDS
        at = 1 if text.startswith("\ufeff") else 0
        while match := match_at(text, at):
            group, at = match.lastgroup, match.end()
            if group is None:
                return
            start = match.start(group)
            if group == "name":
                word = match[1]
                tokens.append(Token(kinds.get(word, "NAME"), word, start, at, file))
            elif group == "sign":
                sign = text[start:at]
                tokens.append(Token(kinds.get(sign, "FOREIGN"), sign, start, at, file))
            elif group == "line_comment":
                if text.startswith("///", start) and not text.startswith("////", start):
                    self.add_doc(text[start + 3 : at].rstrip())
            elif group == "block_comment":
                at = self.block_comment(start)
            elif group == "number":
                at = self.number(start, at)
            elif group == "string":
                self.string(start, at)
            else:
                self.bad_character(start, at)

    def add_doc(self, text: str) -> None:
        self.docs.setdefault(len(self.tokens), []).append(text.removeprefix(" "))

    def error(self, code: str, message: str, start: int, end: int, help: str | None = None) -> None:
        self.after_error.add(len(self.tokens))
        self.sink.add(Diagnostic(code, message, Span(self.file, start, end), help=help))

    def block_comment(self, start: int) -> int:
        """Skips a comment, those inside it included, and gives the place after it."""
        text, depth, at = self.file.text, 1, start + 2
        while depth:
            edge = _COMMENT_EDGE.search(text, at)
            if edge is None:
                help = "close it with `*/`; comments nest, so each `/*` needs its own"
                self.error("E1002", "unclosed block comment", start, start + 2, help)
                return len(text)
            depth += 1 if edge[0] == "/*" else -1
            at = edge.end()
        if text.startswith("/**", start) and at - start > 4 and text[start + 3] != "*":
            lines = [
                line.strip().removeprefix("*") for line in text[start + 3 : at - 2].split("\n")
            ]
            self.add_doc("\n".join(line.removeprefix(" ").rstrip() for line in lines).strip("\n"))
        return at

    def number(self, start: int, end: int) -> int:
        text = self.file.text
        word = text[start:end]
        trailing_dot = (
            text.startswith(".", end)
            and not text.startswith("..", end)
            and not (text[end + 1 : end + 2].isalnum() or text[end + 1 : end + 2] == "_")
        )
        if _FLOAT.fullmatch(word):
            self.tokens.append(Token("FLOAT", word, start, end, self.file))
        elif _INT.fullmatch(word) and trailing_dot:
            help = f"a float has digits on both sides of the point: `{word}.0`"
            end += 1
            self.error("E1005", f"bad number `{word}.`", start, end, help)
            self.tokens.append(Token("FLOAT", f"{word}.0", start, end, self.file))
        elif not _INT.fullmatch(word):
            help = "numbers are written `42`, `1_000`, `0xff`, `0b1010`, `1.5` or `1e-5`"
            self.error("E1005", f"bad number `{word}`", start, end, help)
            self.tokens.append(Token("INT", "0", start, end, self.file))
        else:
            self.integer(word, start, end)
        return end

    def integer(self, word: str, start: int, end: int) -> None:
        value = int_value(word)
        if value is None or value > _I64_MAX + self.negated():
            help = "an integer lies between -9223372036854775808 and 9223372036854775807"
            self.error("E1005", "integer does not fit 64 bits", start, end, help)
            word = "0"
        self.tokens.append(Token("INT", word, start, end, self.file))

    def negated(self) -> bool:
        """Whether the next token is the operand of a unary minus."""
        if not self.tokens or self.tokens[-1].text != "-":
            return False
        return len(self.tokens) < 2 or self.tokens[-2].type not in _OPERAND_ENDS

    def string(self, start: int, end: int) -> None:
        word = self.file.text[start:end]
        if len(word) < 2 or not word.endswith('"') or _ends_in_escape(word):
            help = 'a string ends on its line, with `"`'
            self.error("E1003", "unclosed string", start, end, help)
        else:
            for escape in _ESCAPE.finditer(word):
                code = escape[1] or escape[2]
                good = int(code, 16) < 0x110000 if code else (escape[3] or "") in _SIMPLE_ESCAPES
                if not good:
                    help = r"the escapes are \n \t \r \0 \\ \" \' \xNN and \u{NNNN}"
                    at = start + escape.start()
                    self.error("E1003", f"bad escape `{escape[0]}`", at, at + len(escape[0]), help)
                    break
        self.tokens.append(Token("STRING", word, start, end, self.file))

    def bad_character(self, start: int, end: int) -> None:
        text = self.file.text[start:end]
        shown = f"`{text}`" if text.isprintable() else "U+" + f"{ord(text[0]):04X}"
        help = _BAD_CHARACTER_HELP.get(text)
        if not text.isascii():
            help = "names are ASCII letters, digits and `_`"
        if len(text) > 1 and text[0] == "'":
            shown, help = "`'`", _BAD_CHARACTER_HELP["'"]
        self.error("E1001", f"{shown} cannot appear here", start, end, help)
        if len(text) > 1 and text[0] == "'":  # a string all the same, so that reading goes on
            self.tokens.append(Token("STRING", f'"{text[1:-1]}"', start, end, self.file))


def _ends_in_escape(word: str) -> bool:
    """Whether the quote at the end of a string is an escaped one."""
    backslashes = len(word) - 1 - len(word[:-1].rstrip("\\"))
    return backslashes % 2 == 1
