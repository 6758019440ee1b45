"""Values from nothing, and operations that move elements."""

from __future__ import annotations

import re
from collections.abc import Sequence

from linnet.backends.code import ATOM, Code, call, group, method, name, subscript
from linnet.backends.torch.semantics import rounded
from linnet.backends.torch.vocabulary.casting import HALF, converted
from linnet.backends.torch.vocabulary.elementwise import Write
from linnet.backends.torch.vocabulary.terms import (
    Terms,
    axis_text,
    integer,
    literal,
    operand_dtype,
    result_dtype,
    tensor,
    torch_dtype,
)
from linnet.backends.torch.vocabulary.unsqueezing import added_axes, unsqueezed
from linnet.dims.dims import ZERO, Dim, plainly_natural
from linnet.dtypes import DType
from linnet.ir.core import Operation

# --- from nothing ------------------------------------------------------------


def _constant(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    return literal(op.attrs["value"], result_dtype(op))


def _dim(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dtype = result_dtype(op)
    found = terms.dims(op.attrs["dim"])
    number = Code(found.text, found.functions, found.binds, "number")
    if dtype not in HALF:
        return number
    # Beside an f16 or bf16 tensor, a Python number would be in f32.
    made = call("torch.tensor", number, device=terms.device)
    return call(rounded, made, torch_dtype(dtype))


def _iota(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dtype = result_dtype(op)
    (extent,) = terms.shape(op.results[0].type.shape)
    counted = call("torch.arange", extent, device=terms.device)
    if dtype is DType.I64:
        return counted
    if dtype in (DType.F32, DType.F64, DType.I32):
        return call("torch.arange", extent, dtype=torch_dtype(dtype), device=terms.device)
    return converted(counted, DType.I64, dtype)


def _fill(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dims, (x,) = op.results[0].type.dims, operands
    dtype = result_dtype(op)
    if dims is None:
        return tensor(x, dtype, terms)
    shape = terms.shape(dims)
    if x.kind == "literal" and dtype is not DType.U64:
        named = {"dtype": torch_dtype(dtype), "device": terms.device}
        if x.text in ("0", "0.0", "1", "1.0"):
            return call("torch.zeros" if x.text in ("0", "0.0") else "torch.ones", *shape, **named)
        return call("torch.full", group(shape), x, **named)
    return method(tensor(x, dtype, terms), "expand", *_arguments(shape))


def _arguments(shape: Sequence[Code]) -> Sequence[Code]:
    """Extents as arguments; an empty shape has to be a tuple."""
    return shape or (group(()),)


# --- shapes ------------------------------------------------------------------


def _reshape(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    source, target = op.operands[0].type, op.results[0].type
    x = tensor(operands[0], operand_dtype(op), terms)
    if source.shape == target.shape:
        return x
    added = added_axes(source.shape, target.shape)
    if added is not None and source.shape:
        return unsqueezed(x, added)
    return method(x, "reshape", *_arguments(terms.shape(target.shape)))


def attribute(x: Code, of: str) -> Code:
    """`x.T`."""
    return Code(f"{x.within(ATOM)}.{of}", x.functions)


def _permute(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    (x,), axes = operands, tuple(op.attrs["axes"])
    x = tensor(x, operand_dtype(op), terms)
    moved = [k for k, axis in enumerate(axes) if k != axis]
    if not moved:
        return x
    if len(moved) == 2:
        if len(axes) == 2:
            return attribute(x, "T")
        ends = (k - len(axes) if k >= len(axes) - 2 else k for k in moved)
        return method(x, "transpose", *map(integer, ends))
    return method(x, "permute", *map(integer, axes))


def _broadcast(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    source, target = op.operands[0].type, op.results[0].type
    axes, (x,) = tuple(op.attrs["axes"]), operands
    if not source.shape:
        return _fill(op, operands, terms)
    placed = unexpanded(op, x)
    if all(a in axes for a in range(target.rank)) and source.shape == target.shape:
        return placed
    return method(placed, "expand", *terms.shape(target.shape))


def unexpanded(op: Operation, x: Code) -> Code:
    """The operand of a `broadcast` with axes of extent 1 where it lacks some, but in front."""
    axes, rank = tuple(op.attrs["axes"]), op.results[0].type.rank
    if not axes or axes == tuple(range(rank - len(axes), rank)):
        return x
    return unsqueezed(x, [k - axes[0] for k in range(axes[0], rank) if k not in axes])


def _concat(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dtype = operand_dtype(op)
    parts = [tensor(o, dtype, terms) for o in operands]
    axis = axis_text(op.attrs["axis"], op.results[0].type.rank)
    return call("torch.cat", group(parts), dim=axis)


def _slice(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    dims, attrs = op.operands[0].type.shape, op.attrs
    ranges = zip(attrs["start"], attrs["stop"], attrs["step"], dims, strict=True)
    places = [_range(*each, terms) for each in ranges]
    while places and places[-1].text == ":":
        places.pop()
    return subscript(operands[0], *places) if places else operands[0]


def _range(start: Dim, stop: Dim, step: int, extent: Dim, terms: Terms) -> Code:
    first = "" if start == ZERO else terms.dims(start).text
    last = "" if stop == extent else terms.dims(stop).text
    if last and step > 1 and not plainly_natural(stop):
        # Nothing is left then; Python would count from the end.
        last = f"max({last}, 0)"
    bounds = [first, last, *([str(step)] if step != 1 else [])]
    if all(re.fullmatch(r"-?\w*", b) for b in bounds):
        return name(":".join(bounds))
    # The colon binds less than what is in a bound, and has the spaces of an operator.
    return name(" : ".join(bounds).strip())


WHOLE = name(":")


def _index(op: Operation, operands: Sequence[Code], terms: Terms) -> Code:
    """A position that is a tensor has an axis of one element while it is looked up: without axes
    the framework would read it on the host, for which a device is waited for and a graph ends."""
    at = dict(zip(op.attrs["axes"], operands[1:], strict=True))
    places = [at.get(axis, WHOLE) for axis in range(max(at, default=-1) + 1)]
    left = [p for p in places if p.kind == "value"]  # numbers are taken off first
    looked_up = [k for k, place in enumerate(left) if place is not WHOLE]
    if not looked_up:
        return subscript(operands[0], *places) if places else operands[0]
    of_one = [
        subscript(p, name("None")) if p is not WHOLE and p.kind == "value" else p for p in places
    ]
    found = subscript(operands[0], *of_one)
    # The axis is where theirs were, in front if something is between them.
    together = looked_up[-1] - looked_up[0] == len(looked_up) - 1
    before = [WHOLE] * looked_up[0] if together else []
    return subscript(found, *before, name("0", "literal"))


MOVING: dict[str, Write] = {
    "constant": _constant,
    "dim": _dim,
    "iota": _iota,
    "fill": _fill,
    "reshape": _reshape,
    "permute": _permute,
    "broadcast": _broadcast,
    "concat": _concat,
    "slice": _slice,
    "index": _index,
}
