"""Constants: compile-time integers, and values with a dtype."""

from __future__ import annotations

from linnet.check import declare, expr, typeexpr
from linnet.check.convert import conform, settle
from linnet.check.names import ItemRef
from linnet.check.scope import Scope, World
from linnet.check.typed import TExpr
from linnet.check.types import ERROR, LiteralType, Type
from linnet.dims.dims import Dim
from linnet.syntax import ast


def const_value(world: World, ref: ItemRef) -> TExpr | None:
    """The value of a `const`: of type `LiteralType` for an unannotated integer. None after a
    report."""
    if ref.key in world.consts:
        return world.consts[ref.key]
    if ref.key in world.broken:
        return None
    decl = ref.item
    assert isinstance(decl, ast.ConstDecl)
    scope = declare.item_scope(world, ref)
    scope.function = ref.key
    found = declare.guarded(world, ref, scope, decl.value.span, lambda: _value(scope, decl))
    if found is None or ref.key in world.broken or found.type == ERROR:
        world.broken.add(ref.key)
        return None
    world.consts[ref.key] = found
    return found


def _value(scope: Scope, decl: ast.ConstDecl) -> TExpr:
    if decl.type is None:
        value = expr.infer(scope, decl.value, None)
        is_integer = isinstance(value.type, LiteralType) and value.type.value is not None
        return value if is_integer else settle(scope, value)
    wanted = typeexpr.type_of(scope, decl.type)
    value = expr.infer(scope, decl.value, wanted)
    return conform(scope, value, wanted, f"the value of `{decl.name.text}`")


def const_dim(world: World, ref: ItemRef) -> Dim | None:
    """The integer that an unannotated integer `const` is; None for any other."""
    value = const_value(world, ref)
    if value is None or not isinstance(value.type, LiteralType):
        return None
    return value.type.value


def default_value(scope: Scope, value: ast.Expr, wanted: Type) -> TExpr:
    """The default of a parameter."""
    found = expr.infer(scope, value, wanted)
    return conform(scope, found, wanted, "the default")
