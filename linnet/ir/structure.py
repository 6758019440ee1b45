"""The rules of the rows that hold or call other operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from linnet.dtypes import DType
from linnet.ir.core import Operation, Region, Value
from linnet.ir.rules import Context, expect, is_scalar
from linnet.ir.types import BOOL, I64, Type


def call(op: Operation, context: Context) -> Iterator[str]:
    callee = context.functions.get(op.attrs["callee"])
    if callee is None:
        yield f"there is no function {op.attrs['callee']!r}"
        return
    names = dict(op.attrs.get("generics", ()))
    wanted = [p.type.under(names) for p in callee.params]
    yield from _match(op.operands, wanted, context, f"arguments of {callee.name}")
    given = [r.type.under(names) for r in callee.results]
    yield from _match(op.results, given, context, "results")


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
