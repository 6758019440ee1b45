"""A body for many points at once, in place of one after the other.

    (i) { %1 = index(%a, i)  %2 = exp(%1)  yield %2 }      at every i of N
becomes
    %1 = gather(%a) [N]      %2 = exp(%1)

Calls are put in place. Where the points do not agree about an `if` both sides are evaluated, and a
`while` goes on until no point has to, with what counts selected: a read is within its tensor at
points that do not count. What is the same at all points is evaluated once.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.batch_rules import RULES, Held, NotBatchedError, over, wide
from linnet.ir.builder import Builder
from linnet.ir.core import NO_ATTRS, Function, Operation, Region, Value
from linnet.ir.passes.inline import Clone
from linnet.ir.paths import Path
from linnet.ir.scalar import Access, Const, DimValue, Index, walk
from linnet.ir.types import BOOL, I64, Type
from linnet.ir.under import as_called
from linnet.ir.walk import operations

# More operations are not worth it: the calls of all points share the code of what they call.
_MOST = 500
# Calls in calls.
_DEEPEST = 20


class Functions(Protocol):
    """What may be called."""

    def function(self, name: str) -> Function: ...


def batched(
    region: Region, extents: Sequence[Dim], builder: Builder, functions: Functions, small: bool
) -> Value:
    """The one value of `region`, whose parameters are the positions, over `extents`. It writes no
    state. If `small`, there are only scalars at a point, so that nothing is larger than the result.

    Raises NotBatchedError; what has been emitted until then is of no use.
    """
    batcher = _Batcher(builder, tuple(extents), functions, small)
    for axis, param in enumerate(region.params):
        batcher.values[param.id] = Held(param, True, axis)
    batcher.body(region.body)
    return batcher.spread(region.yields[0])


class _Batcher:
    def __init__(
        self, builder: Builder, extents: tuple[Dim, ...], functions: Functions, small: bool
    ) -> None:
        self.extents = extents
        self.mask: Value | None = None
        self.values: dict[int, Held] = {}
        self._builder = builder
        self._functions = functions
        self._small = small
        self._prefix: Path = ()
        self._count = 0
        self._depth = 0

    # --- what the rules ask

    def held(self, value: Value) -> Held:
        """What stands for a value of the body; others are the same at all points."""
        return self.values.get(value.id) or Held(value, False)

    def spread(self, value: Value) -> Value:
        """What stands for a value, one for each of the points."""
        held, type = self.held(value), wide(self, value.type)
        if held.axis is not None:
            counted = self.emit("iota", [], I64.with_dims((self.extents[held.axis],)))
            if len(self.extents) == 1:
                return counted
            return self.emit("broadcast", [counted], type, {"axes": (held.axis,)})
        if held.many:
            return held.value
        first = len(self.extents)
        axes = tuple(range(first, first + value.type.rank))
        return self.emit("broadcast", [held.value], type, {"axes": axes})

    def emit(
        self, name: str, operands: Sequence[Value], type: Type, attrs: Mapping[str, Any] = NO_ATTRS
    ) -> Value:
        return self._builder.emit(name, operands, type, attrs)

    # --- bodies

    def body(self, body: Iterable[Operation]) -> None:
        for op in body:
            self._count += 1
            if self._count > _MOST:
                raise NotBatchedError
            self._builder.place = op.place
            if any(self.held(v).many for v in _used(op).values()):
                self._many(op)
            else:
                self._once(op)

    def _many(self, op: Operation) -> None:
        match op.name:
            case "if":
                results = self._if(op)
            case "while":
                results = self._while(op)
            case "loop" | "each":
                results = self._loop(op)
            case "call":
                results = self._call(op)
            case name if name in RULES:
                if self._small and op.results[0].type.rank:
                    raise NotBatchedError
                results = [RULES[name](self, op)]
            case _:
                raise NotBatchedError
        for old, new in zip(op.results, results, strict=True):
            self.values[old.id] = Held(new, True)

    def _once(self, op: Operation) -> None:
        """What is the same at all points, if any of them asks for it."""
        if self.mask is None or not _may_be_noticed(op):
            results = self._copied(op)
        else:
            with self._region([]) as inner:
                copied = self._copied(op)
            other = self._builder.nested()
            zeros = [_zeros(other, r.type) for r in op.results]
            regions = [inner.region(copied), other.region(zeros)]
            types = [r.type for r in op.results]
            results = self._builder.emit_all(
                "if", [self._anywhere(self.mask)], types, regions=regions
            )
        for old, new in zip(op.results, results, strict=True):
            self.values[old.id] = Held(new, False)

    def _copied(self, op: Operation) -> tuple[Value, ...]:
        values = {i: self.held(v).value for i, v in _used(op).items()}
        Clone(self._builder, values, self._prefix, _Same()).body([op])
        return tuple(values[r.id] for r in op.results)

    def _anywhere(self, flags: Value) -> Value:
        axes = tuple(range(len(self.extents)))
        attrs = {"op": "any", "axes": axes, "accumulator": DType.BOOL}
        return self.emit("reduce", [flags], BOOL, attrs)

    @contextmanager
    def _region(self, params: Sequence[tuple[Value, Type, bool]]) -> Generator[Builder]:
        """A region whose parameters, of these types, stand for these values."""
        outer, self._builder = self._builder, self._builder.nested()
        try:
            for old, type, many in params:
                self.values[old.id] = Held(self._builder.param(type, old.hint), many)
            yield self._builder
        finally:
            self._builder = outer

    @contextmanager
    def _under(self, mask: Value) -> Generator[None]:
        outer = self.mask
        self.mask = mask if outer is None else self.emit("and", [outer, mask], mask.type)
        try:
            yield
        finally:
            self.mask = outer

    def _either(self, flags: Value, a: Value, b: Value) -> Value:
        return self.emit("select", [over(self, flags, a.type), a, b], a.type)

    # --- structure

    def _if(self, op: Operation) -> Sequence[Value]:
        (condition,) = op.operands
        types = [wide(self, r.type) for r in op.results]
        if not self.held(condition).many:
            regions: list[Region] = []
            for region in op.regions:
                with self._region([]) as inner:
                    self.body(region.body)
                    regions.append(inner.region([self.spread(y) for y in region.yields]))
            held = self.held(condition).value
            return self._builder.emit_all("if", [held], types, regions=regions)
        flags = self.spread(condition)
        sides: list[list[Value]] = []
        for region, mask in zip(
            op.regions, (flags, self.emit("not", [flags], flags.type)), strict=True
        ):
            with self._under(mask):
                self.body(region.body)
                sides.append([self.spread(y) for y in region.yields])
        return [self._either(flags, a, b) for a, b in zip(*sides, strict=True)]

    def _while(self, op: Operation) -> Sequence[Value]:
        """Carries first whether each point goes on."""
        condition, body = op.regions
        start = [self.spread(o) for o in op.operands]
        types = [v.type for v in start]
        going = self._goes_on(condition, start, self.mask)
        with self._region([]) as first:
            flags = first.param(going.type)
            for type in types:
                first.param(type)
            ask = first.region([self._anywhere(flags)])
        with self._region([]) as inner:
            flags = inner.param(going.type)
            before = [inner.param(type) for type in types]
            self._hold(body.params, before)
            outer, self.mask = self.mask, flags
            self.body(body.body)
            after = [self.spread(y) for y in body.yields]
            self.mask = outer
            kept = [self._either(flags, a, b) for a, b in zip(after, before, strict=True)]
            step = inner.region([self._goes_on(condition, kept, flags), *kept])
        results = self._builder.emit_all(
            "while", [going, *start], [going.type, *types], regions=[ask, step]
        )
        return results[1:]

    def _goes_on(self, condition: Region, carried: Sequence[Value], mask: Value | None) -> Value:
        """Which points, of those in `mask`, go on with these values."""
        self._hold(condition.params, carried)
        outer, self.mask = self.mask, mask
        self.body(condition.body)
        flags = self.spread(condition.yields[0])
        self.mask = outer
        return flags if mask is None else self.emit("and", [mask, flags], flags.type)

    def _hold(self, params: Sequence[Value], values: Sequence[Value]) -> None:
        for param, value in zip(params, values, strict=True):
            self.values[param.id] = Held(value, True)

    def _loop(self, op: Operation) -> Sequence[Value]:
        (region,) = op.regions
        start = [self.spread(o) for o in op.operands]
        counted = len(region.params) - len(start)
        params = [(p, p.type, False) for p in region.params[:counted]]
        params += [(p, v.type, True) for p, v in zip(region.params[counted:], start, strict=True)]
        with self._region(params) as inner:
            self.body(region.body)
            again = inner.region([self.spread(y) for y in region.yields])
        if "array" in op.attrs and self._prefix:
            raise NotBatchedError
        types = [v.type for v in start]
        return self._builder.emit_all(op.name, start, types, op.attrs, [again])

    def _call(self, op: Operation) -> Sequence[Value]:
        callee = as_called(self._functions.function(op.attrs["callee"]), op)
        if self._depth == _DEEPEST or any(o.name == "each" for o in operations(callee.body)):
            raise NotBatchedError
        outer, prefix = self.values, self._prefix
        self._depth += 1
        args = [self.held(o) for o in op.operands]
        self.values = {p.id: a for p, a in zip(callee.params, args, strict=True)}
        self._prefix = (*prefix, *op.attrs["at"])
        self.body(callee.body)
        results = [self.spread(r) for r in callee.results]
        self.values, self._prefix = outer, prefix
        self._depth -= 1
        return results


class _Same(dict[str, str]):
    """The variables of the `each`es around stay as they are."""

    def __missing__(self, name: str) -> str:
        return name


def _used(op: Operation) -> dict[int, Value]:
    """The values that an operation and all in it read, some of which are its own."""
    found = {v.id: v for v in op.operands}
    for region in op.regions:
        found.update((v.id, v) for v in region.yields)
        for inner in operations(region.body):
            found.update((v.id, v) for v in inner.operands)
            found.update((y.id, y) for r in inner.regions for y in r.yields)
    return found


def _may_be_noticed(op: Operation) -> bool:
    """Whether it may read outside a tensor, or not end."""
    for inner in operations([op]):
        if inner.name in ("index", "gather", "call", "while"):
            return True
        if inner.name == "indexed" and any(
            not isinstance(p, Index | Const | DimValue)
            for access in walk(inner.attrs["expr"])
            if isinstance(access, Access)
            for p in access.positions
        ):
            return True
    return False


def _zeros(builder: Builder, type: Type) -> Value:
    scalar = builder.constant(False, DType.BOOL)
    if type.dtype != DType.BOOL:
        scalar = builder.emit("cast", [scalar], Type(type.dtype))
    return scalar if type.dims is None else builder.emit("fill", [scalar], type)
