"""The elementwise operations.

f16 and bf16: PyTorch computes each of these in f32 and rounds once. A Python number beside a
tensor is of the tensor's dtype, but `number / x` is the reciprocal times the number, rounded
twice, and on CUDA `x / number` is a multiplication with the reciprocal of the number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linnet.backends.code import Code, call, infix, method, name, prefix
from linnet.backends.torch.semantics import (
    int_div,
    int_rem,
    ordered,
    remainder,
    square_root,
    u64_div,
    u64_max,
    u64_min,
    u64_rem,
    u64_shr,
)
from linnet.backends.torch.vocabulary.casting import HALF, cast
from linnet.backends.torch.vocabulary.terms import (
    WIDE_UNSIGNED,
    Terms,
    convert,
    operand_dtype,
    result_dtype,
    tensor,
)
from linnet.dtypes import DType
from linnet.ir.core import Operation

OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<",
    "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
_U64: dict[str, Callable[..., Any]] = {
    "div": u64_div, "rem": u64_rem, "shr": u64_shr, "min": u64_min, "max": u64_max,
}  # fmt: skip

Write = Callable[[Operation, Sequence[Code], Terms], Code]


def _unary(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dtype = result_dtype(op)
    x = tensor(operands[0], dtype, terms)
    if dtype in WIDE_UNSIGNED:
        return x if op.name == "abs" else _bits(dtype, prefix("-", _signed(x, dtype)))
    match op.name:
        case "neg":
            return prefix("-", x)
        case "not":
            return prefix("~", x)
        case "sqrt" if dtype not in HALF:
            return call(square_root, x)
        case "rsqrt":
            return _rsqrt(x, dtype)
        case _:
            return call(f"torch.{op.name}", x)


def _rsqrt(x: Code, dtype: DType) -> Code:
    """1 divided by the root, which `torch.rsqrt` is neither on CUDA nor for f16 and bf16."""
    wide = convert(x, DType.F32) if dtype in HALF else x
    found = infix(name("1"), "/", call(square_root, wide))
    return convert(found, dtype) if dtype in HALF else found


def _binary(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dtype = operand_dtype(op)
    if dtype in WIDE_UNSIGNED:
        x, y = (tensor(o, dtype, terms) for o in operands)
        return _unsigned(op.name, dtype, x, y)
    x, y = operands
    if x.kind != "value" and (y.kind != "value" or op.name in ("shl", "shr")):
        x = tensor(x, dtype, terms)
    return _signed_or_float(op.name, dtype, x, y, terms)


def _signed_or_float(how: str, dtype: DType, x: Code, y: Code, terms: Terms) -> Code:
    if how in OPERATORS:
        return infix(x, OPERATORS[how], y)
    if how in ("min", "max"):
        return _extreme(how, dtype, x, y, terms)
    if how == "div" and dtype.is_float:
        return infix(x if x.text == "1.0" else tensor(x, dtype, terms), "/", y)
    x = tensor(x, dtype, terms)
    if y.kind == "literal" and not dtype.is_float and y.text not in ("0", "-1"):
        return _by_literal(how, dtype, x, y)
    function = remainder if dtype.is_float else int_div if how == "div" else int_rem
    return call(function, x, tensor(y, dtype, terms))


def _by_literal(how: str, dtype: DType, x: Code, y: Code) -> Code:
    """By an integer that is neither 0 nor -1."""
    if dtype is DType.U8:
        return infix(x, "//" if how == "div" else "%", y)
    if how == "rem":
        return call("torch.fmod", x, y)
    return call("torch.div", x, y, rounding_mode=name('"trunc"'))


def _extreme(how: str, dtype: DType, x: Code, y: Code, terms: Terms) -> Code:
    for bound, other in ((y, x), (x, y)):
        if bound.kind == "literal" and other.kind == "value" and "torch" not in bound.text:
            return method(other, "clamp", **{"max" if how == "min" else "min": bound})
    sides = (tensor(side, dtype, terms) for side in (x, y))
    return call("torch.minimum" if how == "min" else "torch.maximum", *sides)


# --- u16, u32, u64 -----------------------------------------------------------


def _signed(x: Code, dtype: DType) -> Code:
    """In i64: the same numbers, of u64 the same bits."""
    if dtype is DType.U64:
        return method(x, "view", name("torch.int64"))
    return convert(x, DType.I64)


def _bits(dtype: DType, x: Code) -> Code:
    """Back from i64, wrapped."""
    if dtype is DType.U64:
        return method(x, "view", name("torch.uint64"))
    return convert(x, dtype)


def _unsigned(how: str, dtype: DType, x: Code, y: Code) -> Code:
    if how in ("and", "or", "xor", "eq", "ne"):
        return infix(x, OPERATORS[how], y)
    if dtype is DType.U64 and how in _U64:
        return call(_U64[how], x, y)
    if dtype is DType.U64 and how in _COMPARE:
        return infix(call(ordered, x), OPERATORS[how], call(ordered, y))
    x, y = _signed(x, dtype), _signed(y, dtype)
    if how in _COMPARE:
        return infix(x, OPERATORS[how], y)
    match how:
        case "min" | "max":
            found = call(f"torch.{how}imum", x, y)
        case "div" | "rem":
            found = call(int_div if how == "div" else int_rem, x, y)
        case _:
            found = infix(x, OPERATORS[how], y)
    return _bits(dtype, found)


# --- select ------------------------------------------------------------------


def _select(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dtype = result_dtype(op)
    condition = tensor(operands[0], DType.BOOL, terms)
    a, b = (_beside(o, dtype, terms) for o in operands[1:])
    if a.kind != "value" and b.kind != "value":
        a = tensor(a, dtype, terms)
    return call("torch.where", condition, a, b)


def _beside(x: Code, dtype: DType, terms: Terms) -> Code:
    """`torch.where` takes no number that the dtype does not have."""
    keeps = x.kind == "value" or (x.kind == "literal" and dtype not in WIDE_UNSIGNED)
    return x if keeps else tensor(x, dtype, terms)


ELEMENTWISE: dict[str, Write] = {
    **dict.fromkeys(("neg", "not", "abs"), _unary),
    **dict.fromkeys(("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh"), _unary),
    **dict.fromkeys(OPERATORS, _binary),
    **dict.fromkeys(("div", "rem", "min", "max"), _binary),
    "select": _select,
    "cast": cast,
}
