"""What others ask of expressions. `forms` answers; it stands after those who ask, so that it is
reached through the `World`."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.check.convert import bad, conform, settle
from linnet.check.measure import MOST_OF_VALUE, refused
from linnet.check.scope import Scope, is_error
from linnet.check.suspects import of_condition
from linnet.check.typed import TExpr
from linnet.check.types import ScalarType, TensorType, Type
from linnet.dtypes import DType
from linnet.syntax import ast


def infer(scope: Scope, e: ast.Expr, hint: Type | None) -> TExpr:
    """The typed form of `e`. Its type may be a `LiteralType`; after a report it is `ERROR`."""
    value = scope.world.makers.expression(scope, e, hint)
    large = refused(scope, value.type, e.span, MOST_OF_VALUE)
    return bad(e.span) if large else value


def value_of(scope: Scope, e: ast.Expr, wanted: Type, what: str) -> TExpr:
    """`e` where a value of type `wanted` is asked for."""
    return conform(scope, infer(scope, e, wanted), wanted, what)


def settled(scope: Scope, e: ast.Expr, hint: Type | None = None) -> TExpr:
    """`e` with a type of its own: literals without context get i64 or f64."""
    return settle(scope, infer(scope, e, hint))


def alone(scope: Scope, exprs: Iterable[ast.Expr | None]) -> None:
    """Look into parts of what was reported: names in them may be unknown."""
    for e in exprs:
        match e:
            case None | ast.ShapeExpr() | ast.NoneLit() | ast.EllipsisExpr() | ast.PackExpr():
                pass  # it may be right where it was meant to be
            case ast.SliceExpr(start, stop, step):
                alone(scope, (start, stop, step))
            case _:
                infer(scope, e, None)


def condition(scope: Scope, e: ast.Expr) -> TExpr:
    """A scalar `bool`, or E2114."""
    value = infer(scope, e, None)
    if value.type != ScalarType(DType.BOOL) and not is_error(value.type):
        scope.error(
            "E2114",
            f"a condition is a scalar `bool`, this is `{value.type}`",
            e.span,
            help="`select(c, a, b)` chooses element by element"
            if isinstance(value.type, TensorType)
            else "compare it with something",
            folds=of_condition(scope, value.type, e.span),
        )
        return bad(e.span)
    return value
