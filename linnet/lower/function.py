"""Lowering the statements of a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linnet.check.typed import (
    Local,
    TAssign,
    TForRange,
    TForSubs,
    TFunction,
    TLet,
    TLetTuple,
    TReturn,
    TStmt,
    TWhile,
)
from linnet.check.types import EnumType
from linnet.check.types import Type as CheckType
from linnet.check.walk import assigned
from linnet.dims.dims import DimError
from linnet.ir.core import Region, Value
from linnet.ir.types import I64
from linnet.lower.bindings import sub_count
from linnet.lower.bundle import (
    ENUM_TYPE,
    Absent,
    Bundle,
    Group,
    Leaf,
    Maybe,
    Some,
    Variant,
    fill,
    fitted,
    inner_type,
    leaves,
    loosened,
    map_typed,
    mapped,
    merged,
    part_names,
    part_types,
    value_names,
)
from linnet.lower.context import BlockRef
from linnet.lower.exprs import ExprLowerer
from linnet.lower.fail import fail
from linnet.source.files import Span

Loop = TForSubs | TForRange | TWhile


@dataclass(slots=True)
class Carried:
    """The variables that a loop carries, what they are before it, and the skeleton of each, which
    what they are after its body may loosen."""

    locals: tuple[Local, ...]
    before: tuple[Bundle, ...]
    shapes: tuple[Bundle, ...]


class FunctionLowerer(ExprLowerer):
    """Lowers one function for one binding of its generics."""

    def params(self, function: TFunction, args: Sequence[Bundle]) -> tuple[Bundle, ...]:
        """Declare the parameters, shaped as `args`."""
        made: list[Bundle] = []
        for param, arg in zip(function.params, args, strict=True):
            bundle = self._param(arg, param.local.name, param.local.type)
            self.env[param.local] = bundle
            made.append(bundle)
        return tuple(made)

    def _param(self, arg: Bundle, hint: str, type_: CheckType) -> Bundle:
        match arg:
            case Value():
                return self.out.param(arg.type, hint)
            case Group(items):
                parts = zip(part_names(type_), items, part_types(type_), strict=True)
                return Group(tuple(self._param(x, f"{hint}_{name}", of) for name, x, of in parts))
            case Some(inner):
                return Some(self._param(inner, hint, inner_type(type_)))
            case Maybe(there, inner):
                flag = self.out.param(there.type, f"{hint}_there")
                return Maybe(flag, self._param(inner, hint, inner_type(type_)))
            case Absent() | Variant():
                return arg

    def typed(self, arg: Bundle, type_: CheckType, span: Span) -> Bundle:
        """The skeleton `arg` with the types that the declaration gives its values."""

        def leaf(x: Leaf, of: CheckType) -> Leaf:
            if isinstance(x, Variant):
                return x
            return Value(0, ENUM_TYPE if isinstance(of, EnumType) else self.type(of, span))

        return map_typed(arg, type_, leaf)

    def body(self, function: TFunction) -> Bundle:
        """Lower the statements; the last returns."""
        self.block_of(function.body[:-1])
        last = function.body[-1]
        assert isinstance(last, TReturn), function.key
        result = self.expr(last.value)
        self.out.place = last.span
        return self.coerced(result, function.result, last.span)

    def block_of(self, body: Sequence[TStmt]) -> None:
        """Lower statements in order."""
        for stmt in body:
            self.out.place = stmt.span
            try:
                self._stmt(stmt)
            except DimError as error:
                fail("E2205", str(error), stmt.span, label="with these generics")

    def _stmt(self, stmt: TStmt) -> None:
        match stmt:
            case TLet():
                self.env[stmt.local] = self._hinted(self.expr(stmt.value), stmt.local)
            case TLetTuple():
                group = self.expr(stmt.value)
                assert isinstance(group, Group)
                for local, item in zip(stmt.locals, group.items, strict=True):
                    self.env[local] = self._hinted(item, local)
            case TAssign():
                self._assign(stmt)
            case TForSubs():
                self._each(stmt)
            case TForRange():
                self._loop(stmt)
            case TWhile():
                self._while(stmt)
            case TReturn():
                raise AssertionError("a return that is not last")

    def _hinted(self, bundle: Bundle, local: Local) -> Bundle:
        """What a variable is, its values under its name for people."""
        names = iter(value_names(bundle, local.type, local.name))

        def leaf(x: Leaf) -> Leaf:
            return self.out.hint(x, next(names)) if isinstance(x, Value) else x

        return mapped(bundle, leaf)

    def _assign(self, stmt: TAssign) -> None:
        value = self.expr(stmt.value)
        if isinstance(stmt.target, Local):
            self.env[stmt.target] = self._hinted(value, stmt.target)
            return
        assert self.block is not None and isinstance(value, Value)
        state = self.block.members[stmt.target]
        value = self.out.coerce(value, self.type(state.type, stmt.span))
        self.out.emit("state_write", [value], [], {"path": (stmt.target,)})

    # --- loops

    def _each(self, stmt: TForSubs) -> None:
        assert self.block is not None
        sub = self.block.subs[stmt.member]
        var = stmt.variable.name
        while var in self.loops:
            var += "_"
        attrs = {"array": (sub.name,), "count": sub_count(sub, self.scope), "var": var}
        self.blocks[stmt.variable] = BlockRef((sub.name, f"${var}"), sub)
        self.loops.append(var)
        self._repeat("each", stmt, attrs)
        self.loops.pop()

    def _loop(self, stmt: TForRange) -> None:
        attrs = {"start": self.integer(stmt.start), "stop": self.integer(stmt.stop)}
        self._repeat("loop", stmt, attrs)

    def _while(self, stmt: TWhile) -> None:
        self._repeat("while", stmt, {})

    def _repeat(self, name: str, stmt: Loop, attrs: Mapping[str, object]) -> None:
        """Carries the `var`s from outside that the body assigns. The body is lowered again for as
        long as it loosens what they are."""
        locals_ = tuple(v for v in assigned(stmt.body) if v in self.env)
        before = tuple(self.coerced(self.env[v], v.type, stmt.span) for v in locals_)
        shapes = tuple(map(loosened, before))
        regions = None
        while regions is None:
            carried = Carried(locals_, before, shapes)
            regions, shapes = self._regions(stmt, carried), carried.shapes
        self._finish(name, Carried(locals_, before, shapes), attrs, regions)

    def _regions(self, stmt: Loop, carried: Carried) -> list[Region] | None:
        """The regions of a loop; None if they ask for looser skeletons."""
        conditions: list[Region] = []
        if isinstance(stmt, TWhile):
            self.out.open()
            self._enter(carried)
            conditions.append(self.out.close_with([self.value(stmt.condition)]))
        self.out.open()
        if isinstance(stmt, TForRange):
            self.env[stmt.variable] = self.out.param(I64, stmt.variable.name)
        region = self._iteration(stmt, carried)
        return None if region is None else [*conditions, region]

    def _enter(self, carried: Carried) -> None:
        """Declare the carried values as parameters of the region just opened."""
        for local, shape in zip(carried.locals, carried.shapes, strict=True):
            self.env[local] = self._param(shape, local.name, local.type)

    def _iteration(self, stmt: Loop, carried: Carried) -> Region | None:
        self._enter(carried)
        self.block_of(stmt.body)
        self.out.place = stmt.span
        after = [self.coerced(self.env[v], v.type, stmt.span) for v in carried.locals]
        pairs = list(zip(carried.shapes, after, strict=True))
        shapes = tuple(loosened(merged(shape, bundle)) for shape, bundle in pairs)
        if shapes != carried.shapes:
            carried.shapes = shapes
            self.out.close()
            return None
        return self.out.close_with([v for s, b in pairs for v in fitted(b, s, self.out)])

    def _finish(
        self, name: str, carried: Carried, attrs: Mapping[str, object], regions: list[Region]
    ) -> None:
        hints = [
            v.name for v, s in zip(carried.locals, carried.shapes, strict=True) for _ in leaves(s)
        ]
        pairs = zip(carried.before, carried.shapes, strict=True)
        values = [v for b, s in pairs for v in fitted(b, s, self.out)]
        types = [v.type for v in values]
        results = iter(self.out.emit(name, values, types, attrs, regions, hints))
        for local, shape in zip(carried.locals, carried.shapes, strict=True):
            self.env[local] = fill(shape, results)
