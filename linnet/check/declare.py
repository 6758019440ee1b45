"""Signatures: generics, parameters, members. Each item's is worked out once, on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from linnet.check import consts, typeexpr
from linnet.check.dimexpr import extent_of, generic_arg, relation_of
from linnet.check.measure import DEEPEST, MOST, too_large
from linnet.check.names import PRELUDE, ItemRef
from linnet.check.scope import AliasInfo, BlockInfo, Scope, StructInfo, World
from linnet.check.typed import (
    Local,
    TBlock,
    TFunction,
    TGeneric,
    TMemberDecl,
    TParam,
    TSub,
)
from linnet.check.types import (
    ERROR,
    GenericArg,
    OptionalType,
    ScalarType,
    StructType,
    TensorType,
    Type,
)
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Facts, Relation
from linnet.dtypes import KINDS, DTypeVar
from linnet.source.files import Span
from linnet.source.suggest import did_you_mean
from linnet.syntax import ast

Found = TypeVar("Found")

# Items are declared in the order of their dependencies, so only circles of items get deep.
_DEEPEST = 12


def item_scope(world: World, ref: ItemRef) -> Scope:
    """An empty scope in the module of `ref`."""
    return Scope(world, world.scopes[ref.module])


def guarded(
    world: World,
    ref: ItemRef,
    user: Scope,
    span: Span,
    make: Callable[[], Found],
    code: str = "E2122",
) -> Found | None:
    """Run `make` unless it is running already: then the item is defined by itself."""
    if ref.key in world.active:
        if ref.key not in world.broken:
            world.broken.add(ref.key)
            chain = [*world.active[world.active.index(ref.key) :], ref.key]
            names = " -> ".join(f"`{k.rpartition('::')[2]}`" for k in chain)
            what = "calls itself" if code == "E2119" else "is defined in terms of itself"
            user.error(
                code,
                f"`{ref.item.name.text}` {what}",
                span,
                related=[(ref.item.name.span, "declared here")],
                notes=[f"by way of {names}"],
            )
        return None
    if len(world.active) == _DEEPEST:
        names = [f"`{k.rpartition('::')[2]}`" for k in world.active]
        what = "calls itself" if code == "E2119" else "is defined in terms of itself"
        notes = [f"by way of {' -> '.join(names)} and more"]
        user.error(code, f"{names[0]} {what}", span, notes=notes)
        return None
    world.active.append(ref.key)
    try:
        return make()
    finally:
        world.active.pop()


def generics_of(
    scope: Scope, declared: tuple[ast.Generic, ...], where: tuple[ast.Expr, ...]
) -> tuple[tuple[TGeneric, ...], tuple[Relation, ...]]:
    """Bring generics and what a `where` says of them into `scope`. Defaults come last, for they
    may divide by what the `where` makes positive."""
    plain = _plain_generics(scope, declared)
    facts = facts_of(scope, where)
    return _with_defaults(scope, declared, plain), facts


def _plain_generics(scope: Scope, declared: tuple[ast.Generic, ...]) -> list[TGeneric]:
    out: list[TGeneric] = []
    for generic in declared:
        name = generic.name.text
        if not _known_kind(scope, generic):
            scope.module.broken.add(name)
            continue
        if name in scope.generics:
            scope.error(
                "E1205",
                f"two generics are named `{name}`",
                generic.name.span,
                related=[(scope.generics[name].span, "the first")],
            )
            continue
        kind = generic.kind.text
        binder = Symbol(name, kind == "Shape") if kind in ("Dim", "Shape") else DTypeVar(name, kind)
        scope.generics[name] = TGeneric(name, kind, binder, None, generic.name.span)
        out.append(scope.generics[name])
    return out


def _with_defaults(
    scope: Scope, declared: tuple[ast.Generic, ...], plain: list[TGeneric]
) -> tuple[TGeneric, ...]:
    """A default may name the generics before its own."""
    written = {g.name.span: g.default for g in declared}
    for generic in plain:
        del scope.generics[generic.name]
    out: list[TGeneric] = []
    for generic in plain:
        default = written[generic.span]
        if default is not None:
            value = generic_arg(scope, generic, default)
            generic = replace(generic, default=value)
        out.append(generic)
        scope.generics[generic.name] = generic
    return tuple(out)


def _known_kind(scope: Scope, generic: ast.Generic) -> bool:
    kind = generic.kind.text
    if kind not in ("Dim", "Shape") and kind not in KINDS:
        kinds = ["Dim", "Shape", *KINDS]
        scope.error(
            "E1208",
            f"`{kind}` is not a kind of generic",
            generic.kind.span,
            help=did_you_mean(kind, kinds) or f"one of {', '.join(kinds)}",
        )
        return False
    if generic.pack != (kind == "Shape"):
        scope.error(
            "E1208",
            f"`{generic.name.text}` is a {kind}: "
            + ("write `*` before it" if kind == "Shape" else "only a Shape is written with `*`"),
            generic.span,
        )
        return False
    return True


def facts_of(scope: Scope, where: tuple[ast.Expr, ...]) -> tuple[Relation, ...]:
    """Assume a `where` in `scope`. The order is free: a relation that divides may use all that do
    not, and the ones before it that do."""
    before, out = scope.facts, list[tuple[Relation, Span]]()
    for expr in sorted(where, key=_divides):
        relation = relation_of(scope, expr)
        if relation is None:
            _doubt(scope, expr)
        else:
            out.append((relation, expr.span))
            scope.facts = scope.facts.adding([relation])
    if any(scope.facts.implies(r.negated()) for r, _ in out):
        return _impossible(scope, before, out)
    return tuple(r for r, _ in out)


def _impossible(
    scope: Scope, before: Facts, where: list[tuple[Relation, Span]]
) -> tuple[Relation, ...]:
    """Report the first relation that those before it rule out; from what is left, not everything
    follows."""
    kept, scope.facts = list[Relation](), before
    for relation, span in where:
        if scope.facts.implies(relation.negated()):
            notes = scope.assumptions(relation) if kept or before.relations else []
            scope.error("E2206", f"`{relation}` can never hold", span, notes=notes)
            scope.world.doubtful.update(relation.symbols())
        else:
            kept.append(relation)
            scope.facts = scope.facts.adding([relation])
    return tuple(kept)


def _doubt(scope: Scope, expr: ast.Expr) -> None:
    """What a relation that cannot be read would have said of these symbols is not known."""
    match expr:
        case ast.NameExpr(name) if name in scope.generics:
            binder = scope.generics[name].binder
            if isinstance(binder, Symbol):
                scope.world.doubtful.add(binder)
        case ast.BinaryExpr(_, left, right):
            _doubt(scope, left)
            _doubt(scope, right)
        case ast.UnaryExpr(operand=operand):
            _doubt(scope, operand)
        case ast.CallExpr(args=args):
            for arg in args:
                _doubt(scope, arg.value)
        case _:
            pass


def _divides(expr: ast.Expr) -> bool:
    match expr:
        case ast.BinaryExpr(op, left, right):
            return op in ("/", "%") or _divides(left) or _divides(right)
        case ast.UnaryExpr(operand=operand):
            return _divides(operand)
        case ast.CallExpr(args=args):
            return any(_divides(a.value) for a in args)
        case _:
            return False


def function_key(ref: ItemRef, block: str | None) -> str:
    return f"{block}.{ref.item.name.text}" if block else ref.key


def function(world: World, ref: ItemRef, user: Scope, span: Span) -> TFunction | None:
    """The signature of a function outside a block; None if a default of it asks for it."""
    decl = ref.item
    assert isinstance(decl, ast.FunctionDecl)
    if ref.key not in world.program.functions:

        def make() -> TFunction:
            return signature(item_scope(world, ref), decl, ref.key)

        found = guarded(world, ref, user, span, make, "E2119")
        if found is None:
            return None
        world.program.functions[ref.key] = found
    return world.program.functions[ref.key]


def signature(
    scope: Scope, decl: ast.FunctionDecl, key: str, block: str | None = None
) -> TFunction:
    """The signature of `decl`; generics and facts are added to `scope`."""
    scope.function = key
    scope.frames = [_at_run_time(scope, decl)]
    own, facts = generics_of(scope, decl.generics, decl.where)
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
    known = {*scope.generics, *(g.name.text for g in decl.generics), *PRELUDE}
    return {
        p.name.text: Local(p.name.text, ERROR, False, p.name.span)
        for p in decl.params
        if p.name.text not in known and scope.module.find(p.name.text) is None
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
            default = consts.default_value(scope, param.default, type_)
        out.append(TParam(Local(name, type_, False, param.name.span), default))
    return tuple(out)


def struct(world: World, ref: ItemRef, user: Scope, span: Span) -> StructInfo | None:
    if ref.key not in world.structs:
        decl = ref.item
        assert isinstance(decl, ast.StructDecl)

        def make() -> StructInfo:
            scope = item_scope(world, ref)
            own, facts = generics_of(scope, decl.generics, decl.where)
            fields: dict[str, Type] = {}
            for f in decl.fields:
                if f.name.text in fields:
                    scope.error("E1205", f"two fields are named `{f.name.text}`", f.name.span)
                fields[f.name.text] = typeexpr.type_of(scope, f.type)
            args = tuple(_own_arg(g) for g in own)
            made = StructType(ref.key, args, tuple(fields.items()))
            if _too_large(scope, made, decl.name.span):
                made = StructType(ref.key, args, tuple((name, ERROR) for name in fields))
            return StructInfo(own, facts, made)

        found = guarded(world, ref, user, span, make)
        if found is None:
            return None
        world.structs[ref.key] = found
    return world.structs[ref.key]


def _too_large(scope: Scope, made: Type, span: Span) -> bool:
    if not too_large(made):
        return False
    message = f"a type with more than {MOST} parts, or nested deeper than {DEEPEST}"
    scope.error("E1104", message, span, "too large")
    return True


def _own_arg(generic: TGeneric) -> GenericArg:
    """The generic as an argument for itself, as inside its item."""
    if isinstance(generic.binder, DTypeVar):
        return generic.binder
    return (generic.binder,) if generic.kind == "Shape" else Dim.of(generic.binder)


def alias(world: World, ref: ItemRef, user: Scope, span: Span) -> AliasInfo | None:
    if ref.key not in world.aliases:
        decl = ref.item
        assert isinstance(decl, ast.AliasDecl)

        def make() -> AliasInfo:
            scope = item_scope(world, ref)
            own, _ = generics_of(scope, decl.generics, ())
            made = typeexpr.type_of(scope, decl.type)
            return AliasInfo(own, ERROR if _too_large(scope, made, decl.name.span) else made)

        found = guarded(world, ref, user, span, make)
        if found is None:
            return None
        world.aliases[ref.key] = found
    return world.aliases[ref.key]


def block(world: World, ref: ItemRef, user: Scope, span: Span) -> BlockInfo | None:
    """A block's members and the signatures of its methods."""
    if ref.key not in world.blocks:
        found = guarded(world, ref, user, span, lambda: _make_block(world, ref))
        if found is None:
            return None
        world.blocks[ref.key] = found
        world.program.blocks[ref.key] = found.typed
    return world.blocks[ref.key]


