"""What has to hold of the scalar expression of an `indexed` operation."""

from __future__ import annotations

from collections.abc import Iterator

from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.core import Operation, Value
from linnet.ir.rules import Context, constant, dim, expect, kept, reducible, within
from linnet.ir.scalar import (
    Access,
    Apply,
    Const,
    DimValue,
    Index,
    Operand,
    Reduce,
    Scalar,
    children,
    walk,
)
from linnet.ir.types import Type

Scope = dict[int, Dim]
"""The extents of the indices that an expression may use."""


def indexed(op: Operation, context: Context) -> Iterator[str]:
    """The rule of the row `indexed`."""
    expr: Scalar = op.attrs["expr"]
    extents: tuple[Dim, ...] = op.attrs["indices"]
    yield from _check(expr, op, context, dict(enumerate(extents)))
    yield from _one_extent(expr, context)
    yield from expect(op, context, [Type(expr.dtype, tuple(extents) or None)])


def dims_of(expr: Scalar) -> Iterator[Dim]:
    """The dimensions that occur in an expression."""
    for e in walk(expr):
        if isinstance(e, DimValue):
            yield e.dim
        elif isinstance(e, Reduce):
            yield from (extent for _, extent in e.indices)


def _check(expr: Scalar, op: Operation, context: Context, scope: Scope) -> Iterator[str]:
    """Everything wrong in `expr`, whose outermost indices are `scope`."""
    seen: set[tuple[int, frozenset[int]]] = set()
    waiting = [(expr, scope)]
    while waiting:
        found, scope = waiting.pop()
        if (id(found), frozenset(scope)) in seen:
            continue
        seen.add((id(found), frozenset(scope)))
        yield from _node(found, op, context, scope)
        if isinstance(found, Reduce):
            scope = scope | dict(found.indices)
        waiting.extend((child, scope) for child in reversed(children(found)))


def _node(expr: Scalar, op: Operation, context: Context, scope: Scope) -> Iterator[str]:
    match expr:
        case Const():
            yield from constant(_operation("constant", expr, {"value": expr.value}), context)
        case DimValue():
            yield from dim(_operation("dim", expr, {"dim": expr.dim}), context)
        case Index():
            if expr.index not in scope:
                yield f"index {expr.index} is not bound here"
            if not within(expr.dtype, "Numeric"):
                yield f"index {expr.index} is no {expr.dtype}"
        case Operand():
            yield from _operand(expr, op)
        case Access():
            yield from _access(expr, op, context, scope)
        case Apply():
            yield from _apply(expr, context)
        case Reduce():
            yield from _reduce(expr, scope)


def _one_extent(expr: Scalar, context: Context) -> Iterator[str]:
    """An expression may occur twice and so bind an index twice, but always to one extent."""
    known: Scope = {}
    for e in walk(expr):
        for index, extent in e.indices if isinstance(e, Reduce) else ():
            if not context.equal(known.setdefault(index, extent), extent):
                yield f"index {index} has extents {known[index]} and {extent}"


def _operand(expr: Operand | Access, op: Operation) -> Iterator[str]:
    if not 0 <= expr.operand < len(op.operands):
        yield f"there is no operand {expr.operand}"
        return
    type = op.operands[expr.operand].type
    if type.dtype != expr.dtype:
        yield f"operand {expr.operand} is {type.dtype}, read as {expr.dtype}"
    if isinstance(expr, Operand) and type.shape:
        yield f"operand {expr.operand} is {type}, no scalar"


def _access(expr: Access, op: Operation, context: Context, scope: Scope) -> Iterator[str]:
    yield from _operand(expr, op)
    if not 0 <= expr.operand < len(op.operands):
        return
    dims = op.operands[expr.operand].type.shape
    if len(dims) != len(expr.positions):
        yield f"{len(expr.positions)} positions in {len(dims)} axes of operand {expr.operand}"
        return
    for extent, position in zip(dims, expr.positions, strict=True):
        if not within(position.dtype, "Integer"):
            yield f"a position is {position.dtype}, no integer"
        if isinstance(position, Index) and position.dtype != DType.I64:
            yield f"index {position.index} is a position as {position.dtype}, not i64"
        if isinstance(position, Index) and position.index in scope:
            walked = scope[position.index]
            if not context.equal(extent, walked):
                yield f"index {position.index} of extent {walked} walks an axis of {extent}"
        elif isinstance(position, Const) and outside(position.value, extent.as_int()):
            yield f"position {position.value} is not within an axis of {extent}"


def outside(position: int | bool | str, extent: int | None) -> bool:
    """Whether an integer is no place of an axis, as far as its extent is known."""
    if not isinstance(position, int):
        return False
    return position < 0 or (extent is not None and position >= extent)


def _apply(expr: Apply, context: Context) -> Iterator[str]:
    found = context.elementwise.get(expr.fn)
    if found is None:
        yield f"there is no elementwise {expr.fn!r}"
        return
    arity, check = found
    if len(expr.args) != arity:
        yield f"{expr.fn} takes {arity} operands, not {len(expr.args)}"
        return
    operands = tuple(Value(i, Type(a.dtype)) for i, a in enumerate(expr.args))
    for problem in check(Operation(expr.fn, operands, (_result(expr),)), context):
        yield f"{expr.fn} {problem}"


def _reduce(expr: Reduce, scope: Scope) -> Iterator[str]:
    numbers = [index for index, _ in expr.indices]
    for k, index in enumerate(numbers):
        if index in scope or index in numbers[:k]:
            yield f"index {index} is bound already"
    if len(expr.factors) != 1 and (expr.op != "sum" or not expr.factors):
        yield f"{expr.op} of {len(expr.factors)} factors"
    for dtype in dict.fromkeys(f.dtype for f in expr.factors):
        yield from reducible(expr.op, dtype)
        if dtype != expr.dtype:
            yield f"{expr.op} of {dtype} is no {expr.dtype}"
    for problem in kept(expr.dtype, expr.accumulator):
        yield f"{expr.op} of {problem}"
    if not expr.indices:
        yield f"{expr.op} binds no index"


def _result(expr: Scalar) -> Value:
    return Value(-1, Type(expr.dtype))


def _operation(name: str, expr: Scalar, attrs: dict[str, object]) -> Operation:
    return Operation(name, (), (_result(expr),), attrs)
