"""What the context of an expression asks of its type: a type, known in whole or in part.

Where a context knows only the dtype, the hint is a tensor without axes, which no value is; what
it does not know at all is `ERROR`. A hint guides literals, `fill` and `none`; whether the value
fits is asked later, of the whole type.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from linnet.check.intrinsics import TABLE, alike, intrinsic
from linnet.check.meanings import PreludeFunction
from linnet.check.names import ItemRef
from linnet.check.resolve import item_at
from linnet.check.scope import Scope, is_error
from linnet.check.substitute import binders
from linnet.check.typed import TExpr, TGeneric
from linnet.check.types import (
    ERROR,
    LiteralType,
    OptionalType,
    TensorType,
    TupleType,
    Type,
    element_dtype,
)
from linnet.dims.dims import Symbol
from linnet.dtypes import AnyDType, DTypeVar
from linnet.syntax import ast

_OWN_TYPE = ast.COMPARISONS | ast.LOGICAL


def only_dtype(dtype: AnyDType | None) -> Type | None:
    """The hint of a context that asks for a dtype, whatever the shape."""
    return None if dtype is None else TensorType((), dtype)


def without_shape(hint: Type | None) -> Type | None:
    """A hint with the shape left out."""
    return only_dtype(element_dtype(hint))


def is_whole(hint: Type) -> bool:
    """Whether a hint is a type, with nothing left out."""
    match hint:
        case TensorType(dims):
            return dims != ()
        case OptionalType(inner):
            return is_whole(inner)
        case TupleType(items):
            return all(map(is_whole, items))
        case _:
            return not is_error(hint)


def known_part(type_: Type, open_: Container[Symbol | DTypeVar]) -> Type:
    """`type_` as a hint while the generics in `open_` have no value yet."""
    if not any(b in open_ for b in binders(type_)):
        return type_
    match type_:
        case TensorType(_, dtype) if not isinstance(dtype, DTypeVar) or dtype not in open_:
            return TensorType((), dtype)
        case OptionalType(inner):
            return OptionalType(known_part(inner, open_))
        case TupleType(items):
            return TupleType(tuple(known_part(i, open_) for i in items))
        case _:
            return ERROR


def needs_context(scope: Scope, e: ast.Expr) -> bool:
    """Whether literals or `none` alone say what type `e` has, so that the context decides."""
    match e:
        case ast.IntLit() | ast.FloatLit() | ast.NoneLit():
            return True
        case ast.NameExpr() | ast.FieldExpr():
            return _is_number(scope, e)
        case ast.UnaryExpr(operand=inner) | ast.SomeExpr(inner):
            return needs_context(scope, inner)
        case ast.BinaryExpr():
            return _operands_need_context(scope, e)
        case ast.IfExpr(_, then, otherwise):
            return needs_context(scope, then) and needs_context(scope, otherwise)
        case ast.MatchExpr(arms=arms):
            return all(needs_context(scope, arm.value) for arm in arms)
        case ast.CallExpr(ast.NameExpr(name), None):
            known = intrinsic(name) if isinstance(scope.lookup(name), PreludeFunction) else None
            like = list(alike(TABLE[known], e)) if known else []
            return like != [] and all(needs_context(scope, a) for a in like)
        case _:
            return False


def _operands_need_context(scope: Scope, e: ast.BinaryExpr) -> bool:
    """The answer for an operator chain, walked along its left spine without recursion."""
    node: ast.Expr = e
    while isinstance(node, ast.BinaryExpr):
        if node.op in _OWN_TYPE or not needs_context(scope, node.right):
            return False
        node = node.left
    return needs_context(scope, node)


def _is_number(scope: Scope, e: ast.NameExpr | ast.FieldExpr) -> bool:
    """Whether `e` names a compile-time integer."""
    found = scope.lookup(e.name) if isinstance(e, ast.NameExpr) else item_at(scope, e)
    if isinstance(found, TGeneric):
        return found.kind == "Dim"
    value = scope.world.consts.found.get(found.key) if isinstance(found, ItemRef) else None
    return value is not None and isinstance(value.type, LiteralType)


def others_first(
    scope: Scope,
    exprs: Sequence[ast.Expr],
    hint: Type | None,
    infer: Callable[[int, Type | None], TExpr],
    shapes: bool = False,
) -> list[TExpr]:
    """The values of `exprs`, which are of one dtype, or of one type (`shapes`). Those that have a
    type of their own come first, and the first of them is the context of the rest."""
    found: dict[int, TExpr] = {}
    for i in sorted(range(len(exprs)), key=lambda i: needs_context(scope, exprs[i])):
        found[i] = infer(i, hint)
        if hint is None or not is_whole(hint):
            type_ = found[i].type
            if not isinstance(type_, LiteralType) and not is_error(type_):
                known = type_ if shapes else without_shape(type_)
                hint = known or hint
    return [found[i] for i in range(len(exprs))]
