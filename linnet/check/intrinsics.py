"""The prelude: what needs no import. Each function is one row here; `prelude.py` has its typing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from linnet.syntax import ast

Intrinsic = Literal[
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tanh",
    "abs",
    "min",
    "max",
    "shl",
    "shr",
    "select",
    "cast",
    "reshape",
    "broadcast_to",
    "permute",
    "concat",
    "cumsum",
    "iota",
    "fill",
]


@dataclass(frozen=True, slots=True)
class Row:
    """`like` are the parameters that have the dtype of the result, `dtype` is whether one may be
    written (`fill<f32>`), `whole` whether it gives a tensor, which has no place inside index
    notation; `parts` stands for any number of arguments before those named."""

    params: tuple[str, ...]
    like: tuple[str, ...]
    dtype: bool = False
    whole: bool = False
    elementwise: bool = False
    parts: bool = False


_UNARY = Row(("x",), ("x",), elementwise=True)
_PAIR = Row(("a", "b"), ("a", "b"), elementwise=True)
_SHIFT = Row(("x", "by"), ("x", "by"), elementwise=True)
_SHAPED = Row(("x", "shape"), ("x",), whole=True)

TABLE: dict[Intrinsic, Row] = {
    "exp": _UNARY,
    "log": _UNARY,
    "sqrt": _UNARY,
    "rsqrt": _UNARY,
    "sin": _UNARY,
    "cos": _UNARY,
    "tanh": _UNARY,
    "abs": _UNARY,
    "min": _PAIR,
    "max": _PAIR,
    "shl": _SHIFT,
    "shr": _SHIFT,
    "select": Row(("c", "a", "b"), ("a", "b"), elementwise=True),
    "cast": Row(("x",), (), dtype=True),
    "reshape": _SHAPED,
    "broadcast_to": _SHAPED,
    "permute": Row(("x", "axes"), ("x",), whole=True),
    "concat": Row(("axis",), ("",), whole=True, parts=True),
    "cumsum": Row(("axis",), ("",), whole=True, parts=True),
    "iota": Row(("n",), (), dtype=True, whole=True),
    "fill": Row(("shape", "value"), ("value",), dtype=True, whole=True),
}
_BY_NAME: dict[str, Intrinsic] = {name: name for name in TABLE}

# Names that no item may take, for what they may come to mean, and what to write instead.
RESERVED = {
    "pad": "put the parts together: `concat(x, fill<T>([1], 0.0), axis = 0)`",
    "gather": "an index may be a value: `let y[i] = x[ids[i]]`",
    "scatter": "ask at each place what goes there: `let y[j] = sum[i] select(...)`",
}
PRELUDE = frozenset(TABLE) | frozenset(RESERVED) | {"Tensor"}


def intrinsic(name: str) -> Intrinsic | None:
    """The function of the prelude that `name` is, if it is one."""
    return _BY_NAME.get(name)


def alike(row: Row, e: ast.CallExpr) -> Iterator[ast.Expr]:
    """The arguments of a call whose dtype is the result's."""
    for i, arg in enumerate(e.args):
        if arg.name is not None:
            name = arg.name.text
        elif row.parts:
            name = ""
        else:
            name = row.params[i] if i < len(row.params) else None
        if name in row.like:
            yield arg.value
