"""Which integers of a function are never negative: as a position, a negative one is an error where
PyTorch would count from the end."""

from __future__ import annotations

from collections.abc import Mapping

from linnet.backends.interpret.frame import concrete
from linnet.dtypes import DType
from linnet.ir.core import Operation, Value

_COUNTS = frozenset({"iota", "dim"})
_MOVES = frozenset({"reshape", "permute", "broadcast", "fill", "slice", "index", "gather"})
"""Operations whose result has elements of their first operand alone."""
_OF_ALL = frozenset({"concat", "mul", "div", "rem", "min", "shr", "and", "add"})
"""Operations that give no negative integer where no operand is negative. `add` and `mul` could
overflow, of extents whose tensors have no room."""


def is_never_negative(value: Value, makers: Mapping[int, Operation]) -> bool:
    """Whether that can be told from the operations that made `value`, of which parameters have
    none."""
    dtype = concrete(value.type.dtype)
    if not dtype.is_float and not dtype.is_signed:
        return True
    made = makers.get(value.id)
    if made is None:
        return False
    of = made.operands
    match made.name:
        case name if name in _COUNTS:
            return True
        case "constant":
            return made.attrs["value"] >= 0
        case "cast":
            return _is_kept(of[0], dtype) and is_never_negative(of[0], makers)
        case "select":
            return all(is_never_negative(o, makers) for o in of[1:])
        case "max":
            return any(is_never_negative(o, makers) for o in of)
        case name if name in _MOVES:
            return is_never_negative(of[0], makers)
        case name if name in _OF_ALL:
            return all(is_never_negative(o, makers) for o in of)
        case _:
            return False


def _is_kept(value: Value, dtype: DType) -> bool:
    """Whether a cast of integers to the signed `dtype` changes no sign: one that halves an unsigned
    range does. An extent has room in any dtype that counts it."""
    source = concrete(value.type.dtype)
    return not source.is_float and (source.is_signed or source.bits < dtype.bits)