def block_scope(world: World, info: BlockInfo) -> Scope:
    """A scope inside a block: its generics, its `where`, its members."""
    scope = item_scope(world, info.ref)
    scope.generics = {g.name: g for g in info.typed.generics}
    scope.facts = Facts(info.typed.facts)
    scope.block = info
    return scope


def _make_block(world: World, ref: ItemRef) -> BlockInfo:
    decl = ref.item
    assert isinstance(decl, ast.BlockDecl)
    scope = item_scope(world, ref)
    scope.function = ref.key
    own, facts = generics_of(scope, decl.generics, decl.where)
    typed = TBlock(ref.key, own, facts, {}, {}, {}, decl.doc, decl.name.span)
    info = BlockInfo(ref, typed, {}, set())
    seen: dict[str, Span] = {}
    for named in (*decl.members, *decl.methods):
        name = named.name.text
        if name in seen or name in scope.generics:
            other = seen.get(name) or scope.generics[name].span
            scope.error(
                "E1205",
                f"two members are named `{name}`",
                named.name.span,
                related=[(other, "the first")],
            )
            continue
        seen[name] = named.name.span
        if name in PRELUDE and isinstance(named, ast.FunctionDecl):
            message = f"`{name}` is part of the prelude and cannot be redeclared"
            scope.error("E1207", message, named.name.span, help="choose another name")
        if isinstance(named, ast.Member):
            _member(scope, info, named)
    for method in decl.methods:
        key = f"{ref.key}.{method.name.text}"
        if seen[method.name.text] == method.name.span:
            function_ = signature(block_scope(world, info), method, key, ref.key)
            info.methods[method.name.text] = function_
            typed.methods[method.name.text] = key
            world.program.functions[key] = function_
            if method.public:
                info.public.add(method.name.text)
    return info


