"""What blocks declare: members, and the signatures of methods."""

from __future__ import annotations

from linnet.check import typeexpr
from linnet.check.declare import signature
from linnet.check.dimexpr import extent_of
from linnet.check.generics import generics_of
from linnet.check.intrinsics import PRELUDE
from linnet.check.meanings import declared_at
from linnet.check.names import ItemRef
from linnet.check.resolve import resolve_path
from linnet.check.scope import BlockInfo, Scope, World, item_scope
from linnet.check.typed import TBlock, TMemberDecl, TSub
from linnet.check.types import ERROR, OptionalType, ScalarType, TensorType, present
from linnet.source.files import Span
from linnet.syntax import ast


def block_scope(world: World, info: BlockInfo) -> Scope:
    """A scope inside a block: its generics, its `where`, its members."""
    scope = item_scope(world, info.ref)
    scope.generics = {g.name: g for g in info.typed.generics}
    scope.facts = world.facts[info.ref.key]
    scope.block = info
    return scope


def block(world: World, ref: ItemRef) -> BlockInfo:
    """A block's members and the signatures of its methods."""
    decl = ref.item
    assert isinstance(decl, ast.BlockDecl)
    scope = item_scope(world, ref)
    own, facts = generics_of(scope, decl.generics, decl.where)
    world.facts[ref.key] = scope.facts
    typed = TBlock(ref.key, own, facts, {}, {}, {}, decl.doc, decl.name.span)
    info = BlockInfo(ref, typed, broken=scope.broken)
    for named in _accepted(scope, decl):
        if isinstance(named, ast.Member):
            _member(scope, info, named)
        else:
            info.sources[named.name.text] = named
    for name, method in info.sources.items():
        key = f"{ref.key}.{name}"
        info.methods[name] = signature(block_scope(world, info), method, key, ref.key)
        world.program.functions[key] = info.methods[name]
        typed.methods[name] = key
        if method.public:
            info.public.add(name)
    world.program.blocks[ref.key] = typed
    return info


def _accepted(scope: Scope, decl: ast.BlockDecl) -> list[ast.Member | ast.FunctionDecl]:
    """The members and methods whose names are their own."""
    seen: dict[str, Span] = {g.name: g.span for g in scope.generics.values()}
    out: list[ast.Member | ast.FunctionDecl] = []
    for named in (*decl.members, *decl.methods):
        name, span = named.name.text, named.name.span
        if name in seen:
            message = f"two members or generics are named `{name}`"
            label = "the first" if seen[name].start < span.start else "the member"
            scope.error("E1205", message, span, related=[(seen[name], label)])
            scope.broken.add(name)
            continue
        seen[name] = span
        if name in PRELUDE and isinstance(named, ast.FunctionDecl):
            message = f"`{name}` is part of the prelude and cannot be redeclared"
            scope.error("E1207", message, span, help="choose another name")
        out.append(named)
    return out


def _member(scope: Scope, info: BlockInfo, decl: ast.Member) -> None:
    name = decl.name.text
    if decl.kind == "sub":
        _no_value(scope, decl, isinstance(decl.type, ast.OptionalTypeExpr))
        sub = _sub(scope, decl)
        if sub is not None:
            info.typed.subs[name] = sub
        else:
            info.broken.add(name)
        return
    type_ = typeexpr.type_of(scope, decl.type)
    _no_value(scope, decl, isinstance(type_, OptionalType) or type_ == ERROR)
    inner = present(type_)
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
        if optional:
            message = "an array of blocks is not optional"
            help_ = "an array may be empty: `[Layer; N]` where N may be 0"
            scope.error("E4101", message, decl.type.span, help=help_)
            return None
        count = extent_of(scope, type_.count)
        if count is None:
            return None
        type_ = type_.element
    if not isinstance(type_, ast.NamedTypeExpr):
        scope.error("E4101", "the type of a `sub` is a block", type_.span)
        return None
    ref = resolve_path(scope, type_.path)
    if ref is None:
        return None
    if not isinstance(ref.item, ast.BlockDecl):
        message = f"`{ref.item.name.text}` is not a block"
        scope.error("E4101", message, type_.span, related=declared_at(ref))
        return None
    info = scope.world.blocks.of(ref, scope, type_.span)
    if info is None:
        return None
    bound = typeexpr.bind_written(scope, ref.key, info.typed.generics, type_.args, type_.span)
    if bound is None:
        return None
    args = tuple(bound[g.binder] for g in info.typed.generics)
    sub = TSub(decl.name.text, ref.key, args, count, optional, decl.name.span)
    wrong = typeexpr.unmet(scope, ref.key, info.typed.facts, bound, type_.span)
    if wrong is None:
        return sub
    if wrong.finding is None:
        return None
    # What is called on it may still be wrong for another reason.
    scope.world.doubts.broke(scope.function, sub, wrong.finding)
    return sub
