"""What index notation cannot evaluate element by element yet (E2190)."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Protocol

from linnet.check.intrinsics import TABLE
from linnet.check.presence import Enum, Form, Optional, form_of
from linnet.check.substitute import Bindings, in_arg, in_dim
from linnet.check.typed import (
    AtDynamic,
    AtStatic,
    IndexVar,
    Local,
    Program,
    TAccess,
    TAssign,
    TBinary,
    TCall,
    TConst,
    TDim,
    TExpr,
    TFunction,
    TIf,
    TIndex,
    TIntrinsic,
    TLet,
    TLocal,
    TMatchEnum,
    TMatchOptional,
    TReduce,
    TReturn,
    TUnary,
)
from linnet.check.types import ScalarType, TensorType
from linnet.check.walk import Faults, Uses
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Facts, Relation
from linnet.source.files import Span

# What a function names and uses twice is there twice.
LARGEST = 1000


class Functions(Protocol):
    """What is known of the whole program."""

    program: Program
    uses: Uses
    faults: Faults

    def refuse(self, span: Span, message: str, label: str, help: str) -> None: ...


class Whole(Protocol):
    """The function around."""

    facts: Facts
    env: dict[Local, Form]

    @property
    def functions(self) -> Functions: ...
    def form(self, expr: TExpr) -> Form: ...


class Elements:
    """One expression of index notation, gone through as it is evaluated at every point. What
    depends on no index is evaluated once, before. Sizes are those of the scalar expression that
    it becomes, or more."""

    def __init__(self, whole: Whole, indices: Iterable[IndexVar] = ()) -> None:
        self.whole = whole
        self.every = whole.functions
        self.indices = set(indices)
        self.locals: dict[Local, int] = {}
        self.guard = 0
        # The generics of the function that is inlined, and what is known of them there.
        self.bound: Bindings = {}
        self.facts = whole.facts

    def start(self, body: TExpr) -> None:
        """Go through what is defined at every point of the indices."""
        if isinstance(body, TAccess | TReduce):
            self.inside(body)
        else:
            self.scalar(body)

    def fixed(self, expr: TExpr) -> bool:
        """Whether `expr` is evaluated once, before all points."""
        if self.guard and self.every.faults.of(expr):
            return False
        uses = self.every.uses.of(expr)
        return not any(u in self.indices or u in self.locals for u in uses)

    def scalar(self, expr: TExpr) -> int:
        """The size of `expr`."""
        if self.fixed(expr):
            self.whole.form(expr)
            return 1
        return self.inside(expr)

    def inside(self, expr: TExpr) -> int:
        """The size of `expr`, evaluated at every point."""
        match expr:
            case TLocal():
                return self.locals.get(expr.local, 1)
            case TAccess():
                return self._access(expr)
            case TIndex():
                return self._element(expr)
            case TReduce():
                self.indices.update(expr.indices)
                return 2 + 2 * self.scalar(expr.body)  # its factors are cast one by one
            case TUnary():
                return 1 + self.scalar(expr.operand)
            case TBinary():
                return self._binary(expr)
            case TIf():
                return self._if(expr)
            case TIntrinsic() if expr.name == "cast" or TABLE[expr.name].elementwise:
                return 1 + sum(map(self.scalar, expr.args))
            case TMatchOptional() | TMatchEnum():
                return self._match(expr)
            case TCall():
                return self._call(expr)
            case _:
                return self._refuse(expr.span)

    def _refuse(self, span: Span) -> int:
        self.every.refuse(
            span,
            "not implemented in index notation",
            "cannot be evaluated element by element",
            "name the intermediate tensor with a `let` of its own",
        )
        return 1

    def _binary(self, expr: TBinary) -> int:
        left = self.scalar(expr.left)
        if expr.op in ("&&", "||"):
            return 1 + left + self._where(left, expr.right)
        return 1 + left + self.scalar(expr.right)

    def _where(self, condition: int, expr: TExpr) -> int:
        """`expr`, whose value counts only under a condition of this size."""
        if not self.every.faults.of(expr):
            return self.scalar(expr)
        outer, self.guard = self.guard, self.guard + condition + 2
        try:
            return self.scalar(expr)
        finally:
            self.guard = outer

    def _if(self, expr: TIf) -> int:
        condition = self.scalar(expr.condition)
        sides = (expr.then, expr.otherwise)
        return 1 + condition + sum(self._where(condition, side) for side in sides)

    def _access(self, expr: TAccess) -> int:
        shape = self._base(expr.base)
        size = 1
        for at, extent in zip(expr.positions, shape, strict=False):
            size += 1 if isinstance(at, IndexVar) else self._position(at, extent)
        return size

    def _element(self, expr: TIndex) -> int:
        """`table[k]` of a function on elements, or `table[k, 0]`: all axes are dropped."""
        shape = self._base(expr.base)
        size = 1
        for item, extent in zip(expr.items, shape, strict=False):
            if isinstance(item, AtDynamic):
                size += self._position(item.at, extent)
            elif isinstance(item, AtStatic):
                size += 1
            else:
                return self._refuse(expr.span)
        return size

    def _base(self, expr: TExpr) -> tuple[Dim | Symbol, ...]:
        """The shape of a tensor that elements are read of."""
        if not self.fixed(expr) or not isinstance(expr.type, TensorType):
            self._refuse(expr.span)
            return ()
        self.whole.form(expr)
        return expr.type.dims

    def _position(self, at: TExpr, extent: Dim | Symbol) -> int:
        size = self.scalar(at) + 1
        if not self.guard or isinstance(at, TConst | TDim):
            return size
        # Every point is evaluated; where this one does not count, the first element is read.
        if not (isinstance(extent, Dim) and self._nonempty(extent)):
            self.every.refuse(
                at.span,
                "a guarded read of an axis that may be empty, in index notation",
                "read under a condition, and evaluated at every point",
                f"state `where {extent} > 0`, or read at a position that is always within the axis",
            )
        return size + self.guard + 2

    def _nonempty(self, extent: Dim) -> bool:
        zero = Dim.of(0)
        here = self.facts.implies(Relation(">", extent, zero))
        return here or self.whole.facts.implies(Relation(">", in_dim(extent, self.bound), zero))

    def _match(self, expr: TMatchOptional | TMatchEnum) -> int:
        if not self.fixed(expr.subject):
            return self._refuse(expr.subject.span)
        subject = self.whole.form(expr.subject)
        if isinstance(expr, TMatchOptional):
            assert isinstance(subject, Optional)
            self.whole.env[expr.local] = subject.inner
            some = 1 if subject.there is False else self.scalar(expr.some)
            return some if subject.there is True else max(some, self.scalar(expr.none))
        assert isinstance(subject, Enum)
        if subject.variant is None:
            return self._refuse(expr.subject.span)
        arms = dict(expr.arms)
        if isinstance(subject.variant, str):
            return self.scalar(arms[subject.variant])
        return max(self.scalar(arm) for arm in arms.values())

    # --- calls

    def _call(self, expr: TCall) -> int:
        """A call on elements: the callee's body in place of the call."""
        callee = self.every.program.functions[expr.callee]
        if expr.sub is not None:
            return self._refuse(expr.span)
        generics = zip(callee.generics, expr.generics, strict=True)
        bound = {g.binder: in_arg(a, self.bound) for g, a in generics}
        elements, wholes = self._arguments(expr, callee)
        outer = self.locals
        self.locals = self.locals | elements
        self.whole.env.update(wholes)
        with self._within(callee, {**self.bound, **bound} if expr.own else bound):
            size = self._body(callee, expr.span)
        self.locals = outer
        return size

    @contextmanager
    def _within(self, callee: TFunction, bound: Bindings) -> Generator[None]:
        outer = self.bound, self.facts
        self.bound, self.facts = bound, Facts(callee.facts)
        try:
            yield
        finally:
            self.bound, self.facts = outer

    def _arguments(
        self, expr: TCall, callee: TFunction
    ) -> tuple[dict[Local, int], dict[Local, Form]]:
        """What the parameters stand for: elements, and what has no index in it."""
        elements: dict[Local, int] = {}
        wholes: dict[Local, Form] = {}
        for param, given in zip(callee.params, expr.args, strict=True):
            arg = given if given is not None else param.default
            assert arg is not None, callee.key
            if isinstance(arg.type, ScalarType):
                elements[param.local] = self.scalar(arg)
            elif self.fixed(arg):
                wholes[param.local] = self.whole.form(arg)
            else:
                self._refuse(arg.span)
                wholes[param.local] = form_of(arg.type)
        return elements, wholes

    def _body(self, callee: TFunction, call: Span) -> int:
        for stmt in callee.body:
            if not isinstance(stmt, TLet | TAssign | TReturn):
                break
            if not isinstance(stmt.value.type, ScalarType):
                break
            if isinstance(stmt, TAssign) and isinstance(stmt.target, str):
                break
            size = self.scalar(stmt.value)
            if size > LARGEST:
                break
            if isinstance(stmt, TReturn):
                return size
            target = stmt.local if isinstance(stmt, TLet) else stmt.target
            assert isinstance(target, Local)
            self.locals[target] = size
        return self._refuse(call)
