"""The IR's names for what the language writes."""

from __future__ import annotations

BINARY = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "rem",
    "&": "and",
    "|": "or",
    "^": "xor",
    "&&": "and",
    "||": "or",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}
UNARY = {"-": "neg", "!": "not"}
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})

# Intrinsics that are one elementwise operation of the same name.
ELEMENTWISE = frozenset(
    {"exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "abs", "min", "max", "shl", "shr"}
)
