"""What has to hold of the types of an operation: one rule for a family of rows of `ops.py`.

A rule yields a sentence for everything that is wrong. Arity, attribute kinds and the
number of regions have been checked when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from linnet.dims.dims import Dim
from linnet.dtypes import KINDS, AnyDType, DType, admits
from linnet.ir.core import Function, Operation, Value
from linnet.ir.types import Type


def same_dim(a: Dim, b: Dim) -> bool:
    """Equal without any facts."""
    return a == b


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may ask: are two extents equal, which functions are there, and what are the
    arity and rule of an elementwise operation."""

    equal: Callable[[Dim, Dim], bool] = same_dim
    functions: Mapping[str, Function] = field(default_factory=dict[str, Function])
    elementwise: Mapping[str, tuple[int, Rule]] = field(
        default_factory=dict[str, "tuple[int, Rule]"]
    )

    def same_shape(self, a: Sequence[Dim], b: Sequence[Dim]) -> bool:
        return len(a) == len(b) and all(map(self.equal, a, b))

    def same_type(self, a: Type, b: Type) -> bool:
        return a.dtype == b.dtype and self.same_shape(a.shape, b.shape)


Rule = Callable[[Operation, Context], Iterator[str]]


def within(dtype: AnyDType, kind: str) -> bool:
    """Whether `dtype` can only be of `kind`."""
    return admits(dtype) <= KINDS[kind]


def is_scalar(value: Value, dtype: AnyDType | None = None) -> bool:
    return not value.type.shape and dtype in (None, value.type.dtype)


def nothing(op: Operation, context: Context) -> Iterator[str]:
    """Arity, attributes and regions say it all."""
    yield from ()


def ascending(axes: Sequence[int], rank: int) -> bool:
    """Strictly ascending and within `rank`."""
    return all(0 <= a < rank for a in axes) and list(axes) == sorted(set(axes))


def expect(op: Operation, context: Context, types: Sequence[Type]) -> Iterator[str]:
    """The results are of `types`."""
    if len(op.results) != len(types):
        yield f"gives {len(op.results)} results, not {len(types)}"
        return
    for result, wanted in zip(op.results, types, strict=True):
        if not context.same_type(result.type, wanted):
            yield f"gives {result.type}, not {wanted}"


def expect_dims(op: Operation, context: Context, dims: Sequence[Dim]) -> Iterator[str]:
    """The result has `dims` and the dtype of the first operand."""
    dtype = op.operands[0].type.dtype
    yield from expect(op, context, [Type(dtype, tuple(dims) if dims else None)])


# --- sources -----------------------------------------------------------------


def constant(op: Operation, context: Context) -> Iterator[str]:
    type, value = op.results[0].type, op.attrs["value"]
    if type.shape:
        yield f"gives {type}, not a scalar"
    if isinstance(value, bool):
        fits = type.dtype == DType.BOOL
    elif isinstance(value, int):
        fits = DType.BOOL not in admits(type.dtype)
        if isinstance(type.dtype, DType) and type.dtype.is_integer:
            low, high = type.dtype.integer_range()
            fits = low <= value <= high
    else:
        fits = within(type.dtype, "Float")
        try:
            float(value)
        except ValueError:
            yield f"{value!r} is no float literal"
    if not fits:
        yield f"{value!r} is no value of {type.dtype}"


def dim(op: Operation, context: Context) -> Iterator[str]:
    type = op.results[0].type
    if type.shape or not within(type.dtype, "Numeric"):
        yield f"gives {type}, not a scalar number"


def iota(op: Operation, context: Context) -> Iterator[str]:
    type = op.results[0].type
    if type.rank != 1 or not within(type.dtype, "Numeric"):
        yield f"gives {type}, not a vector of numbers"


def fill(op: Operation, context: Context) -> Iterator[str]:
    if not is_scalar(op.operands[0], op.results[0].type.dtype):
        yield f"fills {op.results[0].type} with {op.operands[0].type}"


# --- elementwise -------------------------------------------------------------


def elementwise(kind: str) -> Rule:
    """Operands and result of one type, its dtype of `kind`."""

    def rule(op: Operation, context: Context) -> Iterator[str]:
        first = op.operands[0].type
        yield from _alike(op, context, kind)
        yield from expect(op, context, [first])

    return rule


def logical(op: Operation, context: Context) -> Iterator[str]:
    """`not`, `and`, `or`, `xor`: bool; all but `not` also integers."""
    first = op.operands[0].type
    allowed = {DType.BOOL} if op.name == "not" else KINDS["Integer"] | {DType.BOOL}
    yield from _alike(op, context, "DType")
    if not admits(first.dtype) <= allowed:
        yield f"takes no {first.dtype}"
    yield from expect(op, context, [first])


