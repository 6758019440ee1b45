"""Calls: what is called, its generic arguments, its arguments, its `where`."""

from __future__ import annotations

from functools import partial

from linnet.check import expr, of_value, prelude
from linnet.check.arguments import place_arguments
from linnet.check.blame import Finding
from linnet.check.convert import bad, settle
from linnet.check.fitting import Fitting, exchanges
from linnet.check.hints import needs_context
from linnet.check.inference import Inference
from linnet.check.keys import Generics, Refused
from linnet.check.meanings import LoopBlock, Meaning, PreludeFunction, declared_at
from linnet.check.names import ItemRef, Missing, ModuleRef
from linnet.check.resolve import item_of, rootless
from linnet.check.scope import Scope, is_error
from linnet.check.substitute import Bindings, binders, in_type
from linnet.check.target import Target
from linnet.check.typed import SubRef, TCall, TExpr, TFunction, TParam, TSub
from linnet.check.types import (
    ERROR,
    LiteralType,
    ScalarType,
    Type,
)
from linnet.check.undeclared import lost
from linnet.check.unknown import unknown_name
from linnet.dims.dims import DimError
from linnet.dtypes import AnyDType, DType, DTypeVar
from linnet.source.files import Span
from linnet.source.suggest import did_you_mean, listed
from linnet.syntax import ast

# --- what is called ----------------------------------------------------------


def call(scope: Scope, e: ast.CallExpr, hint: Type | None) -> TExpr:
    callee = e.callee
    if isinstance(callee, ast.NameExpr):
        found = scope.read(callee.name)
        if isinstance(found, PreludeFunction) and callee.name not in scope.module.broken:
            return prelude.call(scope, e, callee.name, hint)
        target = _named(scope, found, callee, _misread(e))
    elif isinstance(callee, ast.FieldExpr):
        target = _qualified(scope, e, callee)
        if target is None:  # what it is called with belongs to what was meant
            return bad(e.span)
    else:
        scope.error("E2106", "only functions can be called", callee.span)
        expr.alone(scope, [callee])
        return _arguments_alone(scope, e)
    if target is None:
        return _arguments_alone(scope, e)
    return _apply(scope, e, target)


def _arguments_alone(scope: Scope, e: ast.CallExpr) -> TExpr:
    """The arguments of a call that was reported: a name in them may be unknown."""
    expr.alone(scope, (arg.value for arg in e.args))
    return bad(e.span)


def _misread(e: ast.CallExpr) -> str | None:
    """What to say of a call that was probably meant as something else."""
    if e.generics is not None:
        return "`a < b, c > (d)` is a call with generic arguments: parenthesize the comparisons"
    between = e.span.file.text[e.callee.span.end : e.span.end].partition("(")[0]
    return "a line that begins with `(` continues the one before it" if "\n" in between else None


def _named(
    scope: Scope, found: Meaning, callee: ast.NameExpr, misread: str | None
) -> Target | None:
    name, span = callee.name, callee.span
    match found:
        case TFunction():
            return Target(found, {}, None, True)
        case ItemRef() | ModuleRef():
            return _function_target(scope, found, name, span)
        case Missing():
            unknown_name(scope, name, span, called=True)
        case DType() | PreludeFunction() if name in scope.module.broken:
            pass  # it was to be a function, which was reported
        case _:
            help_ = misread
            if isinstance(found, TSub | LoopBlock):
                help_ = f"call a method of it: `{name}.forward(...)`"
            elif isinstance(found, DType):
                help_ = f"`cast<{name}>(x)` converts"
            related = declared_at(found)
            scope.error("E2106", f"`{name}` is not a function", span, related=related, help=help_)
    return None


def _function_target(
    scope: Scope, ref: ItemRef | ModuleRef, name: str, span: Span
) -> Target | None:
    if isinstance(ref, ItemRef) and isinstance(ref.item, ast.FunctionDecl):
        function = scope.world.functions.of(ref, scope, span)
        return function and Target(function, {}, None, False)
    related = declared_at(ref)
    help_ = None
    if isinstance(ref, ItemRef) and isinstance(ref.item, ast.BlockDecl):
        help_ = f"a block is a member: `sub x: {name}<...>`, called as `x.forward(...)`"
    scope.error("E2106", f"`{name}` is not a function", span, related=related, help=help_)
    return None


def _qualified(scope: Scope, e: ast.CallExpr, callee: ast.FieldExpr) -> Target | None:
    if rootless(scope, callee):
        return None
    base = callee.base
    if not isinstance(base, ast.NameExpr):
        return of_value.method(scope, e, callee)
    found = scope.read(base.name)
    match found:
        case LoopBlock(local=local, sub=sub):
            at = SubRef(sub.name, None) if sub.count is None else SubRef(None, local)
            return _method(scope, sub, at, callee.name)
        case TSub(count=None, optional=False):
            return _method(scope, found, SubRef(base.name, None), callee.name)
        case TSub(count=None):
            message = f"`{base.name}` may be absent"
            help_ = f"`match {base.name} {{ some(m) => m.{callee.name.text}(...)  none => ... }}`"
            scope.error("E2101", message, base.span, related=declared_at(found), help=help_)
            return None
        case TSub():
            message = f"`{base.name}` is an array of blocks"
            help_ = f"`static for b in {base.name} {{ ... }}` calls each in turn"
            scope.error("E1208", message, base.span, help=help_)
            return None
        case ModuleRef():
            item = item_of(scope, found, callee.name)
            return item and _function_target(scope, item, callee.name.text, callee.span)
        case _:
            return of_value.method(scope, e, callee)


