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
from linnet.lower.bindings import Bound, sub_count
from linnet.lower.bundle import (
    ENUM_TYPE,
    Absent,
    Bundle,
    Group,
    Leaf,
    MismatchError,
    Some,
    Variant,
    fill,
    fitted,
    leaves,
    loosened,
    map_typed,
)
from linnet.lower.context import BlockRef, Functions
from linnet.lower.exprs import ExprLowerer
from linnet.lower.fail import fail
from linnet.lower.presence import Presence
from linnet.source.files import Span

Loop = TForSubs | TForRange | TWhile


@dataclass(frozen=True, slots=True)
class Carried:
    """The variables that a loop carries, the skeleton of each, and their values before it."""

    locals: tuple[Local, ...]
    shapes: tuple[Bundle, ...]
    values: tuple[Value, ...]


class FunctionLowerer(ExprLowerer):
    """Lowers one function for one binding of its generics."""

    def __init__(
        self, functions: Functions, function: TFunction, scope: Bound, presence: Presence
    ) -> None:
        super().__init__(functions, function, scope, presence)
        self._loops: list[str] = []

    def params(self, function: TFunction, args: Sequence[Bundle]) -> tuple[Bundle, ...]:
        """Declare the parameters, shaped as `args`."""
        made: list[Bundle] = []
        for param, arg in zip(function.params, args, strict=True):
            bundle = self._param(arg, param.local.name)
            self.env[param.local] = bundle
            made.append(bundle)
        return tuple(made)

    def _param(self, arg: Bundle, hint: str) -> Bundle:
        match arg:
            case Value():
                return self.out.param(arg.type, hint)
            case Group(items):
                return Group(tuple(self._param(x, f"{hint}_{i}") for i, x in enumerate(items)))
            case Some(inner):
                return Some(self._param(inner, hint))
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
                value = self.expr(stmt.value)
                if isinstance(value, Value):
                    value = self.out.hint(value, stmt.local.name)
                self.env[stmt.local] = value
            case TLetTuple():
                group = self.expr(stmt.value)
                assert isinstance(group, Group)
                for local, item in zip(stmt.locals, group.items, strict=True):
                    named = self.out.hint(item, local.name) if isinstance(item, Value) else item
                    self.env[local] = named
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

    def _assign(self, stmt: TAssign) -> None:
        value = self.expr(stmt.value)
        if isinstance(stmt.target, Local):
            if isinstance(value, Value):
                value = self.out.hint(value, stmt.target.name)
            self.env[stmt.target] = value
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
        while var in self._loops:
            var += "_"
        attrs = {"array": (sub.name,), "count": sub_count(sub, self.scope), "var": var}
        carried = self._carry(stmt)
        self.out.open()
        self.blocks[stmt.variable] = BlockRef((sub.name, f"${var}"), sub)
        self._loops.append(var)
        region = self._iteration(stmt, carried)
        self._loops.pop()
        self._finish("each", carried, attrs, [region])

    def _loop(self, stmt: TForRange) -> None:
        attrs = {"start": self.integer(stmt.start), "stop": self.integer(stmt.stop)}
        carried = self._carry(stmt)
        self.out.open()
        self.env[stmt.variable] = self.out.param(I64, stmt.variable.name)
        region = self._iteration(stmt, carried)
        self._finish("loop", carried, attrs, [region])

    def _while(self, stmt: TWhile) -> None:
        carried = self._carry(stmt)
        self.out.open()
        self._enter(carried)
        condition = self.out.close_with([self.value(stmt.condition)])
        self.out.open()
        region = self._iteration(stmt, carried)
        self._finish("while", carried, {}, [condition, region])

    def _carry(self, stmt: Loop) -> Carried:
        """What a loop carries: the `var`s from outside that its body assigns."""
        locals_ = tuple(v for v in assigned(stmt.body) if v in self.env)
        shapes: list[Bundle] = []
        values: list[Value] = []
        for local in locals_:
            bundle = self.coerced(self.env[local], local.type, stmt.span)
            shapes.append(loosened(bundle))
            values += fitted(bundle, shapes[-1], self.enum_number)
        return Carried(locals_, tuple(shapes), tuple(values))

    def _enter(self, carried: Carried) -> None:
        """Declare the carried values as parameters of the region just opened."""
        for local, shape in zip(carried.locals, carried.shapes, strict=True):
            self.env[local] = self._param(shape, local.name)

    def _iteration(self, stmt: Loop, carried: Carried) -> Region:
        self._enter(carried)
        self.block_of(stmt.body)
        self.out.place = stmt.span
        yields: list[Value] = []
        for local, shape in zip(carried.locals, carried.shapes, strict=True):
            bundle = self.coerced(self.env[local], local.type, stmt.span)
            try:
                yields += fitted(bundle, shape, self.enum_number)
            except MismatchError:
                fail(
                    "E2190",
                    f"`{local.name}` holds an optional that a loop makes be there or not",
                    stmt.span,
                    label="assigned in this loop",
                )
        return self.out.close_with(yields)

    def _finish(
        self, name: str, carried: Carried, attrs: Mapping[str, object], regions: list[Region]
    ) -> None:
        types = [v.type for v in carried.values]
        shapes = zip(carried.locals, carried.shapes, strict=True)
        hints = [local.name for local, shape in shapes for _ in leaves(shape)]
        results = iter(self.out.emit(name, carried.values, types, attrs, regions, hints))
        for local, shape in zip(carried.locals, carried.shapes, strict=True):
            self.env[local] = fill(shape, results)