def _member(scope: Scope, info: BlockInfo, decl: ast.Member) -> None:
    name = decl.name.text
    if decl.kind == "sub":
        _no_value(scope, decl, isinstance(decl.type, ast.OptionalTypeExpr))
        sub = _sub(scope, decl)
        if sub is not None:
            info.typed.subs[name] = sub
        else:
            scope.module.broken.add(name)
        return
    type_ = typeexpr.type_of(scope, decl.type)
    _no_value(scope, decl, isinstance(type_, OptionalType) or type_ == ERROR)
    inner = type_.inner if isinstance(type_, OptionalType) else type_
    if type_ != ERROR and not isinstance(inner, TensorType | ScalarType):
        scope.error("E4101", f"a `{decl.kind}` cannot be {type_}", decl.type.span)
        type_ = ERROR
    if isinstance(type_, OptionalType) and decl.kind == "state":
        scope.error("E4101", "a `state` is always there", decl.type.span)
        type_ = ERROR
    info.typed.members[name] = TMemberDecl(
        decl.kind, name, type_, isinstance(type_, OptionalType), decl.name.span
    )


def _no_value(scope: Scope, decl: ast.Member, optional: bool) -> None:
    """Only `= none` may follow a member, and only an optional one."""
    if decl.default is None or (optional and isinstance(decl.default, ast.NoneLit)):
        return
    scope.error(
        "E4102" if decl.kind in ("param", "buffer") else "E4101",
        f"a `{decl.kind}` has no value in the source"
        + ("; it comes from the checkpoint" if decl.kind == "param" else ""),
        decl.default.span,
        help="only `= none` on an optional member is allowed",
    )


