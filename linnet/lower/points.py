"""Index notation that has no scalar form: its points one by one.

    let y[i, j] = f(a[i], b[j])
becomes
    for i { for j { y = y with f(a[i], b[j]) at (i, j) } }

and the notation around it reads that tensor. At one point everything is an expression like any
other. What depends on no index is evaluated before, as everywhere in index notation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from linnet.check.typed import (
    IndexVar,
    Local,
    TBinary,
    TCall,
    TConst,
    TDim,
    TExpr,
    TIf,
    TIndexed,
    TLocal,
    TMatchEnum,
    TMatchOptional,
    TMember,
    TNone,
    TReduce,
    TVariant,
)
from linnet.check.walk import children
from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.batch import batched
from linnet.ir.batch_rules import NotBatchedError
from linnet.ir.core import Value
from linnet.ir.scalar import Access, Index, Operand, Scalar
from linnet.ir.types import BOOL, I64, Type
from linnet.lower.context import Context
from linnet.lower.scalars import bound_in, indices_of, operands_of, renumbered

Point = Callable[[Sequence[Value]], Value]
"""What is lowered at one position."""
_PLAIN = TConst | TDim | TLocal | TMember | TNone | TVariant


class Notation(Protocol):
    """The `indexed` operation in the making."""

    at: Context
    operands: list[Value]
    extents: list[Dim]
    numbers: dict[IndexVar, tuple[int, ...]]
    locals: dict[Local, Scalar]
    guard: Scalar | None

    def operand(self, value: Value) -> int: ...
    def fixed(self, expr: TExpr) -> bool: ...


def one_by_one(notation: Notation, expr: TExpr) -> Scalar:
    """An expression of scalar type that has no scalar form, or must not be evaluated at every
    point."""
    at, guard = notation.at, notation.guard
    if guard is not None and not at.functions.faults.of(expr):
        guard = None
    used = at.functions.uses.of(expr)
    locals_ = [u for u in used if isinstance(u, Local) and u in notation.locals]
    indices = {n for u in used if isinstance(u, IndexVar) for n in notation.numbers.get(u, ())}
    for local in locals_:
        indices |= indices_of(notation.locals[local])
    if guard is not None and not indices:
        return _once(notation, guard, expr)
    if guard is not None:
        indices |= indices_of(guard)
    outer = dict(at.ready)
    _prepare(notation, expr, guard is not None)
    read = {local: _grid(notation, notation.locals[local]) for local in locals_}
    when = None if guard is None else _grid(notation, guard)
    axes = tuple(sorted(indices))

    def point(where: Sequence[Value]) -> Value:
        place = dict(zip(axes, where, strict=True))
        before, points = dict(at.env), dict(at.points)
        at.env.update((local, _at(at, grid, place)) for local, grid in read.items())
        for var, numbers in notation.numbers.items():
            if all(n in place for n in numbers):
                at.points[var] = tuple(place[n] for n in numbers)
        if when is None:
            value = at.value(expr)
        else:
            value = _under(at, _at(at, when, place), expr)
        at.env, at.points = before, points
        return value

    extents = [notation.extents[a] for a in axes]
    made = _over(at, extents, point, at.type(expr.type, expr.span), _writes(at, expr))
    at.ready = outer
    return _read(notation, made, axes)


def _once(notation: Notation, guard: Scalar, expr: TExpr) -> Scalar:
    """What depends on no index, evaluated once if it counts at any point."""
    at = notation.at
    return _read(notation, _under(at, anywhere(notation, guard), expr), ())


def _under(at: Context, condition: Value, expr: TExpr) -> Value:
    type_ = at.type(expr.type, expr.span)
    value = at.branch(condition, lambda: at.value(expr), lambda: at.out.zeros(type_))
    assert isinstance(value, Value)
    return value


def _writes(at: Context, expr: TExpr) -> bool:
    waiting = [expr]
    while waiting:
        found = waiting.pop()
        if isinstance(found, TCall) and at.functions.writes.of(found.callee):
            return True
        waiting.extend(children(found))
    return False


def _over(at: Context, extents: Sequence[Dim], point: Point, type_: Type, in_order: bool) -> Value:
    """The tensor over `extents` of what `point` gives at each position: all at once where there
    are only scalars at a point, else a row at once, else one by one."""
    tries = [(len(extents), True)] if len(extents) > 1 else []
    for together, small in () if in_order or not extents else (*tries, (1, False)):
        mark = at.out.mark()
        outer = dict(at.env), dict(at.points)
        try:
            return _loops(at, extents, point, type_, together, small)
        except NotBatchedError:
            at.out.reset(mark)
            at.env, at.points = outer
    return _loops(at, extents, point, type_, 0, False)


def _together(
    at: Context,
    where: Sequence[Value],
    extents: Sequence[Dim],
    point: Point,
    type_: Type,
    small: bool,
) -> Value:
    """What `point` gives at all positions over `extents` behind `where`."""
    at.out.open()
    here = [at.out.param(I64) for _ in extents]
    region = at.out.close_with([at.out.coerce(point((*where, *here)), type_)])
    return batched(region, extents, at.out.builder, at.functions, small)


def _loops(
    at: Context,
    extents: Sequence[Dim],
    point: Point,
    type_: Type,
    together: int,
    small: bool,
) -> Value:
    """The tensor over `extents`, the last of them innermost; the last `together` at once."""

    def inner(where: tuple[Value, ...]) -> Value:
        rest = tuple(extents[len(where) :])
        if not rest:
            return at.out.coerce(point(where), type_)
        if len(rest) == together:
            return _together(at, where, rest, point, type_, small)
        whole = type_.with_dims(rest)
        start = at.out.zeros(whole)
        at.out.open()
        here = at.out.param(I64)
        so_far = at.out.param(whole)
        row = at.out.broadcast(inner((*where, here)), rest)
        counted = at.out.one("iota", [], Type(DType.I64, rest[:1]))
        same = [counted, at.out.one("fill", [here], counted.type)]
        chosen = at.out.one("eq", same, counted.type.with_dtype(DType.BOOL))
        if len(rest) > 1:
            spread = chosen.type.with_dims(rest)
            chosen = at.out.one("broadcast", [chosen], spread, axes=(0,))
        region = at.out.close_with([at.out.one("select", [chosen, row, so_far], whole)])
        attrs = {"start": Dim.of(0), "stop": extents[len(where)]}
        return at.out.emit("loop", [start], [whole], attrs, [region])[0]

    return inner(())


def writes_at_points(notation: Notation, expr: TExpr) -> bool:
    """Whether a state is changed by what is evaluated at every point of `expr`."""
    at = notation.at
    waiting: list[tuple[TExpr, frozenset[Local | IndexVar]]] = [(expr, frozenset())]
    while waiting:
        found, own = waiting.pop()
        if notation.fixed(found) and not at.functions.uses.of(found) & own:
            continue
        if isinstance(found, TCall) and at.functions.writes.of(found.callee):
            return True
        own = own | bound_by(found)
        waiting += [(e, own) for e in children(found)]
    return False


def where(notation: Notation, guard: Scalar, read: Scalar) -> Scalar:
    """`read`, which only counts where `guard` holds. It is within its tensor at every point if
    the guard holds at any, else the tensor may be empty."""
    at, axes = notation.at, tuple(sorted(indices_of(read)))
    type_ = Type(read.dtype, tuple(notation.extents[a] for a in axes) or None)
    value = at.branch(
        anywhere(notation, guard),
        lambda: grid(notation, read, axes),
        lambda: at.out.zeros(type_),
    )
    assert isinstance(value, Value)
    return _read(notation, value, axes)


# --- what the loops read


def grid(notation: Notation, scalar: Scalar, axes: tuple[int, ...]) -> Value:
    """The tensor of `scalar` over `axes`, all that it depends on among them."""
    operands = operands_of(scalar)
    order = [*axes, *bound_in(scalar)]
    expr = renumbered(
        scalar,
        {index: number for number, index in enumerate(order)},
        {operand: number for number, operand in enumerate(operands)},
    )
    extents = tuple(notation.extents[a] for a in axes)
    values = [notation.operands[o] for o in operands]
    type_ = Type(scalar.dtype, extents or None)
    return notation.at.out.one("indexed", values, type_, indices=extents, expr=expr)


def anywhere(notation: Notation, condition: Scalar) -> Value:
    """Whether `condition` holds at any point."""
    at, (value, axes) = notation.at, _grid(notation, condition)
    if not axes:
        return value
    places = tuple(range(len(axes)))
    return at.out.one("reduce", [value], BOOL, op="any", axes=places, accumulator=DType.BOOL)


def _grid(notation: Notation, scalar: Scalar) -> tuple[Value, tuple[int, ...]]:
    if isinstance(scalar, Operand):
        return notation.operands[scalar.operand], ()
    axes = tuple(sorted(indices_of(scalar)))
    return grid(notation, scalar, axes), axes


def materialised(notation: Notation, scalar: Scalar) -> Scalar:
    """`scalar` as an element of a tensor that is computed before."""
    return _read(notation, *_grid(notation, scalar))


def _read(notation: Notation, value: Value, axes: tuple[int, ...]) -> Scalar:
    number = notation.operand(value)
    if not axes:
        return Operand(number, value.type.dtype)
    return Access(number, tuple(Index(a, DType.I64) for a in axes), value.type.dtype)


def _at(at: Context, grid: tuple[Value, tuple[int, ...]], place: dict[int, Value]) -> Value:
    value, axes = grid
    if not axes:
        return value
    positions = [place[a] for a in axes]
    scalar = Type(value.type.dtype)
    return at.out.one("index", [value, *positions], scalar, axes=tuple(range(len(axes))))


# --- what is evaluated before them


def _prepare(notation: Notation, expr: TExpr, guarded: bool) -> None:
    """Evaluate what in `expr` depends on no index. Where it might not count it must be such that
    nobody notices."""
    waiting: list[tuple[TExpr, bool, frozenset[Local | IndexVar]]] = [(expr, guarded, frozenset())]
    while waiting:
        found, maybe, own = waiting.pop()
        if isinstance(found, _PLAIN) or id(found) in notation.at.ready:
            continue
        free = notation.fixed(found) and not notation.at.functions.uses.of(found) & own
        if free and not (maybe and notation.at.functions.faults.of(found)):
            notation.at.ready[id(found)] = notation.at.expr(found)
            continue
        inner = sorted(children(found), key=lambda e: e.span.start, reverse=True)
        maybe = maybe or isinstance(found, TIndexed | TReduce)  # there may be no points
        own = own | bound_by(found)
        waiting += [(e, maybe, own) for e in inner if not _conditional(found, e)]


def bound_by(expr: TExpr) -> frozenset[Local | IndexVar]:
    """The locals and indices that `expr` itself brings."""
    match expr:
        case TMatchOptional():
            return frozenset([expr.local])
        case TIndexed() | TReduce():
            return frozenset(expr.indices)
        case _:
            return frozenset()


def _conditional(expr: TExpr, part: TExpr) -> bool:
    """Whether `part` is evaluated only in some cases in which `expr` is."""
    match expr:
        case TIf():
            return part is not expr.condition
        case TMatchOptional() | TMatchEnum():
            return part is not expr.subject
        case TBinary():
            return expr.op in ("&&", "||") and part is expr.right
        case _:
            return False
