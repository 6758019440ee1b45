"""The arguments of a call of the prelude."""

from __future__ import annotations

from linnet.check import expr
from linnet.check.arguments import place_arguments
from linnet.check.convert import adapt, element_dtype, settle
from linnet.check.hints import without_shape
from linnet.check.intrinsics import TABLE, Intrinsic
from linnet.check.scope import Scope, is_error
from linnet.check.suspects import of_dtype
from linnet.check.typed import TExpr
from linnet.check.types import LiteralType, ScalarType, TensorType, Type
from linnet.dtypes import FLOATS, DType, admits
from linnet.source.files import Span
from linnet.syntax import ast


def arguments(scope: Scope, e: ast.CallExpr, name: Intrinsic) -> list[ast.Expr] | None:
    """Exactly the arguments that `name` takes, in order."""
    names = TABLE[name].params
    placed = place_arguments(scope, e, list(names), name)
    if placed is None:
        return None
    for param, arg in zip(names, placed, strict=True):
        if arg is None:
            scope.error("E2102", f"`{name}` needs an argument for `{param}`", e.span)
            return None
    return [a.value for a in placed if a is not None]


def does_not_apply(scope: Scope, name: str, value: TExpr, span: Span) -> None:
    """Report a value at `span` whose dtype the function `name` cannot have."""
    message = f"`{name}` does not apply to `{value.type}`"
    folds = of_dtype(scope, element_dtype(value.type), span)
    scope.error("E2104", message, span, folds=folds)


def operand_of(
    scope: Scope, e: ast.Expr, allowed: frozenset[DType], name: Intrinsic, hint: Type | None
) -> TExpr | None:
    """A scalar or tensor of an allowed dtype, that of the context if it is a literal; None after
    a report."""
    value = expr.infer(scope, e, without_shape(hint))
    if isinstance(value.type, LiteralType):
        asked = element_dtype(hint)
        if asked is not None:
            value = adapt(scope, value, asked)
        else:
            value = adapt(scope, value, DType.F64) if allowed <= FLOATS else settle(scope, value)
    if is_error(value.type):
        return None
    dtype = element_dtype(value.type)
    if dtype is None or not admits(dtype) <= allowed:
        does_not_apply(scope, name, value, e.span)
        return None
    return value


def any_operand(
    scope: Scope, e: ast.Expr, name: Intrinsic, hint: Type | None
) -> tuple[TExpr, TensorType | ScalarType] | None:
    """A scalar or tensor of any dtype, and its type; None after a report."""
    value = operand_of(scope, e, frozenset(DType), name, hint)
    if value is None:
        return None
    assert isinstance(value.type, TensorType | ScalarType)
    return value, value.type
