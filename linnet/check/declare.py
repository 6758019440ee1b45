"""What functions, structs and aliases declare. Each item's is worked out once, on demand."""

from __future__ import annotations

from linnet.check import typeexpr
from linnet.check.expr import value_of
from linnet.check.generics import generics_of
from linnet.check.measure import refused
from linnet.check.names import ItemRef, Missing
from linnet.check.scope import AliasInfo, Scope, StructInfo, World, item_scope
from linnet.check.typed import Local, TCall, TExpr, TFunction, TGeneric, TMember, TParam
from linnet.check.types import ERROR, GenericArg, StructType, Type
from linnet.check.walk import children
from linnet.dims.dims import Dim
from linnet.dtypes import DTypeVar
from linnet.source.files import Span
from linnet.syntax import ast


def function(world: World, ref: ItemRef) -> TFunction:
    """The signature of a function outside a block."""
    decl = ref.item
    assert isinstance(decl, ast.FunctionDecl)
    made = signature(item_scope(world, ref), decl, ref.key)
    world.program.functions[ref.key] = made
    return made


def signature(
    scope: Scope, decl: ast.FunctionDecl, key: str, block: str | None = None
) -> TFunction:
    """The signature of `decl`; generics and facts are added to `scope`."""
    scope.function = key
    scope.frames = [_at_run_time(scope, decl)]
    own, facts = generics_of(scope, decl.generics, decl.where)
    scope.world.facts[key] = scope.facts
    types = [typeexpr.type_of(scope, p.type) for p in decl.params]
    result = typeexpr.type_of(scope, decl.result)
    scope.frames = []
    return TFunction(
        key,
        decl.kind,
        decl.public,
        block,
        own,
        _params(scope, decl, types),
        result,
        facts,
        decl.doc,
        decl.name.span,
    )


def _at_run_time(scope: Scope, decl: ast.FunctionDecl) -> dict[str, Local]:
    """The parameters as a `where` or a type may name them by mistake."""
    own = {g.name.text for g in decl.generics}
    return {
        p.name.text: Local(p.name.text, ERROR, False, p.name.span)
        for p in decl.params
        if p.name.text not in own and isinstance(scope.lookup(p.name.text), Missing)
    }


def _params(scope: Scope, decl: ast.FunctionDecl, types: list[Type]) -> tuple[TParam, ...]:
    """The parameters. One whose name is taken is there too, but of an unknown type."""
    seen: dict[str, Span] = {n: g.span for n, g in scope.generics.items()}
    out: list[TParam] = []
    for param, type_ in zip(decl.params, types, strict=True):
        name = param.name.text
        if name in seen:
            scope.error(
                "E1205",
                f"two parameters or generics are named `{name}`",
                param.name.span,
                related=[(seen[name], "the first")],
            )
            type_ = ERROR
        seen[name] = param.name.span
        default = None
        if param.default is not None and type_ != ERROR:
            default = value_of(scope, param.default, type_, "the default")
            _refuse_own(scope, default)
        out.append(TParam(Local(name, type_, False, param.name.span), default))
    return tuple(out)


def _refuse_own(scope: Scope, default: TExpr) -> None:
    """A caller in another block has none of the members and methods that a default could name."""
    match default:
        case TMember(name=name):
            what = f"the member `{name}`"
        case TCall(callee=callee) if default.own or default.sub is not None:
            what = f"the method `{callee.rpartition('.')[2]}`"
        case _:
            for child in children(default):
                _refuse_own(scope, child)
            return
    scope.error(
        "E1208",
        f"the default of a parameter names {what} of a block",
        default.span,
        help="make the parameter optional and choose in the body: "
        "`match x { some(v) => v  none => ... }`",
    )


def struct(world: World, ref: ItemRef) -> StructInfo:
    decl = ref.item
    assert isinstance(decl, ast.StructDecl)
    scope = item_scope(world, ref)
    own, facts = generics_of(scope, decl.generics, decl.where)
    fields: dict[str, Type] = {}
    for f in decl.fields:
        if f.name.text in fields:
            scope.error("E1205", f"two fields are named `{f.name.text}`", f.name.span)
        fields[f.name.text] = typeexpr.type_of(scope, f.type)
    args = tuple(_own_arg(g) for g in own)
    made = StructType(ref.key, args, tuple(fields.items()))
    if refused(scope, made, decl.name.span):
        made = StructType(ref.key, args, tuple((name, ERROR) for name in fields))
    return StructInfo(own, facts, made)


def alias(world: World, ref: ItemRef) -> AliasInfo:
    decl = ref.item
    assert isinstance(decl, ast.AliasDecl)
    scope = item_scope(world, ref)
    own, _ = generics_of(scope, decl.generics, ())
    made = typeexpr.type_of(scope, decl.type)
    return AliasInfo(own, ERROR if refused(scope, made, decl.name.span) else made)


def _own_arg(generic: TGeneric) -> GenericArg:
    """The generic as an argument for itself, as inside its item."""
    if isinstance(generic.binder, DTypeVar):
        return generic.binder
    return (generic.binder,) if generic.kind == "Shape" else Dim.of(generic.binder)
