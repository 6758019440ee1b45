"""Calls on elements in index notation: the callee's body in place of the call."""

from __future__ import annotations

from typing import Protocol

from linnet.check.typed import (
    IndexVar,
    Local,
    TAssign,
    TCall,
    TExpr,
    TFunction,
    TLet,
    TReturn,
)
from linnet.check.types import ScalarType
from linnet.check.walk import as_written
from linnet.dims.dims import Dim
from linnet.dims.prover import Facts
from linnet.ir.core import Value
from linnet.ir.scalar import Scalar
from linnet.lower.bindings import Bound, arguments
from linnet.lower.bundle import Bundle
from linnet.lower.context import Context
from linnet.lower.points import materialised, one_by_one
from linnet.lower.sizes import Sizes

# What a function names and uses twice is there twice: a larger expression becomes a tensor.
_LARGEST = 1000
# Calls in calls; what is deeper is called.
_DEEPEST = 20


class Points(Protocol):
    """The scalar expression in the making, of every point, in which a call stands."""

    at: Context
    operands: list[Value]
    extents: list[Dim]
    numbers: dict[IndexVar, tuple[int, ...]]
    locals: dict[Local, Scalar]
    sizes: Sizes
    guard: Scalar | None
    depth: int

    def operand(self, value: Value) -> int: ...
    def fixed(self, expr: TExpr) -> bool: ...
    def scalar(self, expr: TExpr) -> Scalar: ...


def inline_call(points: Points, expr: TCall) -> Scalar:
    """A call on elements: the callee's body in place of the call, if it is an expression of
    elements, else the call at every point."""
    callee = points.at.program.functions[expr.callee]
    if points.depth == _DEEPEST or not _is_expression(points, expr, callee):
        return one_by_one(points, expr)
    scope = arguments(callee.generics, expr.generics, points.at.scope, expr.span)
    if expr.own:
        scope = points.at.scope | scope
    elements, wholes = _arguments(points, expr, callee, scope)
    outer, points.locals = points.locals, points.locals | elements
    # Only now: an argument may be a call of the same function.
    points.at.env.update(wholes)
    points.depth += 1
    try:
        with points.at.within(scope, Facts(callee.facts)):
            return _body(points, callee)
    finally:
        points.locals = outer
        points.depth -= 1


def _is_expression(points: Points, expr: TCall, callee: TFunction) -> bool:
    """Whether all in the call and in its callee are scalars, or tensors that no index decides
    about."""
    if expr.sub is not None:
        return False
    for given in expr.args:
        if given is not None and not isinstance(given.type, ScalarType) and not points.fixed(given):
            return False
    for stmt in callee.body:
        if not isinstance(stmt, TLet | TAssign | TReturn):
            return False
        if not isinstance(stmt.value.type, ScalarType):
            return False
        if isinstance(stmt, TAssign) and isinstance(stmt.target, str):
            return False
    return True


def _arguments(
    points: Points, expr: TCall, callee: TFunction, scope: Bound
) -> tuple[dict[Local, Scalar], dict[Local, Bundle]]:
    """What the parameters stand for: scalar expressions, and what has no index in it."""
    elements: dict[Local, Scalar] = {}
    wholes: dict[Local, Bundle] = {}
    written = as_written(expr.args)
    for i in (*written, *(k for k in range(len(callee.params)) if k not in written)):
        param, given = callee.params[i], expr.args[i]
        arg = given or param.default
        assert arg is not None, callee.key
        with points.at.within(points.at.scope if given else scope):
            if isinstance(arg.type, ScalarType):
                elements[param.local] = points.scalar(arg)
            else:
                wholes[param.local] = points.at.expr(arg)
    return elements, wholes


def _body(points: Points, callee: TFunction) -> Scalar:
    for stmt in callee.body:
        assert isinstance(stmt, TLet | TAssign | TReturn)
        value = points.scalar(stmt.value)
        if points.sizes.of(value) > _LARGEST:
            value = materialised(points, value)
        if isinstance(stmt, TReturn):
            return value
        target = stmt.local if isinstance(stmt, TLet) else stmt.target
        assert isinstance(target, Local)
        points.locals[target] = value
    raise AssertionError(callee.key)
