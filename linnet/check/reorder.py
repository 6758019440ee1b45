"""Axes that are right, and in the wrong place: what moves them there.

x: Tensor[B, C, H, W; f32], b: Tensor[C; f32]    x + b    help: `reshape(b, [1, C, 1, 1])`
x: Tensor[N, D; f32]    where [D, N] is asked for         help: `permute(x, [1, 0])`
"""

from __future__ import annotations

from collections.abc import Iterable

from linnet.check.types import Shape, TensorType, Type
from linnet.dims.counts import product
from linnet.dims.dims import Dim
from linnet.dims.prover import Facts, Relation
from linnet.source.files import Span

_LONGEST = 30  # an expression as long as this is not repeated


def reordered(facts: Facts, value: Span, found: Shape, wanted: Shape) -> str | None:
    """What makes `value` with the axes `found` one of the axes `wanted`."""
    order = _order(facts, found, wanted)
    if order is not None:
        return f"its axes stand in another order: `permute({shortly(value)}, {order})`"
    other = len(found) != len(wanted) and found and wanted
    if other and facts.equal(product(found), product(wanted)):
        shape = ", ".join(_shown(d) for d in wanted)
        return f"it has as many elements: `reshape({shortly(value)}, [{shape}])`"
    return None


def lined_up(facts: Facts, left: tuple[Type, Span], right: tuple[Type, Span]) -> str | None:
    """What makes two operands broadcast, if some axes of one are those of the other."""
    a, b = (x.dims if isinstance(x, TensorType) else () for x in (left[0], right[0]))
    order = _order(facts, b, a)
    if order is not None:
        return f"the axes stand in another order: `permute({shortly(right[1])}, {order})`"
    longer, shorter, value = (a, b, right[1]) if len(a) > len(b) else (b, a, left[1])
    shape = spread(facts, shorter, longer) if len(a) != len(b) else None
    if shape is None:
        return None
    return f"say which axis it has: `reshape({shortly(value)}, [{', '.join(shape)}])`"


def together(declared: Iterable[tuple[str, Shape]], relations: tuple[Relation, ...]) -> str | None:
    """What to say where a relation makes two generics equal that stand side by side in a shape, as
    in `Tensor[B, C, H, W; f32]`: their names tell them apart, and one took the other's place."""
    pairs = [
        (r.left, r.right)
        for r in relations
        if r.op == "==" and r.left.as_symbol() and r.right.as_symbol()
    ]
    for name, dims in declared if pairs else ():
        for x, y in pairs:
            if x in dims and y in dims:
                return f"`{x}` and `{y}` are two sizes of `{name}`: is one in the other's place?"
    return None


def spread(facts: Facts, shorter: Shape, longer: Shape) -> list[str] | None:
    """`shorter` with an axis of 1 for each that only `longer` has; None if it does not fit so."""
    left, shape = list(shorter), list[str]()
    for extent in longer:
        fits = left and (_same(facts, left[0], extent) or left[0] == Dim.of(1))
        shape.append(_shown(left.pop(0)) if fits else "1")
    return shape if shorter and not left else None


def shortly(value: Span) -> str:
    """An expression as it stands, if it is short."""
    text = value.text
    return text if len(text) <= _LONGEST and "\n" not in text else "..."


def _order(facts: Facts, found: Shape, wanted: Shape) -> list[int] | None:
    """The axes of `found` in the order in which they are `wanted`; None if they are not that."""
    if len(found) != len(wanted):
        return None
    left = list(enumerate(found))
    order: list[int] = []
    for extent in wanted:
        at = next((i for i, d in left if _same(facts, d, extent)), None)
        if at is None:
            return None
        left = [(i, d) for i, d in left if i != at]
        order.append(at)
    return order if order != sorted(order) else None


def _same(facts: Facts, a: object, b: object) -> bool:
    return isinstance(a, Dim) and isinstance(b, Dim) and facts.equal(a, b)


def _shown(extent: object) -> str:
    return str(extent) if isinstance(extent, Dim) else f"*{getattr(extent, 'name', extent)}"
