"""Written types to checked types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from linnet.check.blame import Finding, WhereUse
from linnet.check.dimexpr import dtype_of, generic_arg, natural_arg, shape_of
from linnet.check.keys import Generics, Refused
from linnet.check.meanings import declared_at, kind_of
from linnet.check.names import ItemRef, Missing
from linnet.check.resolve import resolve_path
from linnet.check.scope import Scope
from linnet.check.substitute import Bindings, dim_bindings, in_arg, in_relation, in_type
from linnet.check.typed import TGeneric
from linnet.check.types import (
    ERROR,
    EnumType,
    GenericArg,
    OptionalType,
    ScalarType,
    TensorType,
    TupleType,
    Type,
)
from linnet.dims.atoms import sorted_symbols
from linnet.dims.dims import Dim, DimError, Symbol
from linnet.dims.prover import Relation
from linnet.dtypes import DType, DTypeVar
from linnet.source.files import Span
from linnet.syntax import ast


def type_of(scope: Scope, expr: ast.TypeExpr) -> Type:
    """The type that `expr` writes; `ERROR` after a report."""
    match expr:
        case ast.TensorTypeExpr(dims, dtype):
            return _tensor(scope, dims, dtype, expr.span)
        case ast.OptionalTypeExpr(inner):
            found = type_of(scope, inner)
            if isinstance(found, OptionalType):
                scope.error("E2101", f"`{found}` is optional already", expr.span)
                return ERROR
            return ERROR if found == ERROR else OptionalType(found)
        case ast.TupleTypeExpr(items):
            types = tuple(type_of(scope, i) for i in items)
            return ERROR if ERROR in types else TupleType(types)
        case ast.ArrayTypeExpr():
            scope.error("E4101", "an array of blocks can only be the type of a `sub`", expr.span)
            return ERROR
        case ast.NamedTypeExpr():
            return _named(scope, expr)


def _tensor(scope: Scope, dims: tuple[ast.Expr, ...], dtype: ast.Expr, span: Span) -> Type:
    if not dims:
        scope.error(
            "E2101",
            "there is no tensor without axes",
            span,
            help="a scalar is written as its dtype alone",
        )
        return ERROR
    shape, element = shape_of(scope, dims), dtype_of(scope, dtype)
    return ERROR if shape is None or element is None else TensorType(shape, element)


def _named(scope: Scope, expr: ast.NamedTypeExpr) -> Type:
    head = expr.path[0].text
    found = scope.lookup(head) if len(expr.path) == 1 else None
    match found:
        case DType() | TGeneric(binder=DTypeVar()) if expr.args is not None:
            scope.error("E2111", f"`{head}` takes no generic arguments", expr.span)
        case DType():
            return ScalarType(found)
        case TGeneric(binder=DTypeVar() as binder):
            return ScalarType(binder)
        case None | ItemRef() | Missing():
            ref = resolve_path(scope, expr.path)
            return ERROR if ref is None else _item_type(scope, ref, expr)
        case _:
            message = f"`{head}` is {kind_of(found)}, not a type"
            scope.error("E1208", message, expr.span, related=declared_at(found))
    return ERROR


def _item_type(scope: Scope, ref: ItemRef, expr: ast.NamedTypeExpr) -> Type:
    match ref.item:
        case ast.EnumDecl(variants=variants):
            if expr.args is not None:
                scope.error("E2111", "an enum takes no generic arguments", expr.span)
            return EnumType(ref.key, tuple(v.name.text for v in variants))
        case ast.StructDecl():
            info = scope.world.structs.of(ref, scope, expr.span)
            if info is None:
                return ERROR
            bound = bind_written(scope, ref.key, info.generics, expr.args, expr.span)
            if bound is None or not obligations(scope, ref.key, info.facts, bound, expr.span):
                return ERROR
            return in_type(info.type, bound)
        case ast.AliasDecl():
            alias = scope.world.aliases.of(ref, scope, expr.span)
            if alias is None:
                return ERROR
            bound = bind_written(scope, ref.key, alias.generics, expr.args, expr.span)
            return ERROR if bound is None else in_type(alias.type, bound)
        case ast.BlockDecl():
            scope.error(
                "E1208",
                f"`{ref.item.name.text}` is a block, which is not a value's type",
                expr.span,
                help="a block can only be the type of a `sub`",
            )
        case _:
            message = f"`{ref.item.name.text}` is not a type"
            scope.error("E1208", message, expr.span, related=declared_at(ref))
    return ERROR


def in_order(generics: tuple[TGeneric, ...]) -> str:
    """What to say where more generic arguments are written than there are."""
    return f"they are `<{', '.join(g.name for g in generics)}>`, in this order"


def bind_written(
    scope: Scope,
    owner: str,
    generics: tuple[TGeneric, ...],
    written: tuple[ast.Expr, ...] | None,
    span: Span,
) -> dict[Symbol | DTypeVar, GenericArg] | None:
    """Generic arguments of `owner` written in order, defaults filled in; None after a report."""
    if scope.world.broken[owner]:
        return None
    args = written or ()
    list_ = Generics(owner)
    if len(args) > len(generics):
        scope.error(
            "E2111",
            f"{len(generics)} generic arguments are expected, {len(args)} are given",
            args[len(generics)].span,
            help=in_order(generics),
            folds=[Refused(list_, len(args))],
            follows=[list_],
        )
        return None
    out: dict[Symbol | DTypeVar, GenericArg] = {}
    for generic, arg in zip(generics, args, strict=False):
        value = generic_arg(scope, generic, arg)
        if value is None or not natural_arg(scope, generic, value, arg.span):
            return None
        out[generic.binder] = value
    for generic in generics[len(args) :]:
        if generic.default is None:
            names = ", ".join(g.name for g in generics)
            scope.error(
                "E2111",
                f"the generic argument for `{generic.name}` is missing",
                span,
                related=declared_at(generic),
                help=f"write all of them: `<{names}>`",
                folds=[Refused(list_, len(args))],
            )
            return None
        value = default_arg(scope, generic, generic.default, out, span)
        if value is None:
            return None
        out[generic.binder] = value
    scope.world.accepted[list_] += 1
    return out


def default_arg(
    scope: Scope, generic: TGeneric, default: GenericArg, bound: Bindings, span: Span
) -> GenericArg | None:
    """The default of a generic under the arguments before it; None after a report."""
    try:
        value = in_arg(default, bound)
    except DimError:
        message = f"the default `{default}` of `{generic.name}` divides by zero here"
        scope.error("E2206", message, span, related=declared_at(generic))
        return None
    return value if natural_arg(scope, generic, value, span) else None


@dataclass(frozen=True, slots=True)
class Unmet:
    """A `where` that does not hold at a use, and the finding, unless there was one about it."""

    finding: Finding | None


def obligations(
    scope: Scope,
    item: str,
    facts: tuple[Relation, ...],
    bindings: Bindings,
    span: Span,
    folds: Iterable[object] = (),
) -> bool:
    """Whether `unmet` finds nothing."""
    return unmet(scope, item, facts, bindings, span, folds) is None


def holds(scope: Scope, facts: tuple[Relation, ...], bindings: Bindings) -> bool:
    """Whether a `where` is provable under these generic arguments; nothing is reported."""
    try:
        return all(scope.facts.implies(in_relation(fact, bindings)) for fact in facts)
    except DimError:
        return False


def unmet(
    scope: Scope,
    item: str,
    facts: tuple[Relation, ...],
    bindings: Bindings,
    span: Span,
    folds: Iterable[object] = (),
) -> Unmet | None:
    """Prove `facts`, the `where` of `item`, which is used at `span`, under its generic arguments.
    One argument that is wrong may break several relations: the first is reported, the others are
    notes of it."""
    failed: list[tuple[str, Relation]] = []
    symbols: set[Symbol] = set()
    zero: Relation | None = None
    for fact in facts:
        try:
            needed = in_relation(fact, bindings)
        except DimError:
            zero = zero or fact
            continue
        if not scope.facts.implies(needed):
            failed.append((_required(scope, item, fact, needed, bindings), needed))
            symbols |= fact.symbols()
    if failed:
        message, needed = failed[0]
        more = [m.replace("is required here", "is required too", 1) for m, _ in failed[1:]]
        use = WhereUse(item, frozenset(symbols))
        others = [needed for _, needed in failed[1:]]
        found = scope.unproven(
            needed, "E2206", message, span, notes=more, use=use, folds=folds, others=others
        )
        return Unmet(found)
    if zero is not None:
        # The divisor is provably positive where it is declared, so that this is rare: a relation
        # that says so is found wrong first.
        message = f"`{zero}` is required here and divides by zero"
        return Unmet(scope.error("E2206", message, span))
    return None


def _required(scope: Scope, item: str, fact: Relation, needed: Relation, bindings: Bindings) -> str:
    given = _given(scope, item, fact, bindings)
    if str(needed) == str(fact):
        return f"`{fact}` is required here{given} and not provable"
    return f"`{fact}` is required here{given}: `{needed}` is not provable"


def _given(scope: Scope, item: str, fact: Relation, bindings: Bindings) -> str:
    """What a relation's generics are: the numbers that evaluating it has swallowed, and those
    whose names mean something else here."""
    table = dim_bindings(bindings)
    known = [s for s in sorted_symbols(fact.symbols()) if s in table]
    another = [s for s in known if _means_another(scope, s, table[s])]
    told = known if another else [s for s in known if table[s].as_int() is not None]
    of_item = f" of `{item.rpartition('::')[2]}`"
    names = [f"`{s}`{of_item}" if another else str(s) for s in told]
    given = [f"{name} = {table[s]}" for name, s in zip(names, told, strict=True)]
    return f" for {', '.join(given)}" if given else ""


def _means_another(scope: Scope, symbol: Symbol, value: Dim) -> bool:
    """Whether the name of a generic is that of another one here, and that one is not its value."""
    here = scope.generics.get(symbol.name)
    return here is not None and here.binder not in (symbol, value.as_symbol())
