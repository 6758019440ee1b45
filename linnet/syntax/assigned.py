"""What is tried where a statement begins with a name: `x += 1`, `x[0] = y`, `f(x)`."""

from __future__ import annotations

from linnet.syntax.stop import Stop
from linnet.syntax.tokens import Token, words

_NOT_ASSIGNED = words("LET VAR COLON DOT CONST TYPE FOR")
_STATEMENTS = words("LET VAR RETURN STATIC WHILE")
_OPERATORS = words("BINARY SIGN STAR IF MATCH REDUCE")
NO_STATEMENT = "there are no expression statements: write `let y = ...` or `return ...`"
_LONGEST = 30  # an operand as long as this is not repeated


def assigning_operator(s: Stop) -> str | None:
    if s.found.type == "FOREIGN" and s.text.endswith("="):
        return f"write `{_written_out(s)}`"
    name = _statement_name(s)
    if name and s.text in ("+", "-") and s.near(1) == s.text:
        return f"write `{name} = {name} {s.text} 1`"
    return None


def _written_out(s: Stop) -> str:
    """`x += y` as it is said here."""
    at = statement_name(s.tokens, s.at, s.accepted)
    name = "x" if at is None else _text(s.tokens[at : s.at])
    operand = s.tokens[s.at + 1 : _end(s.tokens, s.at + 1)]
    value = _text(operand) if operand else "y"
    if not value or len(value) > _LONGEST or "\n" in value:
        value = "y"
    elif any(token.type in _OPERATORS for token in operand):
        value = f"({value})"
    return f"{name} = {name} {s.text[:-1]} {value}"


def _end(tokens: list[Token], at: int) -> int:
    """Where the expression that begins at `at` ends, as far as its line tells."""
    depth = 0
    for place in range(at, len(tokens)):
        token = tokens[place]
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        new_line = place > at and "\n" in token.file.text[tokens[place - 1].end : token.start]
        if depth < 0 or (depth == 0 and (new_line or token.type in _STATEMENTS)):
            return place
    return len(tokens)


def _text(tokens: list[Token]) -> str:
    return tokens[0].file.text[tokens[0].start : tokens[-1].end]


def part_assigned(s: Stop) -> str | None:
    """`cache[:, 0:n] = x` and `cache[0] = x`."""
    if not s.accepted >= {"STAR", "NAME"} or s.found.type not in ("COLON", "INT", "ELLIPSIS"):
        return None
    at = s.at - 1
    while at > 0 and s.tokens[at].type != "LSQB":
        at -= 1
    if at < 1 or s.tokens[at - 1].type != "NAME" or s.near(at - 2 - s.at) in ("let", "var"):
        return None
    name = s.tokens[at - 1].text
    return f"no part of a tensor is assigned: give `{name}` a new value, as `std.nn.cache` does"


def bare_value(s: Stop) -> str | None:
    """An expression where a statement should be, as in `f(x)` or a last line `x + 1`."""
    name = _statement_name(s)
    if name is None:
        return None
    if s.text == ":":
        return f"write `let {name}: ...` to declare a name"
    if s.text == "." and s.near(2).endswith("="):
        return "fields cannot be assigned: build a new value"
    return NO_STATEMENT


def _statement_name(s: Stop) -> str | None:
    at = statement_name(s.tokens, s.at, s.accepted)
    return None if at is None else s.tokens[at].text


def statement_name(tokens: list[Token], at: int, accepted: set[str]) -> int | None:
    """The place of the name that begins a statement, `x` or `x[i]`, if the parser stopped at `at`
    after that."""
    if not accepted or not accepted <= {"EQUAL", "LSQB"}:
        return None
    at, depth = at - 1, 0
    while at > 0 and (depth or tokens[at].type == "RSQB"):
        depth += {"RSQB": 1, "LSQB": -1}.get(tokens[at].type, 0)
        at -= 1
    if at < 1 or not tokens[at].text.isidentifier() or tokens[at - 1].type in _NOT_ASSIGNED:
        return None
    return at
