"""`gather` as indexing: base axes that result axes run along are kept whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linnet.backends.code import Code, call, group, method, name, subscript
from linnet.backends.torch.vocabulary.terms import Terms, integer
from linnet.backends.torch.vocabulary.unsqueezing import Unsqueezed
from linnet.dims.dims import ONE, Dim
from linnet.ir.core import Operation


@dataclass(frozen=True, slots=True)
class _Plan:
    """`whole`: result axes, each with the base axis that it is a copy of; `outer`: the others,
    which are looked up along `looked_up`, base axes; `varying`: those of `outer` along which a
    position differs."""

    whole: Mapping[int, int]
    outer: tuple[int, ...]
    looked_up: tuple[int, ...]
    varying: frozenset[int]


def gather(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    plan = _plan(op)
    places = [name(":")] * op.operands[0].type.rank
    for axis in plan.looked_up:
        places[axis] = _positions(op, axis, plan, operands, terms)
    order = _result_axes(plan)
    while places and places[-1].text == ":":
        places.pop()
    found = subscript(operands[0], *places) if places else operands[0]
    if order != sorted(order):
        found = method(found, "permute", *(integer(order.index(k)) for k in sorted(order)))
    shape = op.results[0].type.shape
    if all(shape[k] == ONE or k in plan.varying for k in plan.outer if k in order) and len(
        order
    ) == len(shape):
        return found
    missing = [k for k in range(len(shape)) if k not in order]
    if missing:
        inserted = [name("None" if k in missing else ":") for k in range(max(missing) + 1)]
        found = subscript(found, *inserted)
    return method(found, "expand", *terms.shape(shape))


def _plan(op: Operation) -> _Plan:
    axes: tuple[tuple[str, int], ...] = op.attrs["axes"]
    rank = op.results[0].type.rank
    differing = {k for o in op.operands[1:] for k, n in enumerate(o.type.shape) if n != ONE}
    whole: dict[int, int] = {}
    for k in range(rank):
        at = [a for a, axis in enumerate(axes) if axis == ("axis", k)]
        if len(at) == 1 and k not in differing:
            whole[k] = at[0]
    looked_up = tuple(a for a, (kind, k) in enumerate(axes) if kind == "index" or k not in whole)
    walked = {axes[a][1] for a in looked_up if axes[a][0] == "axis"}
    outer = tuple(k for k in range(rank) if k not in whole)
    return _Plan(whole, outer, looked_up, frozenset(differing | walked))


def _result_axes(plan: _Plan) -> list[int]:
    """The result axes that indexing gives, in its order: the looked up ones in the place of
    theirs where those are neighbours, else in front. With no axis looked up there are none."""
    of_base = {a: k for k, a in plan.whole.items()}
    looked_up = plan.looked_up
    outer = list(plan.outer) if looked_up else []
    first = looked_up[0] if looked_up else 0
    together = looked_up == tuple(range(first, first + len(looked_up)))
    before = [of_base[a] for a in sorted(of_base) if a < first] if together else []
    after = [of_base[a] for a in sorted(of_base) if not together or a > first]
    if not looked_up:
        return [of_base[a] for a in sorted(of_base)]
    return [*before, *outer, *after]


def _positions(
    op: Operation, axis: int, plan: _Plan, operands: Sequence[Code], terms: Terms
) -> Code:
    """The positions along a base axis, with an axis for each of the outer ones."""
    axes: tuple[tuple[str, int], ...] = op.attrs["axes"]
    kind, number = axes[axis]
    if kind == "index":
        return squeezed(operands[1 + number], tuple(plan.whole))
    counted = call("torch.arange", _extent(op, number, terms), device=terms.device)
    places = [name(":" if k == number else "None") for k in plan.outer]
    return counted if len(places) == 1 else subscript(counted, *places)


def _extent(op: Operation, axis: int, terms: Terms) -> Code:
    extent: Dim = op.results[0].type.shape[axis]
    return terms.dims(extent)


def squeezed(x: Code, axes: tuple[int, ...]) -> Code:
    """`x` without axes of extent 1."""
    if isinstance(x, Unsqueezed) and set(x.axes) == set(axes):
        return x.base
    if not axes:
        return x
    listed = [integer(a) for a in axes]
    return method(x, "squeeze", listed[0] if len(listed) == 1 else group(listed))
