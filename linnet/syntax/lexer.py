"""Text to tokens. What is wrong with a word or a character is reported here, once, and skipped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span
from linnet.syntax.tokens import KINDS, OPERAND_ENDS, Comment, Lexed, Token

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
    | (?P<string>"(?:[^"\\\n]|\\.)*\\?"?)
    | (?P<bad>'[^'\n]*'|“[^”\n]*”|`[^`\n]*`|[^\x00-\x7f]+|[^ \t\r\n\f])
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

# A fraction or an exponent after a point that has no digits behind it.
_BARE_POINT = re.compile(r"\.(?:(?![.A-Za-z0-9_])|[eE][+-]?[0-9]+(?![A-Za-z0-9_]))")
_SUFFIX = re.compile(r"_?(bf16|[iuf](?:8|16|32|64))\Z")
# What must not hide in a comment or a string: what makes a text look other than it is read.
_HIDDEN = re.compile("\r(?!\n|\\Z)|[\x00\u202a-\u202e\u2066-\u2069]")

_STRING_HELP = 'a string stands in double quotes, `"`'
_BAD_CHARACTER_HELP = {
    "@": "write a product of matrices in index notation: `sum[k] a[i, k] * b[k, j]`",
    "#": "a comment begins with `//`",
    "'": _STRING_HELP,
    "“": _STRING_HELP,
    "`": "names are written without quotes",
    "~": "flip the bits of an integer with `x ^ -1`, a `bool` with `!x`",
    **dict.fromkeys("−–—‐‑", "write `-`"),
    **dict.fromkeys("×·∙⋅", "write `*`"),
    "÷": "write `/`",
    "→": "write `->`",
    "≤": "write `<=`",
    "≥": "write `>=`",
    "≠": "write `!=`",
    "\u00a0": "this is no plain space: type one",
    "\u200b": "this character has no width: remove it",
    "\ufeff": "a byte order mark stands only at the start of a file: remove it",
}


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
    return Lexed(lexer.tokens, lexer.comments, lexer.after_error)


@dataclass(slots=True)
class _Lexer:
    file: SourceFile
    sink: Sink
    tokens: list[Token] = field(default_factory=list[Token])
    comments: list[Comment] = field(default_factory=list[Comment])
    after_error: set[int] = field(default_factory=set[int])

    def run(self) -> None:
        text, file, tokens = self.file.text, self.file, self.tokens
        match_at, kinds = _MASTER.match, KINDS
        at = 0
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
                self.hidden(start, at)
                doc = text.startswith("///", start) and not text.startswith("////", start)
                self.comments.append(Comment(start, at, "doc" if doc else "line"))
            elif group == "block_comment":
                at = self.block_comment(start)
            elif group == "number":
                at = self.number(start, at)
            elif group == "string":
                self.string(start, at)
            else:
                self.bad_character(start, at)

    def error(
        self, code: str, message: str, start: int, end: int, label: str, help: str | None
    ) -> None:
        self.after_error.add(len(self.tokens))
        self.sink.add(Diagnostic(code, message, Span(self.file, start, end), label, help=help))

    def hidden(self, start: int, end: int) -> None:
        """Reports the first character in a comment or string that deceives the eye."""
        found = _HIDDEN.search(self.file.text[start:end])
        if found is None:
            return
        help = "remove it"
        if found[0] == "\r":
            help = "lines end in a line feed, or in a carriage return and a line feed"
        message = f"U+{ord(found[0]):04X} cannot appear here"
        at = start + found.start()
        self.error("E1001", message, at, at + 1, "a character that does not show", help)

    def block_comment(self, start: int) -> int:
        """Skips a comment, those inside it included, and gives the place after it."""
        text, depth, at = self.file.text, 1, start + 2
        while depth:
            edge = _COMMENT_EDGE.search(text, at)
            if edge is None:
                help = "close it with `*/`; comments nest, so each `/*` needs its own"
                self.error("E1002", "unclosed block comment", start, start + 2, "begins here", help)
                return len(text)
            depth += 1 if edge[0] == "/*" else -1
            at = edge.end()
        self.hidden(start, at)
        doc = text.startswith("/**", start) and at - start > 4 and text[start + 3] != "*"
        self.comments.append(Comment(start, at, "doc" if doc else "block"))
        return at

    def number(self, start: int, end: int) -> int:
        text = self.file.text
        word = text[start:end]
        point = _BARE_POINT.match(text, end)
        if _FLOAT.fullmatch(word):
            self.tokens.append(Token("FLOAT", word, start, end, self.file))
        elif _INT.fullmatch(word) and point:
            number = f"{word}.0{point[0][1:]}"
            help = f"a float has digits on both sides of the point: `{number}`"
            end = point.end()
            self.error("E1005", f"bad number `{text[start:end]}`", start, end, "no digits", help)
            self.tokens.append(Token("FLOAT", number, start, end, self.file))
        elif not _INT.fullmatch(word):
            help = "numbers are written `42`, `1_000`, `0xff`, `0b1010`, `1.5` or `1e-5`"
            if suffix := _SUFFIX.search(word):
                bare = word[: suffix.start()]
                help = f"a number gets its dtype from its place, or by `cast<{suffix[1]}>({bare})`"
            self.error("E1005", f"bad number `{_short(word)}`", start, end, "not a number", help)
            self.tokens.append(Token("INT", "0", start, end, self.file))
        else:
            self.integer(word, start, end)
        return end

    def integer(self, word: str, start: int, end: int) -> None:
        value = int_value(word)
        if value is None or value > _I64_MAX + self.negated():
            help = "an integer lies between -9223372036854775808 and 9223372036854775807"
            self.error("E1005", "integer does not fit 64 bits", start, end, "too large", help)
            word = "0"
        self.tokens.append(Token("INT", word, start, end, self.file))

    def negated(self) -> bool:
        """Whether the next token is the operand of a unary minus."""
        if not self.tokens or self.tokens[-1].text != "-":
            return False
        return len(self.tokens) < 2 or self.tokens[-2].type not in OPERAND_ENDS

    def string(self, start: int, end: int) -> None:
        word = self.file.text[start:end]
        self.hidden(start, end)
        if len(word) < 2 or not word.endswith('"') or _ends_in_escape(word):
            help = 'a string ends on its line, with `"`'
            self.error("E1003", "unclosed string", start, end, "has no end", help)
        else:
            for escape in _ESCAPE.finditer(word):
                code = escape[1] or escape[2]
                good = int(code, 16) < 0x110000 if code else (escape[3] or "") in _SIMPLE_ESCAPES
                if not good:
                    help = r"the escapes are \n \t \r \0 \\ \" \' \xNN and \u{NNNN}"
                    at = start + escape.start()
                    message = f"bad escape `{escape[0]}`"
                    self.error("E1003", message, at, at + len(escape[0]), "no such escape", help)
                    break
        self.tokens.append(Token("STRING", word, start, end, self.file))

    def bad_character(self, start: int, end: int) -> None:
        text = self.file.text[start:end]
        quoted = end - start > 1 and text[0] in "'“`"
        first = text[0] if quoted or not text.isidentifier() else text
        shown = f"`{first}`" if first.isprintable() else f"U+{ord(first):04X}"
        self.error(
            "E1001", f"{shown} cannot appear here", start, end, "", self.way_out(text, start)
        )
        if quoted:  # what was meant stays, so that reading goes on
            kind = "NAME" if text[0] == "`" else "STRING"
            inner = text[1:-1] if kind == "NAME" else f'"{text[1:-1]}"'
            self.tokens.append(Token(kind, inner, start, end, self.file))

    def way_out(self, text: str, start: int) -> str | None:
        """What to do about a character that cannot appear."""
        line = self.file.text.rfind("\n", 0, start) + 1
        if text == "@" and not self.file.text[line:start].strip():
            return "there are no decorators"
        if text == "#" and self.file.text.startswith(("#[", "#!["), start):
            return "there are no attributes"
        if text.isidentifier():
            return "names are ASCII letters, digits and `_`"
        return _BAD_CHARACTER_HELP.get(text[0])


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:37]}..."


def _ends_in_escape(word: str) -> bool:
    """Whether the quote at the end of a string is an escaped one."""
    backslashes = len(word) - 1 - len(word[:-1].rstrip("\\"))
    return backslashes % 2 == 1
