"""Scalar expressions as whole arrays.

The grid of an expression is an array with one axis for each index that the expression
depends on and no others: so every step is computed on the smallest array that holds it.
Only operations that need several of them together widen it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from linnet.dims.dims import ONE, Dim
from linnet.dtypes import AnyDType, DType
from linnet.ir.builder import Builder
from linnet.ir.core import Value
from linnet.ir.scalar import (
    Access,
    Apply,
    Const,
    DimValue,
    Index,
    Numbers,
    Operand,
    Reduce,
    Scalar,
    children,
)
from linnet.ir.types import Type


@dataclass(frozen=True, slots=True)
class Grid:
    """`value` has an axis for each of `axes`, different index numbers."""

    value: Value
    axes: tuple[int, ...]


class Grids:
    """Emits the grids of the expressions of one `indexed` operation.

    `counting` are the ids of the operands that are `iota`s: an access to one is its index.
    """

    def __init__(
        self,
        builder: Builder,
        operands: Sequence[Value],
        indices: Sequence[Dim],
        counting: frozenset[int],
    ) -> None:
        self._builder = builder
        self._operands = operands
        self._extents = dict(enumerate(indices))
        self._counting = counting
        self._numbers = Numbers()
        self._known: dict[int, Grid] = {}
        self._aligned: dict[tuple[Grid, tuple[int, ...]], Value] = {}

    def of(self, expr: Scalar) -> Grid:
        """The grid of `expr`. Equal expressions are emitted once; deep ones need no deep stack."""
        waiting = [expr]
        while waiting:
            number = self._numbers.of(waiting[-1])
            if number not in self._known:
                parts = [p for p in self._parts(waiting[-1]) if self._unknown(p)]
                if parts:
                    waiting.extend(reversed(parts))
                    continue
                self._known[number] = self._emit(waiting[-1])
            waiting.pop()
        return self._known[self._numbers.of(expr)]

    def _unknown(self, expr: Scalar) -> bool:
        return self._numbers.of(expr) not in self._known

    def _parts(self, expr: Scalar) -> Sequence[Scalar]:
        """The expressions whose grids the grid of `expr` is made of."""
        match expr:
            case Access():
                dims = self._operands[expr.operand].type.shape
                pairs = zip(expr.positions, dims, strict=True)
                return [p for p, extent in pairs if self._looked_up(p, extent)]
            case Reduce():
                self._extents.update(expr.indices)
                return expr.factors
            case Const() | DimValue() | Operand() | Index() | Apply():
                return children(expr)

    def aligned(self, grid: Grid, axes: tuple[int, ...]) -> Value:
        """The grid's array with `axes`, repeated along those that it does not depend on."""
        key = (grid, axes)
        if key not in self._aligned:
            self._aligned[key] = self._align(grid, axes)
        return self._aligned[key]

    def _align(self, grid: Grid, axes: tuple[int, ...]) -> Value:
        have = tuple(a for a in axes if a in grid.axes)
        value, dtype = grid.value, grid.value.type.dtype
        if have != grid.axes:
            attrs = {"axes": tuple(grid.axes.index(a) for a in have)}
            value = self._builder.emit("permute", [value], self._type(dtype, have), attrs)
        if have == axes:
            return value
        attrs = {"axes": tuple(axes.index(a) for a in have)}
        return self._builder.emit("broadcast", [value], self._type(dtype, axes), attrs)

    def _type(self, dtype: AnyDType, axes: Iterable[int]) -> Type:
        return Type(dtype, tuple(self._extents[a] for a in axes) or None)

    def _emit(self, expr: Scalar) -> Grid:
        match expr:
            case Const():
                return Grid(self._builder.constant(expr.value, expr.dtype), ())
            case DimValue():
                return Grid(self._builder.dim(expr.dim, expr.dtype), ())
            case Operand():
                return Grid(self._operands[expr.operand], ())
            case Index():
                type = self._type(expr.dtype, (expr.index,))
                return Grid(self._builder.emit("iota", [], type), (expr.index,))
            case Access():
                outer = self._builder.place
                self._builder.place = expr.place or outer
                grid = self._access(expr)
                self._builder.place = outer
                return grid
            case Apply():
                return self._apply(expr)
            case Reduce():
                return self._reduce(expr)

    def _apply(self, expr: Apply) -> Grid:
        grids = [self.of(a) for a in expr.args]
        axes = union(grids)
        operands = [self.aligned(g, axes) for g in grids]
        return Grid(self._builder.emit(expr.fn, operands, self._type(expr.dtype, axes)), axes)

    # --- accesses ------------------------------------------------------------

    def _access(self, expr: Access) -> Grid:
        base = self._operands[expr.operand]
        static: dict[int, Dim] = {}
        dynamic: dict[int, Value] = {}
        kept: list[int | Grid] = []
        for axis, position in enumerate(expr.positions):
            index = self._walked(position, base.type.shape[axis])
            if index is not None:
                kept.append(index)
            elif isinstance(position, Const | DimValue):
                static[axis] = place(position)
            else:
                grid = self._as_i64(self.of(position))
                if grid.axes:
                    kept.append(grid)
                else:
                    dynamic[axis - len(static)] = grid.value
        base = self._drop(self._cut(base, static), dynamic)
        indices = [k for k in kept if isinstance(k, int)]
        if len(indices) < len(kept) or len(set(indices)) < len(indices):
            return self._gather(base, kept)
        return Grid(base, tuple(indices))

    def _cut(self, base: Value, at: dict[int, Dim]) -> Value:
        """`base` without the axes in `at`, at known places, which are within them."""
        if not at:
            return base
        dims = list(enumerate(base.type.shape))
        attrs = {
            "start": tuple(at.get(a, Dim.of(0)) for a, _ in dims),
            "stop": tuple(at[a] + 1 if a in at else d for a, d in dims),
            "step": (1,) * len(dims),
        }
        one = base.type.with_dims(tuple(ONE if a in at else d for a, d in dims))
        rest = base.type.with_dims(tuple(d for a, d in dims if a not in at) or None)
        return self._builder.emit(
            "reshape", [self._builder.emit("slice", [base], one, attrs)], rest
        )

    def _looked_up(self, position: Scalar, extent: Dim) -> bool:
        known = isinstance(position, Const | DimValue)
        return not known and self._walked(position, extent) is None

    def _walked(self, position: Scalar, extent: Dim) -> int | None:
        """The index that `position` just is, or counts through all of an axis of `extent`."""
        match position:
            case Index():
                return position.index
            case Access(positions=(Index(index=index),)) if (
                position.dtype == DType.I64
                and self._operands[position.operand].id in self._counting
                and self._extents[index] == extent
            ):
                return index
            case _:
                return None

    def _as_i64(self, grid: Grid) -> Grid:
        if grid.value.type.dtype == DType.I64:
            return grid
        type = grid.value.type.with_dtype(DType.I64)
        return Grid(self._builder.emit("cast", [grid.value], type), grid.axes)

    def _drop(self, base: Value, at: dict[int, Value]) -> Value:
        """`base` without the axes in `at`, at runtime places."""
        if not at:
            return base
        dims = tuple(d for a, d in enumerate(base.type.shape) if a not in at)
        type = base.type.with_dims(dims or None)
        return self._builder.emit("index", [base, *at.values()], type, {"axes": tuple(at)})

    def _gather(self, base: Value, kept: Sequence[int | Grid]) -> Grid:
        axes = tuple(sorted({a for k in kept for a in (k.axes if isinstance(k, Grid) else (k,))}))
        tensors: list[Value] = []
        sources: list[tuple[str, int]] = []
        for k in kept:
            if isinstance(k, int):
                sources.append(("axis", axes.index(k)))
            else:
                sources.append(("index", len(tensors)))
                tensors.append(self._spread(k, axes))
        attrs = {"axes": tuple(sources)}
        type = self._type(base.type.dtype, axes)
        return Grid(self._builder.emit("gather", [base, *tensors], type, attrs), axes)

    def _spread(self, grid: Grid, axes: tuple[int, ...]) -> Value:
        """The grid with an extent of 1 at the other axes."""
        value = self.aligned(grid, tuple(a for a in axes if a in grid.axes))
        if len(grid.axes) == len(axes):
            return value
        dims = tuple(self._extents[a] if a in grid.axes else ONE for a in axes)
        return self._builder.emit("reshape", [value], value.type.with_dims(dims))

    # --- reductions ----------------------------------------------------------

    def _reduce(self, expr: Reduce) -> Grid:
        bound = {i for i, _ in expr.indices}
        factors = [self.of(factor) for factor in expr.factors]
        if len(factors) < 2:
            (grid,) = factors
            if not bound.issubset(grid.axes):
                axes = union([grid, tuple(bound)])
                grid = Grid(self.aligned(grid, axes), axes)
            return self._reduced(expr, grid, bound)
        missing = bound.difference(union(factors))
        if missing:
            axes = union([factors[0], tuple(missing)])
            factors[0] = Grid(self.aligned(factors[0], axes), axes)
        output = tuple(sorted({a for f in factors for a in f.axes if a not in bound}))
        attrs = {
            "inputs": tuple(f.axes for f in factors),
            "output": output,
            "accumulator": expr.accumulator,
        }
        values, type = [f.value for f in factors], self._type(expr.dtype, output)
        return Grid(self._builder.emit("contract", values, type, attrs), output)

    def _reduced(self, expr: Reduce, grid: Grid, bound: set[int]) -> Grid:
        left = tuple(a for a in grid.axes if a not in bound)
        places = tuple(k for k, a in enumerate(grid.axes) if a in bound)
        attrs = {"op": expr.op, "axes": places, "accumulator": expr.accumulator}
        type = self._type(expr.dtype, left)
        return Grid(self._builder.emit("reduce", [grid.value], type, attrs), left)


def union(grids: Iterable[Grid | tuple[int, ...]]) -> tuple[int, ...]:
    """Every index of them: in their order if they have the same, else ascending."""
    orders = {g.axes if isinstance(g, Grid) else g for g in grids}
    orders.discard(())
    return orders.pop() if len(orders) == 1 else tuple(sorted({a for o in orders for a in o}))


def place(position: Const | DimValue) -> Dim:
    """The static position as a dimension."""
    return position.dim if isinstance(position, DimValue) else Dim.of(int(position.value))