def compare(kind: str) -> Rule:
    """Operands of one type, the result bool."""

    def rule(op: Operation, context: Context) -> Iterator[str]:
        yield from _alike(op, context, kind)
        yield from expect(op, context, [op.operands[0].type.with_dtype(DType.BOOL)])

    return rule


def _alike(op: Operation, context: Context, kind: str) -> Iterator[str]:
    first = op.operands[0].type
    if not within(first.dtype, kind):
        yield f"takes no {first.dtype}"
    for operand in op.operands[1:]:
        if not context.same_type(first, operand.type):
            yield f"takes {first} and {operand.type}, which differ"


def select(op: Operation, context: Context) -> Iterator[str]:
    condition, first, second = (o.type for o in op.operands)
    if not context.same_type(condition, first.with_dtype(DType.BOOL)):
        yield f"chooses by {condition}, not {first.with_dtype(DType.BOOL)}"
    if not context.same_type(first, second):
        yield f"chooses between {first} and {second}, which differ"
    yield from expect(op, context, [first])


def cast(op: Operation, context: Context) -> Iterator[str]:
    yield from expect(op, context, [op.operands[0].type.with_dtype(op.results[0].type.dtype)])


# --- reductions --------------------------------------------------------------

REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")


def reducible(name: str, dtype: AnyDType) -> Iterator[str]:
    """Whether the reduction `name` takes `dtype`."""
    if name not in REDUCTIONS:
        yield f"there is no reduction {name!r}"
    elif name in ("any", "all"):
        if dtype != DType.BOOL:
            yield f"{name} takes no {dtype}"
    elif not within(dtype, "Numeric"):
        yield f"{name} takes no {dtype}"


def kept(dtype: AnyDType, accumulator: AnyDType) -> Iterator[str]:
    """Whether `accumulator` is of the kind of `dtype`: a float, an integer, bool, or the same."""
    for kind in (KINDS["Float"], KINDS["Integer"], {DType.BOOL}):
        if admits(dtype) <= kind and admits(accumulator) <= kind:
            return
    if dtype != accumulator:
        yield f"{dtype} is kept in {accumulator}"


def reduce(op: Operation, context: Context) -> Iterator[str]:
    source, axes = op.operands[0].type, op.attrs["axes"]
    yield from reducible(op.attrs["op"], source.dtype)
    yield from kept(source.dtype, op.attrs["accumulator"])
    if not axes or not ascending(axes, source.rank):
        yield f"axes {axes} are not axes of {source}"
        return
    yield from expect_dims(op, context, [d for a, d in enumerate(source.shape) if a not in axes])


def contract(op: Operation, context: Context) -> Iterator[str]:
    inputs, output = op.attrs["inputs"], op.attrs["output"]
    extents: dict[int, Dim] = {}
    if len(inputs) != len(op.operands):
        yield f"has indices for {len(inputs)} operands, not {len(op.operands)}"
        return
    for operand, indices in zip(op.operands, inputs, strict=True):
        if not within(operand.type.dtype, "Numeric"):
            yield f"takes no {operand.type.dtype}"
        if operand.type.dtype != op.operands[0].type.dtype:
            yield f"takes {op.operands[0].type.dtype} and {operand.type.dtype}"
        if len(indices) != operand.type.rank or len(set(indices)) != len(indices):
            yield f"indices {indices} do not fit {operand.type}"
            return
        for k, extent in zip(indices, operand.type.shape, strict=True):
            if not context.equal(extents.setdefault(k, extent), extent):
                yield f"index {k} has extents {extents[k]} and {extent}"
    if len(set(output)) != len(output) or not set(output) <= set(extents):
        yield f"output indices {output} are not distinct indices of the operands"
        return
    if any(k < 0 for k in extents):
        yield f"an index of {inputs} is negative"
    for dtype in dict.fromkeys(v.type.dtype for v in (op.operands[0], op.results[0])):
        yield from kept(dtype, op.attrs["accumulator"])
    dims = tuple(extents[k] for k in output)
    yield from expect(op, context, [Type(op.results[0].type.dtype, dims or None)])


def cumsum(op: Operation, context: Context) -> Iterator[str]:
    source, axis = op.operands[0].type, op.attrs["axis"]
    if not 0 <= axis < source.rank or not within(source.dtype, "Numeric"):
        yield f"axis {axis} of {source} has no running sum"
    yield from kept(source.dtype, op.attrs["accumulator"])
    yield from expect(op, context, [source])
