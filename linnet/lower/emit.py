"""Collects the operations of one function: a stack of builders, one per open region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import NO_ATTRS, Function, Operation, Region, Value
from linnet.ir.library import LibraryOp
from linnet.ir.places import Place
from linnet.ir.types import BOOL, Type


class Emitter:
    """Appends to the innermost open body. The head holds what is defined before the body of
    the function: the parameters of its block, read once."""

    __slots__ = ("_head", "_root", "_stack")

    def __init__(self) -> None:
        self._root = Builder()
        self._head: list[Operation] = []
        self._stack = [self._root]

    @property
    def place(self) -> Place | None:
        """Where the operations come from that are emitted next."""
        return self._root.place

    @place.setter
    def place(self, place: Place | None) -> None:
        for builder in self._stack:
            builder.place = place

    @property
    def builder(self) -> Builder:
        """The innermost body."""
        return self._stack[-1]

    def mark(self) -> tuple[int, int]:
        """Where the body is that comes next."""
        return len(self._stack), len(self._stack[-1].body)

    def reset(self, mark: tuple[int, int]) -> None:
        """Drop what was emitted since."""
        depth, length = mark
        del self._stack[depth:]
        del self._stack[-1].body[length:]

    def param(self, type_: Type, hint: str = "") -> Value:
        """The next parameter of the innermost body."""
        return self._stack[-1].param(type_, hint)

    def emit(
        self,
        name: str,
        operands: Sequence[Value],
        types: Sequence[Type],
        attrs: Mapping[str, Any] = NO_ATTRS,
        regions: Sequence[Region] = (),
        hints: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """Append an operation and give its results."""
        return self._stack[-1].emit_all(name, operands, types, attrs, regions, hints=hints)

    def one(self, name: str, operands: Sequence[Value], type_: Type, **attrs: Any) -> Value:
        """Append an operation with one result."""
        return self._stack[-1].emit(name, operands, type_, attrs or NO_ATTRS)

    def first(self, name: str, type_: Type, hint: str, **attrs: Any) -> Value:
        """Append an operation without operands to the head of the function."""
        result = self._root.value(type_, hint)
        self._head.append(Operation(name, (), (result,), attrs, (), self.place))
        return result

    def open(self, builder: Builder | None = None) -> None:
        """Begin a region, or go on with one that was closed."""
        self._stack.append(builder or self._stack[-1].nested())

    def close(self) -> Builder:
        """End the innermost region."""
        return self._stack.pop()

    def close_with(self, yields: Sequence[Value]) -> Region:
        """End the innermost region; it yields `yields`."""
        return self.close().region(yields)

    def hint(self, value: Value, name: str) -> Value:
        """`value` under a name for people, if the last operation just defined it."""
        body = self._stack[-1].body
        if not body or value.hint or value not in body[-1].results:
            return value
        named = Value(value.id, value.type, name)
        results = tuple(named if r == value else r for r in body[-1].results)
        body[-1] = replace(body[-1], results=results)
        return named

    # --- operations that lowering itself comes to need

    def constant(self, value: int | bool, type_: Type) -> Value:
        """A known scalar."""
        return self.one("constant", [], type_, value=value)

    def zeros(self, type_: Type) -> Value:
        """Zeros, of any dtype."""
        scalar = self.constant(False, BOOL)
        if type_.dtype != DType.BOOL:
            scalar = self.one("cast", [scalar], Type(type_.dtype))
        return scalar if type_.dims is None else self.one("fill", [scalar], type_)

    def broadcast(self, value: Value, to: Sequence[Dim]) -> Value:
        """`value` right-aligned over the extents `to`."""
        target = value.type.with_dims(tuple(to) or None)
        if value.type == target:
            return value
        widened = any(
            a.as_int() == 1 and b.as_int() != 1 for a, b in zip(value.type.shape, to, strict=False)
        )
        if value.type.rank == len(to) and not widened:
            return self.coerce(value, target)
        offset = len(to) - value.type.rank
        return self.one("broadcast", [value], target, axes=tuple(range(offset, len(to))))

    def coerce(self, value: Value, type_: Type) -> Value:
        """`value` as `type_`, which is provably its type though it may be written otherwise."""
        if value.type == type_:
            return value
        return self.one("reshape", [value], type_)

    def function(self, name: str, op: LibraryOp | None, results: Sequence[Value]) -> Function:
        """All of it, once every region is closed."""
        assert len(self._stack) == 1
        body = (*self._head, *self._root.body)
        return Function(name, op, tuple(self._root.params), body, tuple(results))
