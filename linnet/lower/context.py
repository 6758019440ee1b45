"""What lowering knows while it is inside one function."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from linnet.check.substitute import in_dim, in_dtype, in_type
from linnet.check.typed import (
    IndexVar,
    Local,
    Program,
    TBinary,
    TConst,
    TDim,
    TExpr,
    TFunction,
    TSub,
    TUnary,
)
from linnet.check.types import ScalarType, TensorType
from linnet.check.types import Type as CheckType
from linnet.check.walk import Faults, Uses
from linnet.dims.dims import Dim, DimError, Symbol
from linnet.dims.prover import Facts, Relation
from linnet.dtypes import AnyDType, DType
from linnet.ir.core import Function, Value
from linnet.ir.types import Type
from linnet.lower.bindings import Bound, check_extent, extent_under
from linnet.lower.bundle import Bundle
from linnet.lower.emit import Emitter
from linnet.lower.fail import fail
from linnet.lower.presence import Presence
from linnet.lower.writes import Writes
from linnet.source.files import Span

Numbers = Mapping[Symbol, Dim]

_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Lowered:
    """A function of the module: its name, the skeletons of its parameters and results, and what
    the symbols that it has for its generics stand for at the call."""

    name: str
    params: tuple[Bundle, ...]
    result: Bundle
    generics: tuple[tuple[Symbol, Dim], ...] = ()


@dataclass(frozen=True, slots=True)
class BlockRef:
    """A sub block: where it is, seen from this block, and its declaration."""

    at: tuple[str, ...]
    sub: TSub


@dataclass(frozen=True, slots=True)
class Call:
    """What a function is called with: the generics of it and of its block, which optional members
    that block has, the skeletons of its arguments; and, where functions have symbols of their own
    for their generics, what those of the caller stand for."""

    function: TFunction
    scope: Bound
    presence: Presence
    args: tuple[Bundle, ...]
    numbers: Numbers


class Functions(Protocol):
    """The functions of the module being built."""

    @property
    def program(self) -> Program: ...

    @property
    def uses(self) -> Uses: ...

    @property
    def faults(self) -> Faults: ...

    @property
    def writes(self) -> Writes: ...

    def lowered(self, call: Call) -> Lowered:
        """The lowering of a function for what it is called with."""
        ...

    def function(self, name: str) -> Function:
        """What is in the module under the name of a `Lowered`."""
        ...


Thunk = Callable[[], Bundle]


class Context(ABC):
    """The state of lowering one function, and the small questions it answers.

    `scope` is what generics are written as, `numbers` what the symbols in that stand for.
    """

    def __init__(
        self,
        functions: Functions,
        function: TFunction,
        scope: Bound,
        presence: Presence,
        numbers: Numbers,
    ) -> None:
        key = function.block
        block = None if key is None else functions.program.blocks[key]
        self.facts = Facts((*(block.facts if block else ()), *function.facts))
        self.functions = functions
        self.program = functions.program
        self.block = block
        self.scope = scope
        self.numbers = numbers
        self.presence = presence
        self.out = Emitter()
        self.env: dict[Local, Bundle] = {}
        self.blocks: dict[Local, BlockRef] = {}
        self.members: dict[str, Value] = {}
        # The variables of the loops over blocks that are open.
        self.loops: list[str] = []
        # Of the point of index notation that is being lowered, where points are lowered one by
        # one: the values of its indices, and by `id` what no index decides about.
        self.points: dict[IndexVar, tuple[Value, ...]] = {}
        self.ready: dict[int, Bundle] = {}

    @abstractmethod
    def expr(self, expr: TExpr) -> Bundle:
        """Lower any expression."""

    @abstractmethod
    def branch(self, condition: Value, then: Thunk, otherwise: Thunk) -> Bundle:
        """An `if` operation whose regions give what `then` and `otherwise` lower."""

    def value(self, expr: TExpr) -> Value:
        """Lower an expression of scalar or tensor type."""
        result = self.expr(expr)
        assert isinstance(result, Value), result
        return result

    @contextmanager
    def within(self, scope: Bound, facts: Facts | None = None) -> Generator[None]:
        """Look at expressions of another item, whose generics `scope` binds, and of which `facts`
        are known."""
        outer = self.scope, self.facts
        self.scope, self.facts = scope, facts or self.facts
        try:
            yield
        finally:
            self.scope, self.facts = outer

    def type(self, type_: CheckType, span: Span) -> Type:
        """The IR type of a scalar or tensor type here."""
        try:
            bound = in_type(type_, self.scope)
        except DimError as error:
            fail("E2205", str(error), span, label="with these generics")
        if isinstance(bound, ScalarType):
            return Type(bound.dtype)
        assert isinstance(bound, TensorType), bound
        dims = tuple(d for d in bound.dims if isinstance(d, Dim))
        assert len(dims) == len(bound.dims), bound
        for dim in dims:
            check_extent(dim.substitute(self.numbers), span)
        return Type(bound.dtype, dims)

    def dtype(self, dtype: AnyDType) -> AnyDType:
        """`dtype` here."""
        return in_dtype(dtype, self.scope)

    def extent(self, dim: Dim, span: Span) -> Dim:
        """A dimension here."""
        extent = extent_under(dim, self.scope, span)
        check_extent(extent.substitute(self.numbers), span)
        return extent

    def integer(self, dim: Dim) -> Dim:
        """A compile-time integer here, which may be negative."""
        return in_dim(dim, self.scope)

    def value_of(self, dim: Dim) -> int | None:
        """The number that a compile-time integer is here, if it is known."""
        return self.integer(dim).substitute(self.numbers).as_int()

    def not_empty(self, extent: Dim) -> bool:
        """Whether an extent, as it is written, is provably more than 0 here."""
        number = self.value_of(extent)
        if number is not None:
            return number > 0
        return self.facts.implies(Relation(">", extent, Dim.of(0)))

    def pack(self, symbol: Symbol) -> tuple[Dim, ...]:
        """The extents of a pack here."""
        bound = self.scope.get(symbol)
        assert isinstance(bound, tuple), symbol
        return tuple(d for d in bound if isinstance(d, Dim))

    def width(self, element: Dim | Symbol) -> int:
        """How many axes an element of a shape is here."""
        return 1 if isinstance(element, Dim) else len(self.pack(element))

    def axes(self, type_: CheckType, elements: tuple[int, ...]) -> tuple[int, ...]:
        """Elements of a tensor's shape as the numbers of its axes here, a pack all of its own."""
        assert isinstance(type_, TensorType), type_
        starts = [0]
        for element in type_.dims:
            starts.append(starts[-1] + self.width(element))
        return tuple(a for e in elements for a in range(starts[e], starts[e + 1]))

    def known(self, condition: TExpr) -> bool | None:
        """What a condition is, if literals and dimensions decide it."""
        match condition:
            case TConst(bool() as value):
                return value
            case TUnary("!"):
                inner = self.known(condition.operand)
                return None if inner is None else not inner
            case TBinary("&&" | "||"):
                sides = self.known(condition.left), self.known(condition.right)
                decisive = condition.op == "||"
                if sides[0] is decisive:
                    return decisive
                return sides[1] if sides[0] is not None else None
            case TBinary(op) if op in _COMPARE:
                left, right = self._known_int(condition.left), self._known_int(condition.right)
                return None if left is None or right is None else _COMPARE[op](left, right)
            case _:
                return None

    def _known_int(self, expr: TExpr) -> int | None:
        if isinstance(expr, TDim):
            return self.value_of(expr.dim)
        if isinstance(expr, TConst) and not isinstance(expr.value, bool | str):
            return expr.value
        return None

    def number(self, value: int | bool | str, dtype: AnyDType, span: Span) -> int | bool | str:
        """The value of a constant, checked against the dtype that a generic is bound to."""
        if isinstance(value, int) and isinstance(dtype, DType) and dtype.is_integer:
            low, high = dtype.integer_range()
            if not low <= value <= high:
                fail("E2105", f"{value} does not fit {dtype}", span, label="with these generics")
        return value
