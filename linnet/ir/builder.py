"""Builds bodies in order, with fresh values.

    b = Builder()
    x = b.param(Type(DType.F32, (n,)), "x")
    y = b.emit("exp", [x], x.type)
    function = b.function("f", None, [y])

A region is built by a nested builder: `inner = b.nested()`, then `inner.region(yields)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from linnet.dims.dims import Dim
from linnet.dtypes import AnyDType
from linnet.ir.core import NO_ATTRS, Function, Operation, Region, Value
from linnet.ir.library import LibraryOp
from linnet.ir.places import Place
from linnet.ir.types import Type


class Builder:
    """One body; its nested builders share the numbering of values."""

    def __init__(self, ids: Iterator[int] | None = None, place: Place | None = None) -> None:
        self._ids = count() if ids is None else ids
        self.place = place
        self.params: list[Value] = []
        self.body: list[Operation] = []

    def value(self, type: Type, hint: str = "") -> Value:
        """A value that nothing defines yet."""
        return Value(next(self._ids), type, hint)

    def param(self, type: Type, hint: str = "") -> Value:
        """The next parameter of the body."""
        self.params.append(self.value(type, hint))
        return self.params[-1]

    def append(self, op: Operation) -> Operation:
        """Adds an operation that is there already."""
        self.body.append(op)
        return op

    def emit_all(
        self,
        name: str,
        operands: Sequence[Value],
        types: Sequence[Type],
        attrs: Mapping[str, Any] = NO_ATTRS,
        regions: Sequence[Region] = (),
        place: Place | None = None,
        hints: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Adds an operation with any number of results and gives them."""
        named = [*hints, *[""] * (len(types) - len(hints))]
        results = tuple(self.value(t, h) for t, h in zip(types, named, strict=True))
        place = place or self.place
        self.append(Operation(name, tuple(operands), results, attrs, tuple(regions), place))
        return results

    def emit(
        self,
        name: str,
        operands: Sequence[Value],
        type: Type,
        attrs: Mapping[str, Any] = NO_ATTRS,
        regions: Sequence[Region] = (),
        place: Place | None = None,
        hint: str = "",
    ) -> Value:
        """Adds an operation with one result and gives it."""
        return self.emit_all(name, operands, [type], attrs, regions, place, [hint])[0]

    def constant(
        self, value: int | bool | str, dtype: AnyDType, place: Place | None = None
    ) -> Value:
        """A scalar."""
        return self.emit("constant", [], Type(dtype), {"value": value}, place=place)

    def dim(self, dim: Dim, dtype: AnyDType, place: Place | None = None) -> Value:
        """A dimension as a scalar; a literal one is a constant."""
        literal = dim.as_int()
        if literal is not None:
            return self.constant(literal, dtype, place)
        return self.emit("dim", [], Type(dtype), {"dim": dim}, place=place)

    def nested(self) -> Builder:
        """A builder for a region of an operation of this body."""
        return Builder(self._ids, self.place)

    def region(self, yields: Sequence[Value]) -> Region:
        """What was built, as a region."""
        return Region(tuple(self.params), tuple(self.body), tuple(yields))

    def function(self, name: str, op: LibraryOp | None, results: Sequence[Value]) -> Function:
        """What was built, as a function."""
        return Function(name, op, tuple(self.params), tuple(self.body), tuple(results))
