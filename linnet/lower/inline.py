"""Calls on elements in index notation: the callee's body in place of the call."""

from __future__ import annotations

from typing import Protocol

from linnet.check.elements import LARGEST
from linnet.check.typed import (
    Local,
    TCall,
    TExpr,
    TForRange,
    TForSubs,
    TFunction,
    TLet,
    TLetTuple,
    TReturn,
    TWhile,
)
from linnet.check.types import ScalarType
from linnet.check.walk import as_written
from linnet.ir.scalar import Scalar
from linnet.lower.bindings import Bound, arguments
from linnet.lower.bundle import Bundle
from linnet.lower.context import Context
from linnet.lower.fail import refuse_at_points
from linnet.lower.sizes import Sizes
from linnet.source.files import Span


class Points(Protocol):
    """The scalar expression in the making, of every point, in which a call stands."""

    at: Context
    locals: dict[Local, Scalar]
    sizes: Sizes

    def fixed(self, expr: TExpr) -> bool: ...
    def scalar(self, expr: TExpr) -> Scalar: ...


def inline_call(points: Points, expr: TCall) -> Scalar:
    """A call on elements: the callee's body in place of the call."""
    callee = points.at.program.functions[expr.callee]
    if expr.sub is not None:
        refuse_at_points(expr.span)
    scope = arguments(callee.generics, expr.generics, points.at.scope)
    if expr.own:
        scope = points.at.scope | scope
    elements, wholes = _arguments(points, expr, callee, scope)
    outer, points.locals = points.locals, points.locals | elements
    # Only now: an argument may be a call of the same function.
    points.at.env.update(wholes)
    try:
        with points.at.within(scope):
            return _body(points, callee, expr.span)
    finally:
        points.locals = outer


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
            elif not points.fixed(arg):
                refuse_at_points(arg.span)
            else:
                wholes[param.local] = points.at.expr(arg)
    return elements, wholes


def _body(points: Points, callee: TFunction, call: Span) -> Scalar:
    for stmt in callee.body:
        if isinstance(stmt, TForSubs | TForRange | TWhile | TLetTuple):
            break
        if not isinstance(stmt.value.type, ScalarType):
            break
        value = points.scalar(stmt.value)
        if points.sizes.of(value) > LARGEST:
            break
        if isinstance(stmt, TReturn):
            return value
        target = stmt.local if isinstance(stmt, TLet) else stmt.target
        if isinstance(target, str):
            break
        points.locals[target] = value
    return refuse_at_points(call)
