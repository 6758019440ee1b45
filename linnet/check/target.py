"""What a call calls."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.check.scope import Scope
from linnet.check.typed import SubRef, TFunction, TParam
from linnet.check.types import GenericArg, Type, element_dtype, present, show_arg
from linnet.dims.dims import Symbol
from linnet.dtypes import DTypeVar, admits
from linnet.syntax import ast


@dataclass(frozen=True, slots=True)
class Target:
    """What is called: a function, with the bindings of the block that it is a method of."""

    function: TFunction
    outer: dict[Symbol | DTypeVar, GenericArg]
    sub: SubRef | None
    own: bool


def defaulted(scope: Scope, target: Target, param: TParam, found: Type) -> str | None:
    """How to declare the `sub` that is called, where the dtype of `param` is a default of its block
    that its declaration left as it is."""
    asked, given = (element_dtype(present(t)) for t in (param.local.type, found))
    block = scope.world.blocks.found.get(target.function.block or "")
    decl = _declaration(scope, target.sub)
    if block is None or decl is None or given is None or not isinstance(asked, DTypeVar):
        return None
    generics = block.typed.generics
    at = next((i for i, g in enumerate(generics) if g.binder == asked), None)
    written = [arg.span.text for arg in decl.args or ()]
    if at is None or at < len(written) or not admits(given) <= admits(asked):
        return None
    between = [show_arg(target.outer[g.binder]) for g in generics[len(written) : at]]
    head = ".".join(part.text for part in decl.path)
    name = f"{head}<{', '.join([*written, *between, str(given)])}>"
    return f"`{target.outer[asked]}` is the default of `{head}`: declare it as `{name}`"


def _declaration(scope: Scope, sub: SubRef | None) -> ast.NamedTypeExpr | None:
    """The block that a member of the block around is declared to be."""
    if sub is None or scope.block is None:
        return None
    name = scope.subs[sub.loop] if sub.loop is not None else sub.name
    decl = scope.block.ref.item
    assert isinstance(decl, ast.BlockDecl)
    type_ = next((m.type for m in decl.members if m.name.text == name), None)
    if isinstance(type_, ast.OptionalTypeExpr):
        type_ = type_.inner
    if isinstance(type_, ast.ArrayTypeExpr):
        type_ = type_.element
    return type_ if isinstance(type_, ast.NamedTypeExpr) else None
