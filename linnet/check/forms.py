"""Expressions: one function a form, each given what the context would like, as a hint."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from linnet.check import calls, choices, indexing, notation, of_value, operators
from linnet.check.convert import bad, conform, settle
from linnet.check.expr import alone, settled
from linnet.check.hints import is_whole
from linnet.check.inference import Inference
from linnet.check.meanings import IndexUse, LoopBlock, Meaning, declared_at, kind_of
from linnet.check.names import ItemRef, Missing, ModuleRef
from linnet.check.resolve import item_at, item_of, resolve_path, rootless
from linnet.check.scope import Scope, is_error
from linnet.check.substitute import in_type
from linnet.check.typed import (
    Local,
    TConst,
    TDim,
    TExpr,
    TField,
    TFunction,
    TGeneric,
    TLocal,
    TMember,
    TMemberDecl,
    TNone,
    TSome,
    TStruct,
    TSub,
    TTuple,
    TVariant,
)
from linnet.check.types import (
    ERROR,
    EnumType,
    LiteralType,
    OptionalType,
    ScalarType,
    StructType,
    TupleType,
    Type,
)
from linnet.check.undeclared import lost
from linnet.check.unknown import near, unknown_name
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.source.files import Span
from linnet.source.suggest import did_you_mean, listed
from linnet.syntax import ast


def expression(scope: Scope, e: ast.Expr, hint: Type | None) -> TExpr:
    """The typed form of `e`. Its type may be a `LiteralType`; after a report it is `ERROR`."""
    match e:
        case ast.IntLit(value):
            return TDim(Dim.of(value), LiteralType(Dim.of(value)), e.span)
        case ast.FloatLit(text):
            return TConst(text, LiteralType(None), e.span)
        case ast.BoolLit(value):
            return TConst(value, ScalarType(DType.BOOL), e.span)
        case ast.NameExpr():
            return _name(scope, e)
        case ast.UnaryExpr():
            return operators.unary(scope, e, hint)
        case ast.BinaryExpr():
            return operators.binary(scope, e, hint)
        case ast.CallExpr():
            return calls.call(scope, e, hint)
        case ast.FieldExpr():
            return _field(scope, e)
        case ast.IndexExpr():
            if scope.indices is not None:
                return notation.access(scope, e)
            return indexing.index(scope, e)
        case ast.ReduceExpr():
            return notation.reduce(scope, e, hint)
        case ast.IfExpr():
            return choices.if_(scope, e, hint)
        case ast.MatchExpr():
            return choices.match_(scope, e, hint)
        case ast.SomeExpr() | ast.NoneLit():
            return _optional(scope, e, hint)
        case ast.TupleExpr():
            return _tuple(scope, e, hint)
        case ast.StructExpr():
            return _struct(scope, e)
        case _:
            return _misplaced(scope, e)


def _misplaced(scope: Scope, e: ast.Expr) -> TExpr:
    if isinstance(e, ast.StringLit):
        reported = [d.span for d in scope.world.sink if d.code == "E1003"]
        if not any(span and _within(span, e.span) for span in reported):
            scope.error("E2101", "there are no string values", e.span)
    elif isinstance(e, ast.ShapeExpr):
        help_ = "tensors come from parameters, `iota`, `fill` and index notation"
        if len(e.items) == 1:
            help_ = f"a tensor of one number is `fill([1], {e.items[0].span.text})`"
        scope.error("E2101", "a shape is not a value", e.span, help=help_)
    else:
        scope.error("E2101", "this is only valid as an index", e.span)
    return bad(e.span)


def _within(inner: Span, outer: Span) -> bool:
    return inner.file is outer.file and outer.start <= inner.start <= outer.end


# --- names -------------------------------------------------------------------


def _name(scope: Scope, e: ast.NameExpr) -> TExpr:
    name, span = e.name, e.span
    found = scope.read(name)
    match found:
        case Local():
            return TLocal(found, found.type, span)
        case TMemberDecl():
            return TMember(found.kind, name, found.type, span)
        case TGeneric(kind="Dim", binder=Symbol() as binder):
            dim = Dim.of(binder)
            return TDim(dim, LiteralType(dim), span)
        case ItemRef(item=ast.ConstDecl()):
            return _const(scope, found, span)
        case Missing():
            unknown_name(scope, name, span)
        case _:
            _not_a_value(scope, found, name, span)
    return bad(span)


def _not_a_value(scope: Scope, found: Meaning, name: str, span: Span) -> None:
    match found:
        case IndexUse():
            help_ = f"`iota<i64>(N)[{name}]` is its value, with N its extent"
            message = f"the index `{name}` is no value: it stands alone in an access"
            scope.error("E3104", message, span, help=help_)
        case LoopBlock() | TSub():
            scope.error("E1208", f"`{name}` is a block, not a value; call a method of it", span)
        case TFunction():
            scope.error("E1208", f"`{name}` is a method; call it", span, help=f"`{name}(...)`")
        case ItemRef():
            related = declared_at(found)
            scope.error("E1208", f"`{name}` is not a value", span, related=related)
        case DType() if name in scope.module.broken:
            pass  # it was to be something else, which was reported
        case _:
            message = f"`{name}` is {kind_of(found)}, not a value"
            scope.error("E1208", message, span, related=declared_at(found))


def _const(scope: Scope, ref: ItemRef, span: Span) -> TExpr:
    """The value of a `const` as if written here, and that this function asks for what it calls."""
    value = scope.world.consts.of(ref, scope, span)
    if value is None:
        return bad(span)
    if ref.key in scope.world.calls:
        scope.world.calls.setdefault(scope.function, {}).setdefault(ref.key, span)
    return replace(value, span=span)


def _field(scope: Scope, e: ast.FieldExpr) -> TExpr:
    if rootless(scope, e):
        return bad(e.span)
    base = scope.read(e.base.name) if isinstance(e.base, ast.NameExpr) else None
    if isinstance(base, ModuleRef):
        item = item_of(scope, base, e.name)
        if item is None:
            return bad(e.span)
        if isinstance(item.item, ast.ConstDecl):
            return _const(scope, item, e.span)
        _not_a_value(scope, item, e.name.text, e.span)
        return bad(e.span)
    enum = item_at(scope, e.base)
    if enum is not None and isinstance(enum.item, ast.EnumDecl):
        return _variant(scope, enum, enum.item, e)
    return _value_field(scope, e)


def _value_field(scope: Scope, e: ast.FieldExpr) -> TExpr:
    base = settled(scope, e.base)
    if is_error(base.type):
        return bad(e.span)
    if isinstance(base.type, StructType):
        for name, type_ in base.type.fields:
            if name == e.name.text:
                return TField(base, name, type_, e.span)
    of_value.field(scope, e, base)
    return bad(e.span)


def _variant(scope: Scope, ref: ItemRef, decl: ast.EnumDecl, e: ast.FieldExpr) -> TExpr:
    names = tuple(v.name.text for v in decl.variants)
    if e.name.text in names:
        return TVariant(e.name.text, EnumType(ref.key, names), e.span)
    scope.error(
        "E2107",
        f"`{decl.name.text}` has no variant `{e.name.text}`",
        e.name.span,
        help=did_you_mean(e.name.text, names) or f"its variants: {listed(names)}",
        folds=[lost(scope, "variant", ref.key, e.name.text)],
    )
    return bad(e.span)


# --- compound values ---------------------------------------------------------


def _optional(scope: Scope, e: ast.SomeExpr | ast.NoneLit, hint: Type | None) -> TExpr:
    if isinstance(e, ast.NoneLit):
        if isinstance(hint, OptionalType) and is_whole(hint):
            return TNone(hint, e.span)
        scope.error(
            "E2113",
            "`none` needs an optional type from its context",
            e.span,
            help="give it a type: `let x: Tensor[N; f32]? = none`",
        )
        return bad(e.span)
    inner = hint.inner if isinstance(hint, OptionalType) else None
    value = expression(scope, e.value, inner)
    if isinstance(value.type, LiteralType) and inner is not None and is_whole(inner):
        value = conform(scope, value, inner, "the value")
    value = settle(scope, value)
    if isinstance(value.type, OptionalType):
        message = f"`{value.type}` is optional already"
        scope.error("E2101", message, e.span, help="pass it on as it is, without `some`")
        return bad(e.span)
    return TSome(value, OptionalType(value.type) if value.type != ERROR else ERROR, e.span)


def _tuple(scope: Scope, e: ast.TupleExpr, hint: Type | None) -> TExpr:
    hints: tuple[Type | None, ...] = (None,) * len(e.items)
    if isinstance(hint, TupleType) and len(hint.items) == len(e.items):
        hints = hint.items
    items: list[TExpr] = []
    for item, wanted in zip(e.items, hints, strict=True):
        value = expression(scope, item, wanted)
        if isinstance(value.type, LiteralType) and isinstance(wanted, ScalarType):
            value = conform(scope, value, wanted, "the item")
        items.append(settle(scope, value))
    types = tuple(i.type for i in items)
    return TTuple(tuple(items), ERROR if is_error(*types) else TupleType(types), e.span)


def _struct(scope: Scope, e: ast.StructExpr) -> TExpr:
    ref = resolve_path(scope, e.path)
    info = None
    if ref is not None and not isinstance(ref.item, ast.StructDecl):
        scope.error("E1208", f"`{ref.item.name.text}` is not a struct", e.path[-1].span)
    elif ref is not None:
        info = scope.world.structs.of(ref, scope, e.span)
    if ref is None or info is None or (e.generics is not None and scope.world.broken[ref.key]):
        alone(scope, (f.value for f in e.fields))
        return bad(e.span)
    known = dict(info.type.fields)
    written = {f.name.text: f for f in e.fields if f.name.text in known}
    alone(scope, (f.value for f in e.fields if f is not written.get(f.name.text)))
    _check_fields(scope, e, info.type, ref.item.name.text)
    solver = Inference(scope, ref.key, info.generics, e.generics, e.span)
    solver.doubtful = is_error(*(t for _, t in info.type.fields))
    values: list[TExpr] = []
    for name, type_ in ((n, t) for n, t in info.type.fields if n in written):
        fitting = partial(_fitting_field, scope, solver, name, type_)
        values.append(solver.argument(written[name].value, type_, fitting))
    bindings = solver.finish() if len(values) == len(known) else None
    if bindings is None:
        return bad(e.span)
    typed = tuple(
        _fitting_field(scope, solver, n, t, v)
        for v, (n, t) in zip(values, info.type.fields, strict=True)
    )
    good = not is_error(*(v.type for v in typed))
    if not solver.sound(info.facts, good) or not good:
        return bad(e.span)
    final = in_type(info.type, bindings)
    assert isinstance(final, StructType)
    return TStruct(typed, final, e.span)


def _fitting_field(scope: Scope, solver: Inference, name: str, type_: Type, value: TExpr) -> TExpr:
    wanted = solver.wanted(type_)
    return value if wanted is None else conform(scope, value, wanted, f"the field `{name}`")


def _check_fields(scope: Scope, e: ast.StructExpr, type_: StructType, name: str) -> None:
    fields = dict(type_.fields)
    seen: set[str] = set()
    unknown = [f for f in e.fields if f.name.text not in fields]
    for f in e.fields:
        if f.name.text not in fields:
            help_ = near(scope, f.name.text, fields) or f"its fields: {listed(fields)}"
            message = f"`{name}` has no field `{f.name.text}`"
            folds = [lost(scope, "field", type_.key, f.name.text)]
            scope.error("E2107", message, f.name.span, help=help_, folds=folds)
        elif f.name.text in seen:
            message = f"the field `{f.name.text}` is given twice"
            scope.error("E2102", message, f.name.span, help="leave one of them out")
        seen.add(f.name.text)
    missing = [n for n in fields if n not in seen]
    if len(missing) > len(unknown):  # else they are most likely misspelt
        help_ = f"add it: `{missing[0]}: ...`, of type `{fields[missing[0]]}`"
        scope.error("E2102", f"`{name}` needs {listed(missing, True)}", e.span, help=help_)
