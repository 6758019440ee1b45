"""What is tried where a statement begins with a name: `x += 1`, `x[0] = y`, `f(x)`."""

from __future__ import annotations

from linnet.syntax.stop import Stop
from linnet.syntax.tokens import Token, words

_NOT_ASSIGNED = words("LET VAR COLON DOT CONST TYPE FOR")


def assigning_operator(s: Stop) -> str | None:
    if s.found.type == "FOREIGN" and s.text.endswith("="):
        return f"write `x = x {s.text[:-1]} y`"
    if s.text in ("+", "-") and s.near(1) == s.text and _statement_name(s):
        return f"write `x = x {s.text} 1`"
    return None


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
    if s.text == "." and s.near(2) == "=":
        return "fields cannot be assigned: build a new value"
    return "there are no expression statements: write `let y = ...` or `return ...`"


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