def _sub(scope: Scope, decl: ast.Member) -> TSub | None:
    type_, optional, count = decl.type, False, None
    if isinstance(type_, ast.OptionalTypeExpr):
        type_, optional = type_.inner, True
    if isinstance(type_, ast.ArrayTypeExpr):
        count = extent_of(scope, type_.count)
        if count is None:
            return None
        type_ = type_.element
    if not isinstance(type_, ast.NamedTypeExpr):
        scope.error("E4101", "the type of a `sub` is a block", type_.span)
        return None
    ref = typeexpr.resolve_path(scope, type_.path)
    if ref is None:
        return None
    if not isinstance(ref.item, ast.BlockDecl):
        scope.error(
            "E4101",
            f"`{ref.item.name.text}` is not a block",
            type_.span,
            related=[(ref.item.name.span, "declared here")],
        )
        return None
    info = block(scope.world, ref, scope, type_.span)
    if info is None:
        return None
    bound = typeexpr.bind_written(scope, info.typed.generics, type_.args, type_.span)
    if bound is None:
        return None
    if not typeexpr.obligations(scope, info.typed.facts, bound, type_.span):
        return None
    args = tuple(bound[g.binder] for g in info.typed.generics)
    return TSub(decl.name.text, ref.key, args, count, optional, decl.name.span)
