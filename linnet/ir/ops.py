"""The operations of the IR, a row each; `docs/ir.md` is what they mean.

The verifier, the printer, the parser and the passes read the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from linnet.ir import rules, shaping, structure
from linnet.ir.expressions import indexed
from linnet.ir.rules import Rule

AttrKind = Literal[
    "literal",  # int, bool, or the text of a float
    "int",
    "ints",
    "intlists",  # a tuple of tuples of ints
    "dim",
    "dims",
    "dtype",
    "name",  # a str
    "path",  # a tuple of member names and element numbers
    "sources",  # of `gather`: a tuple of ("axis", k) and ("index", j)
    "scalar",  # a scalar expression
    "bindings",  # a tuple of (symbol, dim)
]
Effect = Literal["none", "reads", "writes", "calls"]
NO_KINDS: Mapping[str, AttrKind] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Row:
    """`arity` and `results` are a number, or the least number and None (any more). The attributes
    `optional` may be left out.

    `effect`: what it does to state; `calls` is whatever its callee or regions do.
    """

    name: str
    arity: int | tuple[int, None]
    rule: Rule
    doc: str
    attrs: Mapping[str, AttrKind] = field(default_factory=lambda: NO_KINDS)
    results: int | tuple[int, None] = 1
    regions: int = 0
    effect: Effect = "none"
    optional: frozenset[str] = frozenset()


ANY = (0, None)
UNARY_FLOAT = ("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh")
BINARY_NUMBER = ("add", "sub", "mul", "div", "rem", "min", "max")
BITWISE = ("and", "or", "xor")
SHIFT = ("shl", "shr")
COMPARE = {"eq": "DType", "ne": "DType"} | dict.fromkeys(("lt", "le", "gt", "ge"), "Numeric")

_UNARY = [
    *(Row(n, 1, rules.elementwise("Numeric"), "elementwise") for n in ("neg", "abs")),
    *(Row(n, 1, rules.elementwise("Float"), "elementwise") for n in UNARY_FLOAT),
    Row("not", 1, rules.logical, "elementwise, of bool"),
]
_BINARY = [
    *(Row(n, 2, rules.elementwise("Numeric"), "elementwise") for n in BINARY_NUMBER),
    *(Row(n, 2, rules.logical, "elementwise, of integers or bool") for n in BITWISE),
    *(Row(n, 2, rules.elementwise("Integer"), "elementwise, of integers") for n in SHIFT),
    *(Row(n, 2, rules.compare(k), "bool, elementwise") for n, k in COMPARE.items()),
]
_SOURCES = [
    Row("constant", 0, rules.constant, "a scalar", {"value": "literal"}),
    Row("dim", 0, rules.dim, "the value of a dimension", {"dim": "dim"}),
    Row("iota", 0, rules.iota, "0, 1, ..., N-1"),
    Row("fill", 1, rules.fill, "a scalar at every place"),
]
_SHAPE = [
    Row("select", 3, rules.select, "a where c else b"),
    Row("cast", 1, rules.cast, "to the dtype of the result"),
    Row("reshape", 1, shaping.reshape, "same elements in row-major order"),
    Row("permute", 1, shaping.permute, "result axis i is axis axes[i]", {"axes": "ints"}),
    Row("broadcast", 1, shaping.broadcast, "axis i becomes axis axes[i]", {"axes": "ints"}),
    Row("concat", (1, None), shaping.concat, "one after the other", {"axis": "int"}),
    Row(
        "slice",
        1,
        shaping.slice_,
        "every step-th from start to stop",
        {"start": "dims", "stop": "dims", "step": "ints"},
    ),
    Row("index", (1, None), shaping.index, "drops axes at i64 scalars", {"axes": "ints"}),
    Row("gather", (1, None), shaping.gather, "out[o] = base[p]", {"axes": "sources"}),
]
_REDUCTIONS = [
    Row(
        "reduce",
        1,
        rules.reduce,
        "over axes, rounded once",
        {"op": "name", "axes": "ints", "accumulator": "dtype"},
    ),
    Row(
        "contract",
        (1, None),
        rules.contract,
        "the sum of a product, rounded once",
        {"inputs": "intlists", "output": "ints", "accumulator": "dtype"},
    ),
    Row(
        "cumsum",
        1,
        rules.cumsum,
        "running sum, each rounded once",
        {"axis": "int", "accumulator": "dtype"},
    ),
    Row(
        "indexed",
        ANY,
        indexed,
        "a scalar expression at every point",
        {"indices": "dims", "expr": "scalar"},
    ),
]
_STATE = [
    Row("param", 0, rules.nothing, "a weight", {"path": "path"}),
    Row("state_read", 0, rules.nothing, "the state now", {"path": "path"}, effect="reads"),
    Row(
        "state_write",
        1,
        rules.nothing,
        "the state from here on",
        {"path": "path"},
        results=0,
        effect="writes",
    ),
]
_STRUCTURE = [
    Row(
        "call",
        ANY,
        structure.call,
        "another function",
        {"callee": "name", "at": "path", "generics": "bindings"},
        results=ANY,
        effect="calls",
        optional=frozenset({"generics"}),
    ),
    Row("if", 1, structure.if_, "one of two regions", results=ANY, regions=2, effect="calls"),
    Row("while", ANY, structure.while_, "as long as", results=ANY, regions=2, effect="calls"),
    Row(
        "each",
        ANY,
        structure.each,
        "once per block of an array",
        {"array": "path", "count": "dim", "var": "name"},
        results=ANY,
        regions=1,
        effect="calls",
    ),
    Row(
        "loop",
        ANY,
        structure.loop,
        "for start, ..., stop - 1",
        {"start": "dim", "stop": "dim"},
        results=ANY,
        regions=1,
        effect="calls",
    ),
]

OPS: Mapping[str, Row] = MappingProxyType(
    {
        row.name: row
        for rows in (_SOURCES, _UNARY, _BINARY, _SHAPE, _REDUCTIONS, _STATE, _STRUCTURE)
        for row in rows
    }
)

ELEMENTWISE = frozenset({r.name for r in (*_UNARY, *_BINARY)} | {"select", "cast"})
