"""What a value is written as where it has another type than is asked for.

iota(S)         where i32 is asked for                  `iota<i32>(S)`
n: i32          where f32 is asked for                  `cast<f32>(n)`
at: i32         where Tensor[1; i32] is asked for       `fill<i32>([1], at)`
m: Tensor[B, K; bool]    where [B, Q, K] is asked for   `reshape` and `broadcast_to`
"""

from __future__ import annotations

import re
from collections.abc import Container

from linnet.check.reorder import reordered, shortly, spread
from linnet.check.types import (
    LiteralType,
    OptionalType,
    ScalarType,
    Shape,
    TensorType,
    Type,
    element_dtype,
)
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Facts
from linnet.dtypes import AnyDType
from linnet.source.files import Span

# A tensor whose dtype is that of its context, or what a literal has without one.
_MADE = re.compile(r"(iota)\(([^()]*)\)|(fill)\((\[[^()]*\], -?[\d.e+-]+)\)")


def loose(value: Span) -> bool:
    """Whether the dtype of a value was never written: `iota(S)`, `fill([N], 0.0)`."""
    return _MADE.fullmatch(value.text) is not None


def in_dtype(value: Span, dtype: AnyDType) -> str:
    """How `value` is written with the dtype `dtype`."""
    text = shortly(value)
    if made := _MADE.fullmatch(text):
        name, inner = made[1] or made[3], made[2] or made[4]
        return f"{name}<{dtype}>({inner})"
    return f"cast<{dtype}>({text})"


def converted(value: Span, dtype: AnyDType) -> str:
    """A help line: what gives `value` the dtype `dtype`."""
    verb = "write" if loose(value) else "convert it:"
    return f"{verb} `{in_dtype(value, dtype)}`"


def one_side(left: Span, right: Span, a: AnyDType, b: AnyDType) -> str:
    """A help line: which of two operands, of the dtypes `a` and `b`, to convert."""
    if loose(left) and not loose(right):
        return f"write `{in_dtype(left, b)}`"
    return f"{'write' if loose(right) else 'convert one side:'} `{in_dtype(right, a)}`"


def fitted(
    facts: Facts, value: Span, found: Type, wanted: Type, visible: Container[Symbol]
) -> str | None:
    """A help line: what makes a value of the type `found` one of the type `wanted`, where it takes
    more than a dtype. `visible` are the dimensions that can be named where the value stands."""
    if isinstance(wanted, OptionalType) and not isinstance(found, OptionalType):
        return _wrapped(facts, value, found, wanted.inner, visible)
    if isinstance(found, OptionalType):
        return "look inside with `match x { some(v) => ... none => ... }`"
    if not isinstance(wanted, TensorType):
        return None
    if isinstance(found, TensorType):
        if help_ := reordered(facts, value, found.dims, wanted.dims):
            return help_
        return _repeated(facts, value, found.dims, wanted.dims)
    return _filled(value, found, wanted, visible)


def reshaped(value: Span, found: Shape, wanted: Shape) -> str:
    """A help line for a value whose axes `found` cannot be those that are `wanted`: what to do of
    what gives such axes."""
    name = text if (text := shortly(value)).isidentifier() else "x"
    if any(isinstance(d, Symbol) for d in (*found, *wanted)):
        return "the axes of a pack keep their order and their place"
    if len(found) > len(wanted):
        return f"an index drops an axis, as in `{name}[0, ...]`, and `sum[i]` sums over one"
    if len(found) < len(wanted):
        return "`reshape` adds axes of extent 1, and `broadcast_to` repeats along them"
    longer = [_is_longer(x, y) for x, y in zip(found, wanted, strict=True)]
    if all(x == y or more for x, y, more in zip(found, wanted, longer, strict=True)):
        cut = zip(wanted, longer, strict=True)
        parts = ", ".join(f"0:{y}" if more else ":" for y, more in cut)
        return f"a part of it is `{name}[{parts}]`"
    return "one of the two is declared with a wrong extent, or `concat` adds what is missing"


def _is_longer(found: object, wanted: object) -> bool:
    pair = [d.as_int() if isinstance(d, Dim) else None for d in (found, wanted)]
    return pair[0] is not None and pair[1] is not None and pair[0] > pair[1]


def _wrapped(
    facts: Facts, value: Span, found: Type, inner: Type, visible: Container[Symbol]
) -> str | None:
    if type(found) is not type(inner):
        return None
    help_ = fitted(facts, value, found, inner, visible)
    if help_ is None:
        asked = element_dtype(inner)
        if asked is None or asked == element_dtype(found):
            return f"wrap it: `some({shortly(value)})`"
        return f"wrap it: `some({in_dtype(value, asked)})`"
    return re.sub(r"`([^`]*)`$", r"`some(\1)`", help_)


def _repeated(facts: Facts, value: Span, found: Shape, wanted: Shape) -> str | None:
    """`[B, K]` where `[B, Q, K]` is asked for."""
    shape = spread(facts, found, wanted) if len(found) < len(wanted) else None
    if shape is None or not all(isinstance(d, Dim) for d in wanted):
        return None
    every = ", ".join(map(str, wanted))
    if "1" not in shape[-len(found) :]:
        return f"repeat it: `broadcast_to({shortly(value)}, [{every}])`"
    grown = f"reshape({shortly(value)}, [{', '.join(shape)}])"
    return f"say which axes it has, and repeat it: `broadcast_to({grown}, [{every}])`"


def _filled(value: Span, found: Type, wanted: TensorType, visible: Container[Symbol]) -> str | None:
    """One number where a tensor is asked for."""
    if not isinstance(found, ScalarType | LiteralType):
        return None
    if not all(isinstance(d, Dim) for d in wanted.dims):
        return None
    dims = [d for d in wanted.dims if isinstance(d, Dim)]
    shape = [str(d) if all(s in visible for s in d.symbols()) else "1" for d in dims]
    same = isinstance(found, LiteralType) or found.dtype == wanted.dtype
    number = shortly(value) if same else in_dtype(value, wanted.dtype)
    return f"a tensor of it is `fill<{wanted.dtype}>([{', '.join(shape)}], {number})`"
