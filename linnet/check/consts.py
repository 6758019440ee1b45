"""Constants: compile-time integers, and values with a dtype."""

from __future__ import annotations

from linnet.check import expr, typeexpr
from linnet.check.convert import settle
from linnet.check.names import ItemRef
from linnet.check.scope import Scope, World, item_scope
from linnet.check.typed import TExpr
from linnet.check.types import ERROR, LiteralType
from linnet.syntax import ast


def const(world: World, ref: ItemRef) -> TExpr | None:
    """The value of a `const`: of type `LiteralType` for an unannotated integer. None after a
    report."""
    decl = ref.item
    assert isinstance(decl, ast.ConstDecl)
    scope = item_scope(world, ref)
    value = _value(scope, decl)
    return None if value.type == ERROR or ref.key in world.progress.circular else value


def _value(scope: Scope, decl: ast.ConstDecl) -> TExpr:
    if decl.type is None:
        value = expr.infer(scope, decl.value, None)
        is_integer = isinstance(value.type, LiteralType) and value.type.value is not None
        return value if is_integer else settle(scope, value)
    wanted = typeexpr.type_of(scope, decl.type)
    return expr.value_of(scope, decl.value, wanted, f"the value of `{decl.name.text}`")
