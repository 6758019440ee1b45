"""Whether the arguments of a call fit its parameters, and what may be to blame if not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from linnet.check.blame import Everywhere
from linnet.check.convert import conform, element_dtype
from linnet.check.equal import same_type
from linnet.check.inference import Inference
from linnet.check.scope import Scope, is_error
from linnet.check.substitute import binders
from linnet.check.suspects import present
from linnet.check.typed import SubRef, TExpr, TFunction, TParam
from linnet.check.types import ERROR, GenericArg, TensorType, Type, show_arg
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


def doubted(scope: Scope, params: Iterable[TParam]) -> frozenset[str]:
    """The codes that are no news about an argument for one of `params`."""
    return frozenset[str]().union(*(scope.world.doubts.about(p.local) for p in params))


def misfits(scope: Scope, target: Target, values: list[TExpr | None], solver: Inference) -> bool:
    """Report the arguments whose number of axes is wrong whatever the generics are."""
    wrong = False
    for value, param in zip(values, target.function.params, strict=True):
        if value is not None and solver.misfit(param.local.type, value.type):
            _conform(scope, target, param, value, solver, values)
            wrong = True
    return wrong


def conforming(
    scope: Scope,
    target: Target,
    values: list[TExpr | None],
    solver: Inference,
) -> list[TExpr | None] | None:
    """The arguments as the parameters want them. A dimension that did not fit one parameter is
    in doubt: what else it would refuse is the same mistake, and not reported."""
    final: list[TExpr | None] = []
    doubtful: set[Symbol | DTypeVar] = set()
    good = True
    for value, param in zip(values, target.function.params, strict=True):
        dims = {b for b in binders(param.local.type) if isinstance(b, Symbol)}
        if value is None or (dims & doubtful and isinstance(value.type, TensorType)):
            final.append(value)
            continue
        final.append(_conform(scope, target, param, value, solver, values))
        if is_error(final[-1].type if final[-1] else ERROR):
            good = False
            doubtful |= dims
    return final if good else None


def _of_its_dtype(
    scope: Scope, function: TFunction, values: list[TExpr | None], param: TParam
) -> frozenset[object]:
    """What the arguments name that tell with which dtype a generic stands in the type of `param`:
    if another is found there, one of them may be wrong."""
    dtype = element_dtype(present(param.local.type))
    if not isinstance(dtype, DTypeVar) or all(g.binder != dtype for g in function.generics):
        return frozenset()
    return frozenset[object]().union(
        *(
            scope.named_in(value.span)
            for value, other in zip(values, function.params, strict=True)
            if value is not None and element_dtype(present(other.local.type)) == dtype
        )
    )


def _conform(
    scope: Scope,
    target: Target,
    param: TParam,
    value: TExpr,
    solver: Inference,
    values: list[TExpr | None],
) -> TExpr:
    wanted = solver.wanted(param.local.type, value)
    if same_type(scope.facts, value.type, wanted):
        scope.world.accepted.add(param.local)
        return value
    others = _of_its_dtype(scope, target.function, values, param)
    what = f"the argument `{param.local.name}`"
    origin = ((param.local.span, "the parameter"),)
    suspects: tuple[object, ...] = (Everywhere(param.local), *others)
    if target.sub is not None:
        suspects = (*suspects, target.sub.name)
    with scope.mute(doubted(scope, _told_by(target.function, param))):
        by_default = defaulted(scope, target, param, value.type)
        final = conform(scope, value, wanted, what, origin, suspects, by_default)
    if not is_error(final.type):
        scope.world.accepted.add(param.local)
    return final


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


def _told_by(function: TFunction, param: TParam) -> list[TParam]:
    """The parameter, and those that may tell what the generics in its type are."""
    own = {g.binder for g in function.generics}.intersection(binders(param.local.type))
    return [p for p in function.params if p is param or own.intersection(binders(p.local.type))]
