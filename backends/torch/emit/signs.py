"""Which integers of a function are never negative: as a position, a negative one is an error where
PyTorch would count from the end.

    %n = iota()                   0 to 9 for `[10; i64]`
    %m = mul(%n, %n)              0 to 81
    %k = cast(%m)                 0 to 81 in i8 too; 0 to 200 would wrap there
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from linnet.backends.interpret.frame import concrete
from linnet.dims.dims import Dim, plainly_natural
from linnet.dtypes import DType
from linnet.ir.core import Function, Operation, Value
from linnet.ir.walk import operations

_EXTENT = 1 << 40
"""No axis is longer: its tensor would have no room."""
_MOVES = frozenset({"reshape", "permute", "broadcast", "fill", "slice", "index", "gather", "cast"})
"""Operations whose result has elements of their first operand alone."""


class Signs:
    """What can be told of the values of `function` from the operations that make them; parameters
    have none."""

    def __init__(self, function: Function) -> None:
        self._most: dict[int, int] = {}
        for op in operations(function.body):
            if op.name == "loop" and plainly_natural(op.attrs["start"]):
                counter = op.regions[0].params[0]
                self._most[counter.id] = _of_dim(op.attrs["stop"]) or _greatest(counter)
            for result in op.results:
                most = _most(op, [self._of(o) for o in op.operands], result)
                if most is not None and most <= _greatest(result):
                    self._most[result.id] = most

    def is_never_negative(self, value: Value) -> bool:
        """Whether that can be told."""
        return self._of(value) is not None

    def _of(self, value: Value) -> int | None:
        """What a value that is never negative never exceeds; what would, has wrapped."""
        dtype = concrete(value.type.dtype)
        unsigned = not dtype.is_float and not dtype.is_signed
        return self._most.get(value.id, _greatest(value) if unsigned else None)


def _greatest(value: Value) -> int:
    """The greatest number of its dtype; no float is told anything of."""
    dtype = concrete(value.type.dtype)
    if dtype.is_float:
        return -1
    return 1 if dtype is DType.BOOL else dtype.integer_range()[1]


def _most(op: Operation, of: Sequence[int | None], result: Value) -> int | None:
    """What the result never exceeds before it wraps, by what is known of the operands; None where
    it may be negative."""
    known = [m for m in of if m is not None]
    all_ = len(known) == len(of)
    match op.name:
        case "constant":
            value = op.attrs["value"]
            return value if isinstance(value, int) and value >= 0 else None
        case "dim":
            return _of_dim(op.attrs["dim"])
        case "iota":
            extent = _of_dim(result.type.shape[0])
            return extent and extent - 1
        case name if name in _MOVES:
            return of[0]
        case "rem" | "shr":  # with the sign of the first
            return of[0]
        case "select":
            return None if None in of[1:] else max(known[-2:])
        case "max":
            return max(known) if all_ else _greatest(result) if known else None
        case "and":
            return min(known, default=None)
        case "concat" | "min" | "div" | "add" | "mul" if all_:
            how = {"concat": max, "min": min, "add": sum, "mul": prod}
            return known[0] if op.name == "div" else how[op.name](known)
        case _:
            return None


def _of_dim(dim: Dim) -> int | None:
    if not plainly_natural(dim):
        return None
    return sum(c * _EXTENT ** len(monomial) for monomial, c in dim.terms)