def _method(scope: Scope, sub: TSub, at: SubRef, name: ast.Name) -> Target | None:
    info = scope.world.blocks.found[sub.block]
    assert info is not None
    function = info.methods.get(name.text)
    short = sub.block.rpartition("::")[2]
    if function is None:
        if name.text in info.broken | scope.world.scopes[info.ref.module].broken:
            return None
        scope.error(
            "E2107",
            f"the block `{short}` has no method `{name.text}`",
            name.span,
            help=did_you_mean(name.text, info.public)
            or f"its methods: {listed(sorted(info.public))}",
            folds=[lost(scope, "method", sub.block, name.text)],
        )
        return None
    if name.text not in info.public:
        scope.error(
            "E1203",
            f"`{name.text}` of `{short}` is private",
            name.span,
            related=[(function.span, "declared without `pub`")],
        )
        return None
    outer = {g.binder: a for g, a in zip(info.typed.generics, sub.args, strict=True)}
    return Target(function, outer, at, False)


# --- applying it -------------------------------------------------------------


def _apply(scope: Scope, e: ast.CallExpr, target: Target) -> TExpr:
    function = target.function
    name = function.key.rpartition("::")[2]
    if e.generics is not None and scope.world.broken[function.key]:
        return _arguments_alone(scope, e)
    if e.generics is not None and not function.generics:
        list_ = Generics(function.key)
        message, folds = f"`{name}` has no generics", [Refused(list_, len(e.generics))]
        scope.error("E2111", message, e.generics[0].span, folds=folds, follows=[list_])
        return _arguments_alone(scope, e)
    solver = Inference(scope, function.key, function.generics, e.generics, e.span)
    solver.bound.update(target.outer)
    solver.doubtful = any(is_error(p.local.type) for p in function.params)
    names = [p.local.name for p in function.params]
    way_out = _as_generics(e, function)
    placed = place_arguments(scope, e, names, name, way_out, item=function.key)
    if placed is None:
        return _arguments_alone(scope, e)
    values: list[TExpr | None] = [None] * len(function.params)
    fit = Fitting(scope, target, values, solver)

    def waits(i: int) -> bool:
        argument = placed[i]
        return argument is not None and needs_context(scope, argument.value)

    missing: list[TParam] = []
    for i in sorted(range(len(placed)), key=waits):
        argument, param = placed[i], function.params[i]
        if argument is not None:
            conform = partial(fit.conform, param)
            values[i] = solver.argument(argument.value, param.local.type, conform)
        elif param.default is None:
            missing.append(param)
    if missing:
        solver.failed = True
        _missing(scope, name, missing, e.span)
    _bind_literals(solver, function, values)
    # Before it is known to fit: that finding may be taken back, one of a circle of calls is not.
    scope.world.calls.setdefault(scope.function, {}).setdefault(function.key, e.callee.span)
    doubted: dict[str, Finding] = {}
    for param in function.params:
        doubted |= scope.world.doubts.about(param.local)
    with scope.mute(doubted):
        bindings = solver.finish()
    if bindings is None:
        return bad(e.span)
    final = fit.conforming()
    with scope.mute(doubted):
        sound = solver.sound(function.facts, final is not None)
    if final is None or not sound:
        return bad(e.span)
    own = tuple(bindings[g.binder] for g in function.generics)
    result = _result(scope, function, bindings)
    return TCall(function.key, own, tuple(final), target.sub, target.own, result, e.span)


def _missing(scope: Scope, name: str, missing: list[TParam], span: Span) -> None:
    """Report that a call lacks the arguments for some parameters."""
    first = missing[0].local
    wanted = "an argument" if len(missing) == 1 else "arguments"
    scope.error(
        "E2102",
        f"`{name}` needs {wanted} for {listed((p.local.name for p in missing), True)}",
        span,
        related=[(first.span, "declared here")],
        help=f"give it one: `{first.name} = ...`",
    )


def _as_generics(e: ast.CallExpr, function: TFunction) -> str | None:
    """What to write for `causal_mask(S, S)`, where generics are given as arguments."""
    given = [arg.value.span.text for arg in e.args if arg.name is None]
    if function.params or e.generics is not None or len(given) != len(function.generics):
        return None
    return f"its generics stand in `<>`: `{e.callee.span.text}<{', '.join(given)}>()`"


def _result(scope: Scope, function: TFunction, bindings: Bindings) -> Type:
    """What a call gives; unknown where that is in doubt, or divides by a generic that is 0, which
    was reported where the `sub` is declared."""
    try:
        return ERROR if _doubtful_result(scope, function) else in_type(function.result, bindings)
    except DimError:
        return ERROR


def _doubtful_result(scope: Scope, function: TFunction) -> bool:
    """Whether it is known that the declared result is wrong, or that its generics are not told
    rightly."""
    told = set[object]().union(*exchanges(scope, function))
    named = told.intersection(binders(function.result))
    return bool(named) or function.key in scope.world.doubts.results


def _bind_literals(solver: Inference, function: TFunction, values: list[TExpr | None]) -> None:
    """A dtype that only literals speak of: i64 or f64, as without context."""
    for i, (value, param) in enumerate(zip(values, function.params, strict=True)):
        wanted = param.local.type
        if (
            value is not None
            and isinstance(value.type, LiteralType)
            and isinstance(wanted, ScalarType)
            and isinstance(wanted.dtype, DTypeVar)
            and wanted.dtype in solver.open
        ):
            settled = settle(solver.scope, value)
            values[i] = settled
            if isinstance(settled.type, ScalarType):
                dtype: AnyDType = settled.type.dtype
                solver.bind(wanted.dtype, dtype)
