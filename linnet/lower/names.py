"""The IR's names for what the language writes."""

from __future__ import annotations

from linnet.syntax.ast import BinaryOp

BINARY: dict[BinaryOp, str] = {
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
