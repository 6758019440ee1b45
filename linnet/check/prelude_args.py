"""The arguments of a call of the prelude."""

from __future__ import annotations

from linnet.check import expr
from linnet.check.arguments import place_arguments
from linnet.check.convert import adapt, settle
from linnet.check.hints import without_shape
from linnet.check.intrinsics import TABLE, Intrinsic
from linnet.check.scope import Scope, is_error
from linnet.check.suspects import of_dtype
from linnet.check.typed import TExpr
from linnet.check.types import LiteralType, ScalarType, TensorType, Type, element_dtype
from linnet.dtypes import FLOATS, INTEGERS, DType, admits
from linnet.source.files import Span
from linnet.syntax import ast


def arguments(scope: Scope, e: ast.CallExpr, name: Intrinsic) -> list[ast.Expr] | None:
    """Exactly the arguments that `name` takes, in order."""
    names = TABLE[name].params
    placed = place_arguments(scope, e, list(names), name, _in_brackets(e, name))
    if placed is None:
        expr.alone(scope, (a.value for a in e.args))
        return None
    for param, arg in zip(names, placed, strict=True):
        if arg is None:
            message = f"`{name}` needs an argument for `{param}`"
            scope.error("E2102", message, e.span, help=f"write `{name}({', '.join(names)})`")
            expr.alone(scope, (a.value for a in e.args))
            return None
    return [a.value for a in placed if a is not None]


def _in_brackets(e: ast.CallExpr, name: Intrinsic) -> str | None:
    """What to write for `permute(x, 1, 0)`, where the axes or the extents stand in no brackets."""
    values = [arg.value.span.text for arg in e.args if arg.name is None]
    if TABLE[name].params[1:] not in (("shape",), ("axes",)) or len(values) < len(e.args):
        return None
    return f"write `{name}({values[0]}, [{', '.join(values[1:])}])`"


def does_not_apply(
    scope: Scope, name: str, value: TExpr, span: Span, allowed: frozenset[DType] = frozenset()
) -> None:
    """Report a value at `span` whose dtype is none of those `allowed` for the function `name`."""
    message = f"`{name}` does not apply to `{value.type}`"
    dtype = element_dtype(value.type)
    help_ = None
    if dtype is not None and allowed == FLOATS and admits(dtype) <= INTEGERS:
        help_ = f"it takes floats: `{name}(cast<f32>({span.text}))`"
    folds = of_dtype(scope, dtype, span)
    scope.error("E2104", message, span, help=help_, folds=folds)


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
        does_not_apply(scope, name, value, e.span, allowed)
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
