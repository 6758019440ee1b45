"""Calls on elements in index notation: the callee's body in place of the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet.check.elements import LARGEST
from linnet.check.typed import (
    Local,
    TCall,
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
from linnet.lower.fail import refuse_at_points
from linnet.source.files import Span

if TYPE_CHECKING:
    from linnet.lower.indexed import Notation


def inline_call(notation: Notation, expr: TCall) -> Scalar:
    """A call on elements: the callee's body in place of the call."""
    callee = notation.at.program.functions[expr.callee]
    if expr.sub is not None:
        refuse_at_points(expr.span)
    scope = arguments(callee.generics, expr.generics, notation.at.scope)
    if expr.own:
        scope = notation.at.scope | scope
    elements, wholes = _arguments(notation, expr, callee, scope)
    outer, notation.locals = notation.locals, notation.locals | elements
    # Only now: an argument may be a call of the same function.
    notation.at.env.update(wholes)
    try:
        with notation.at.within(scope):
            return _body(notation, callee, expr.span)
    finally:
        notation.locals = outer


def _arguments(
    notation: Notation, expr: TCall, callee: TFunction, scope: Bound
) -> tuple[dict[Local, Scalar], dict[Local, Bundle]]:
    """What the parameters stand for: scalar expressions, and what has no index in it."""
    elements: dict[Local, Scalar] = {}
    wholes: dict[Local, Bundle] = {}
    written = as_written(expr.args)
    for i in (*written, *(k for k in range(len(callee.params)) if k not in written)):
        param, given = callee.params[i], expr.args[i]
        arg = given or param.default
        assert arg is not None, callee.key
        with notation.at.within(notation.at.scope if given else scope):
            if isinstance(arg.type, ScalarType):
                elements[param.local] = notation.scalar(arg)
            elif not notation.fixed(arg):
                refuse_at_points(arg.span)
            else:
                wholes[param.local] = notation.at.expr(arg)
    return elements, wholes


def _body(notation: Notation, callee: TFunction, call: Span) -> Scalar:
    for stmt in callee.body:
        if isinstance(stmt, TForSubs | TForRange | TWhile | TLetTuple):
            break
        if not isinstance(stmt.value.type, ScalarType):
            break
        value = notation.scalar(stmt.value)
        if notation.sizes.of(value) > LARGEST:
            break
        if isinstance(stmt, TReturn):
            return value
        target = stmt.local if isinstance(stmt, TLet) else stmt.target
        if isinstance(target, str):
            break
        notation.locals[target] = value
    return refuse_at_points(call)
