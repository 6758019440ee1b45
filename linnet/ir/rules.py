"""What has to hold of the types of an operation: one rule for a family of rows of `ops.py`.

A rule yields a sentence for everything that is wrong. Arity, attribute kinds and the
number of regions have been checked when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from linnet.check.dims import ONE, Dim
from linnet.check.dtypes import KINDS, AnyDType, DType, admits
from linnet.ir.core import Function, Operation, Region, Value
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

BOOL = Type(DType.BOOL)
I64 = Type(DType.I64)


def within(dtype: AnyDType, kind: str) -> bool:
    """Whether `dtype` can only be of `kind`."""
    return admits(dtype) <= KINDS[kind]


def is_scalar(value: Value, dtype: AnyDType | None = None) -> bool:
    return not value.type.shape and dtype in (None, value.type.dtype)


def nothing(op: Operation, context: Context) -> Iterator[str]:
    """Arity, attributes and regions say it all."""
    yield from ()


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
        fits = within(type.dtype, "DType") and DType.BOOL in admits(type.dtype)
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


# --- shape -------------------------------------------------------------------


def reshape(op: Operation, context: Context) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    if source.dtype != target.dtype:
        yield f"gives {target.dtype}, not {source.dtype}"
    if not context.equal(count(source.shape), count(target.shape)):
        yield f"turns {source} into {target}, which has another number of elements"


def count(dims: Sequence[Dim]) -> Dim:
    """The number of elements."""
    total = ONE
    for d in dims:
        total = total * d
    return total


def permute(op: Operation, context: Context) -> Iterator[str]:
    dims = op.operands[0].type.shape
    axes: tuple[int, ...] = op.attrs["axes"]
    if sorted(axes) != list(range(len(dims))):
        yield f"axes {axes} are no permutation of {len(dims)} axes"
        return
    yield from expect_dims(op, context, [dims[a] for a in axes])


def broadcast(op: Operation, context: Context) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    axes: tuple[int, ...] = op.attrs["axes"]
    if source.dtype != target.dtype:
        yield f"gives {target.dtype}, not {source.dtype}"
    if len(axes) != source.rank or not ascending(axes, target.rank):
        yield f"axes {axes} do not place {source} in {target}"
        return
    for extent, axis in zip(source.shape, axes, strict=True):
        if extent != ONE and not context.equal(extent, target.shape[axis]):
            yield f"extent {extent} does not become {target.shape[axis]}"


def ascending(axes: Sequence[int], rank: int) -> bool:
    """Strictly ascending and within `rank`."""
    return all(0 <= a < rank for a in axes) and list(axes) == sorted(set(axes))


def concat(op: Operation, context: Context) -> Iterator[str]:
    first = op.operands[0].type
    axis: int = op.attrs["axis"]
    if not 0 <= axis < first.rank:
        yield f"axis {axis} is not one of {first.rank}"
        return
    total = Dim.of(0)
    for operand in op.operands:
        dims = operand.type.shape
        if operand.type.dtype != first.dtype or len(dims) != first.rank:
            yield f"joins {first} and {operand.type}"
            return
        rest = (*dims[:axis], *dims[axis + 1 :])
        if not context.same_shape(rest, (*first.shape[:axis], *first.shape[axis + 1 :])):
            yield f"joins {first} and {operand.type} along axis {axis}"
        total = total + dims[axis]
    yield from expect_dims(op, context, (*first.shape[:axis], total, *first.shape[axis + 1 :]))


def slice_(op: Operation, context: Context) -> Iterator[str]:
    rank = op.operands[0].type.rank
    start, stop, step = (op.attrs[n] for n in ("start", "stop", "step"))
    if not len(start) == len(stop) == len(step) == rank:
        yield f"needs a start, a stop and a step for each of {rank} axes"
        return
    if any(s < 1 for s in step):
        yield f"steps {step} are not all positive"
        return
    lengths = [
        b - a if s == 1 else (b - a + (s - 1)) // s
        for a, b, s in zip(start, stop, step, strict=True)
    ]
    yield from expect_dims(op, context, lengths)


def index(op: Operation, context: Context) -> Iterator[str]:
    source, axes = op.operands[0].type, op.attrs["axes"]
    if len(axes) != len(op.operands) - 1 or not ascending(axes, source.rank):
        yield f"axes {axes} do not fit {len(op.operands) - 1} positions in {source}"
        return
    for position in op.operands[1:]:
        if not is_scalar(position, DType.I64):
            yield f"a position is {position.type}, not an i64 scalar"
    yield from expect_dims(op, context, [d for a, d in enumerate(source.shape) if a not in axes])


def gather(op: Operation, context: Context) -> Iterator[str]:
    base, result = op.operands[0].type, op.results[0].type
    positions = op.operands[1:]
    axes: tuple[tuple[str, int], ...] = op.attrs["axes"]
    if result.dtype != base.dtype:
        yield f"gives {result.dtype}, not {base.dtype}"
    for position in positions:
        yield from _index_tensor(position.type, result, context)
    if len(axes) != base.rank:
        yield f"says where {len(axes)} axes come from; the base has {base.rank}"
        return
    used = {k for how, k in axes if how == "index"}
    if used != set(range(len(positions))):
        yield f"axes {axes} do not use each of {len(positions)} index tensors"
    for extent, (how, k) in zip(base.shape, axes, strict=True):
        if how == "axis" and not 0 <= k < result.rank:
            yield f"result axis {k} is not one of {result.rank}"
        elif how == "axis" and not context.equal(extent, result.shape[k]):
            yield f"extent {extent} is walked by an axis of extent {result.shape[k]}"


def _index_tensor(position: Type, result: Type, context: Context) -> Iterator[str]:
    if position.dtype != DType.I64 or position.rank != result.rank:
        yield f"an index tensor is {position}; the result has {result.rank} axes"
        return
    for have, want in zip(position.shape, result.shape, strict=True):
        if have != ONE and not context.equal(have, want):
            yield f"an index tensor has extent {have} where the result has {want}"


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


def reduce(op: Operation, context: Context) -> Iterator[str]:
    source, axes = op.operands[0].type, op.attrs["axes"]
    yield from reducible(op.attrs["op"], source.dtype)
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
    dims = tuple(extents[k] for k in output)
    yield from expect(op, context, [Type(op.results[0].type.dtype, dims or None)])


def cumsum(op: Operation, context: Context) -> Iterator[str]:
    source, axis = op.operands[0].type, op.attrs["axis"]
    if not 0 <= axis < source.rank or not within(source.dtype, "Numeric"):
        yield f"axis {axis} of {source} has no running sum"
    yield from expect(op, context, [source])


# --- structure ---------------------------------------------------------------


def call(op: Operation, context: Context) -> Iterator[str]:
    callee = context.functions.get(op.attrs["callee"])
    if callee is None:
        yield f"there is no function {op.attrs['callee']!r}"
        return
    wanted = [p.type for p in callee.params]
    yield from _match(op.operands, wanted, context, f"arguments of {callee.name}")
    yield from _match(op.results, [r.type for r in callee.results], context, "results")


def _match(
    values: Sequence[Value], types: Sequence[Type], context: Context, what: str
) -> Iterator[str]:
    if len(values) != len(types):
        yield f"{what}: {len(values)}, not {len(types)}"
        return
    for value, wanted in zip(values, types, strict=True):
        if not context.same_type(value.type, wanted):
            yield f"{what}: {value.type}, not {wanted}"


def if_(op: Operation, context: Context) -> Iterator[str]:
    if not is_scalar(op.operands[0], DType.BOOL):
        yield f"the condition is {op.operands[0].type}, not bool"
    wanted = [r.type for r in op.results]
    for region in op.regions:
        yield from _region(region, [], wanted, context)


def while_(op: Operation, context: Context) -> Iterator[str]:
    carried = [o.type for o in op.operands]
    yield from _region(op.regions[0], carried, [BOOL], context)
    yield from _region(op.regions[1], carried, carried, context)
    yield from expect(op, context, carried)


def each(op: Operation, context: Context) -> Iterator[str]:
    carried = [o.type for o in op.operands]
    yield from _region(op.regions[0], carried, carried, context)
    yield from expect(op, context, carried)


def loop(op: Operation, context: Context) -> Iterator[str]:
    carried = [o.type for o in op.operands]
    yield from _region(op.regions[0], [I64, *carried], carried, context)
    yield from expect(op, context, carried)


def _region(
    region: Region, params: Sequence[Type], yields: Sequence[Type], context: Context
) -> Iterator[str]:
    yield from _match(region.params, params, context, "parameters of a region")
    yield from _match(region.yields, yields, context, "what a region yields")
