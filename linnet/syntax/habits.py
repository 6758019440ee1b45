"""What writers of Python, PyTorch and Rust try, and how it is said here.

Each rule looks at the place where the parser stopped and answers with a help line, or None. The
first one that answers counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from linnet.syntax.assigned import NO_STATEMENT, assigning_operator, bare_value, part_assigned
from linnet.syntax.habits_of_items import (
    constructor,
    declarations,
    generic_arguments,
    imports,
    visibility,
)
from linnet.syntax.stop import Stop
from linnet.syntax.tokens import KEYWORDS, OPERAND_ENDS, REDUCTIONS, Token, words

_ANYWHERE = {
    "**": "there is no power operator; multiply, or use `sqrt`, `rsqrt`, `exp` and `log`",
    "and": "write `&&`",
    "or": "write `||`",
    "not": "write `!`",
    "def": "a function is declared with `fn`, `op` or `entry`",
    "func": "a function is declared with `fn`, `op` or `entry`",
    "function": "a function is declared with `fn`, `op` or `entry`",
    "class": "a module of a network is a `block`, plain data a `struct`",
    "import": "write `use a.b::{name}`",
    "from": "write `use a.b::{name}`",
    "elif": "write `else if`",
    "for": "write `static for x in xs { ... }`",
    "if": "`if` is an expression: `let y = if c { a } else { b }`",
    "match": "`match` is an expression: `let y = match x { ... }`",
    "self": "members and methods of a block are bare names",
    "lambda": "there are no closures; declare a `fn`",
    "mod": "a file is one module and begins with `module a.b`",
    "else": "`if` is an expression and both sides are one: `if c { a } else { b }`",
    "loop": "the loops are `while c { ... }` and `static for x in xs { ... }`",
    "break": "there is no `break`; a `while` ends when its condition is false",
    "continue": "there is no `continue`; choose values with `if c { a } else { b }`",
}
# No misspelt keyword is meant by these.
FOREIGN_WORDS = frozenset(_ANYWHERE)
# These mean it only where they were read as a name just before the place.
_BEFORE = words(
    "def func function class import from elif mod lambda self loop break continue import"
)
_ITEMS = words("fn op entry block struct enum type const use")
_EXPRESSION = frozenset(["INT", "LPAR", "NAME"])
_IN_HEAD = words("NAME DOT BINARY SIGN STAR BANG INT FLOAT LPAR RPAR LSQB RSQB COMMA IN")
_OPERANDS = frozenset(["NAME", "INT", "FLOAT"])
# A comment with nothing but a divisor in it, and what closes a bracket or goes on in a list.
_DIVISOR = re.compile(
    r"[ \t]*//[ \t]*\w+(?:[ \t]*[-+*/%][ \t]*\w+)*[ \t]*[)\],]+[ \t]*\r?(?:\n|\Z)"
)
DIVIDED = "`//` begins a comment; `/` divides, and of integers gives the whole part"
_PATTERNS = "patterns are `some(x)`, `none` and variants; an `if` compares values"


def habit(stop: Stop) -> str | None:
    """A way out, where the tokens show what was meant."""
    return next((help for rule in _RULES if (help := rule(stop))), None)


def _floor_division(s: Stop) -> str | None:
    """`[B, H // 2]`, where the closing bracket has become a part of a comment."""
    before = s.token(-1)
    if before is None or before.type not in OPERAND_ENDS:
        return None
    if not _DIVISOR.match(s.found.file.text[before.end : s.found.start]):
        return None
    return DIVIDED


def _strings(s: Stop) -> str | None:
    if s.found.type == "STRING" and s.unit() != "USE" and (s.glued() or "INT" in s.accepted):
        return "there are no strings among the values"
    return None


def side_by_side(tokens: list[Token], at: int) -> str | None:
    """What to say of a value at `at` that follows another one on its line."""
    if not 0 < at < len(tokens) or tokens[at].type not in _OPERANDS:
        return None
    before, found = tokens[at - 1], tokens[at]
    if found.text == "is":
        return "`match x { some(v) => ... none => ... }` asks whether there is a value"
    if {before.text, found.text} & _ANYWHERE.keys():
        return None
    if before.type not in OPERAND_ENDS or "\n" in found.file.text[before.end : found.start]:
        return None
    start = _opening(tokens, at - 1) if before.text == ")" else None
    if start is not None:
        inner = [t.text for t in tokens[start + 1 : at - 1]]
        callee = tokens[start - 1].text if start else ""
        if callee in REDUCTIONS:
            return f"write `{callee}[{' '.join(inner).replace(' ,', ',')}] {found.text}...`"
        if len(inner) == 1 and tokens[start - 1].type not in OPERAND_ENDS:
            dtype = {"float": "f32", "double": "f64", "int": "i32"}.get(inner[0], inner[0])
            return f"write `cast<{dtype}>({found.text})`"
    return "two values stand side by side: an operator or a comma is missing between them"


def _opening(tokens: list[Token], closing: int) -> int | None:
    """The place of the bracket that the one at `closing` closes."""
    depth = 0
    for at in range(closing, -1, -1):
        depth += {")": 1, "(": -1}.get(tokens[at].text, 0)
        if depth == 0:
            return at
    return None


def _juxtaposed(s: Stop) -> str | None:
    between = "BINARY" in s.accepted and "RANGLE" not in s.accepted
    return side_by_side(s.tokens, s.at) if between else None


def _semicolon(s: Stop) -> str | None:
    if s.text != ";":
        return None
    if s.near(-1) == "[" and s.near(-2) == "Tensor":
        return "a tensor has a dimension; a scalar type is the dtype alone, `f32`"
    if s.near(-1) == "*":
        return "name the pack: `*S`, with a generic `*S: Shape`"
    return "there are no semicolons; a statement ends where the next one begins"


def _keyword_as_name(s: Stop) -> str | None:
    if not s.named or s.text not in KEYWORDS or s.text == "self":
        return None
    if s.text == "pub" and s.unit() == "STRUCT":
        return "fields have no `pub` of their own"
    if s.text in ("true", "false") and _of_pattern(s):
        return _PATTERNS
    return f"`{s.text}` is a keyword and cannot be a name"


def _where(s: Stop) -> str | None:
    """`where(c, a, b)`."""
    if s.text == "where" and s.near(1) == "(" and "INT" in s.accepted:
        return "`select(c, a, b)` chooses element by element"
    return None


def _keyword_as_value(s: Stop) -> str | None:
    before = s.token(-1)
    if s.text not in KEYWORDS or before is None:
        return None
    begins_line = "\n" in s.found.file.text[before.end : s.found.start]
    read = "INT" in s.accepted and not begins_line and s.at < len(s.tokens)
    assigned = "LET" in s.accepted and s.near(1) == "="
    return f"`{s.text}` is a keyword and cannot be a name" if read or assigned else None


def _equality(s: Stop) -> str | None:
    if s.text == "==" and "EQUAL" in s.accepted:
        return "write `=`"
    if s.text != "=":
        return None
    if s.near(-1) == "..":
        return "a range leaves its end out: `0..n + 1`"
    if s.near(-1) == ":" and s.glued():
        return "write `=`"
    if s.near(-1) in ("==", "!=") and s.glued():
        return f"write `{s.near(-1)}`"
    return "write `==` to compare" if {"BINARY", "LBRACE"} <= s.accepted else None


def _operators(s: Stop) -> str | None:
    """Operators of other languages, read as two of ours."""
    pair = s.near(-1) + s.text if s.glued() else ""
    known = {"<>": "write `!=`", "<<": "write `shl(x, n)`", ">>": "write `shr(x, n)`"}
    if pair in known and "INT" in s.accepted:
        return known[pair]
    if s.text == "?" and "BINARY" in s.accepted:
        return "write `if c { a } else { b }`"
    if s.text == "as" and "BINARY" in s.accepted:
        return "write `cast<f32>(x)`"
    if s.text == "::":
        turbofish = s.near(1) == "<"
        return "write `f<A>(x)`" if turbofish else "names are joined by a dot: `a.b`"
    if s.text == ".." and "BINARY" in s.accepted:
        return "a range stands in `static for i in a..b`, a slice is `x[a:b]`"
    return None


def _operand(s: Stop) -> str | None:
    """Something else where an expression or a type should be."""
    if s.text == "?" and s.near(-1) in ("[", ",") and "INT" in s.accepted:
        return "name the dimension, and declare it as a generic: `<N: Dim>`"
    if s.text == "&" and ("INT" in s.accepted or "TENSOR" in s.accepted):
        return "there are no references"
    if s.text == "|" and "INT" in s.accepted:
        return _ANYWHERE["lambda"]
    after = s.token(1)
    if s.text == "{" and s.near(-1) == "=>":
        return "an arm is one expression: name values before the `match`"
    if s.text == "." and "INT" in s.accepted and after is not None and after.type == "INT":
        return f"a float has digits on both sides of the point: `0.{after.text}`"
    if s.near(-2) == "lambda":
        return _ANYWHERE["lambda"]
    nothing = s.near(-1) == "return" if s.text == "}" else s.near(-1) == "(" and s.near(-2) == "->"
    if nothing and s.text in ("}", ")"):
        return "every function returns a value"
    if s.text in ("let", "var", "return") and "INT" in s.accepted and s.near(-1) == "{":
        return "a branch is one expression; name values before it"
    return None


def _struct_in_head(s: Stop) -> str | None:
    """`while KV { a: c }.a { ... }`, where the `{` opens the body."""
    if s.text != ":" or s.near(-2) != "{":
        return None
    for token in reversed(s.tokens[: s.at - 2]):
        if token.type in ("IF", "WHILE", "MATCH", "FOR", "WHERE"):
            return f"a `{{` in the head of a `{token.text}` opens its body: parenthesize the value"
        if token.type not in _IN_HEAD:
            return None
    return None


def _patterns(s: Stop) -> str | None:
    if "FAT_ARROW" in s.accepted and s.text == ".":
        return "a variant stands in a pattern by its name alone"
    if "FAT_ARROW" in s.accepted and s.text in (":", "->", "="):
        return "an arm is written `pattern => value`"
    return _PATTERNS if _of_pattern(s) else None


def _of_pattern(s: Stop) -> bool:
    """Whether a pattern may begin here."""
    return {"NONE", "SOME", "NAME"} <= s.accepted and "INT" not in s.accepted


def _bindings(s: Stop) -> str | None:
    several = s.text == "," and s.accepted <= {"COLON", "EQUAL", "LSQB"} and _names_assigned(s)
    if several or (s.near(-1) in ("let", "var") and s.text in ("(", "[", "{")):
        return "write `let (a, b) = ...`"
    if s.text == "(" and "LET" in s.accepted:
        return "write `let (a, b) = ...`" if "=" in _after_brackets(s) else NO_STATEMENT
    if s.near(-2) == "for" and s.text == ",":
        return "a loop has one name; count in a `var` beside it: `i = i + 1`"
    if s.accepted == {"COMMA", "RSQB"} and s.found.type in ("SIGN", "STAR", "BINARY", "COLON"):
        return "the indices here are names: `y[i, j]`"
    if s.near(-1) == "static" and s.text == "while":
        return "write `while`"
    if s.near(-2) == "static" and s.text == "(":
        return "a loop has one name; count with `static for i in 0..n`"
    if s.text in ("let", "var") and s.at == 0:
        return "a value outside of functions is a `const`, in a block a `param` or `state`"
    if s.text in _ITEMS and "LET" in s.accepted and s.at < len(s.tokens):
        return "items stand outside of functions; `let` names a value in one"
    return None


def _names_assigned(s: Stop) -> bool:
    """Whether `, b, c =` stands here."""
    rest = [token.text for token in s.tokens[s.at :]]
    end = rest.index("=") if "=" in rest else 0
    return end > 0 and all((text == ",") == (n % 2 == 0) for n, text in enumerate(rest[:end]))


def _after_brackets(s: Stop) -> str:
    """The text of the token behind the bracket that the stop opens."""
    depth = 0
    for at in range(s.at, len(s.tokens)):
        depth += (s.tokens[at].text == "(") - (s.tokens[at].text == ")")
        if depth == 0:
            return s.tokens[at + 1].text if at + 1 < len(s.tokens) else ""
    return ""


def _comments(s: Stop) -> str | None:
    if s.text == "*" and s.near(1) == "/":
        return "no `/*` is open here"
    return None


def _word(s: Stop) -> str | None:
    if s.text in _ANYWHERE:
        return _ANYWHERE[s.text]
    return _ANYWHERE[s.near(-1)] if s.near(-1) in _BEFORE else None


_RULES: tuple[Callable[[Stop], str | None], ...] = (
    constructor,
    _floor_division,
    _strings,
    _semicolon,
    assigning_operator,
    imports,
    _where,
    _keyword_as_name,
    _equality,
    _operators,
    _operand,
    _patterns,
    generic_arguments,
    _struct_in_head,
    _word,
    _bindings,
    bare_value,
    part_assigned,
    declarations,
    visibility,
    _comments,
    _keyword_as_value,
    _juxtaposed,
)
