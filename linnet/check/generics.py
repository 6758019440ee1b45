"""Generics, and what a `where` says of them."""

from __future__ import annotations

from dataclasses import replace

from linnet.check.dimexpr import generic_arg, relation_of
from linnet.check.explain import explain
from linnet.check.scope import Scope
from linnet.check.typed import TGeneric
from linnet.dims.dims import Symbol
from linnet.dims.prover import Facts, Relation
from linnet.dtypes import KINDS, DTypeVar
from linnet.source.files import Span
from linnet.source.suggest import did_you_mean
from linnet.syntax import ast


def generics_of(
    scope: Scope, declared: tuple[ast.Generic, ...], where: tuple[ast.Expr, ...]
) -> tuple[tuple[TGeneric, ...], tuple[Relation, ...]]:
    """Bring generics and what a `where` says of them into `scope`. Defaults come last, for they
    may divide by what the `where` makes positive."""
    plain = _plain_generics(scope, declared)
    scope.world.broken[scope.function] = frozenset(scope.broken)
    facts = facts_of(scope, where)
    return _with_defaults(scope, declared, plain), facts


def _plain_generics(scope: Scope, declared: tuple[ast.Generic, ...]) -> list[TGeneric]:
    out: list[TGeneric] = []
    for generic in declared:
        name = generic.name.text
        if not _known_kind(scope, generic):
            scope.broken.add(name)
            continue
        if name in scope.generics:
            scope.error(
                "E1205",
                f"two generics are named `{name}`",
                generic.name.span,
                related=[(scope.generics[name].span, "the first")],
            )
            scope.broken.add(name)
            continue
        kind = generic.kind.text
        binder = Symbol(name, kind == "Shape") if kind in ("Dim", "Shape") else DTypeVar(name, kind)
        scope.generics[name] = TGeneric(name, kind, binder, None, generic.name.span, scope.function)
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


def in_order(where: tuple[ast.Expr, ...]) -> list[ast.Expr]:
    """The relations of a `where` as facts keep them: those that divide come last."""
    return sorted(where, key=divides)


def facts_of(scope: Scope, where: tuple[ast.Expr, ...]) -> tuple[Relation, ...]:
    """Assume a `where` in `scope`. The order is free: a relation that divides may use all that do
    not, and the ones before it that do."""
    before, out = scope.facts, list[tuple[Relation, Span]]()
    for expr in in_order(where):
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
            known = explain(scope.facts, relation).notes[1:] if kept or before.relations else ()
            scope.error("E2206", f"`{relation}` can never hold", span, notes=known)
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


def divides(expr: ast.Expr) -> bool:
    """Whether a relation, or a part of one, divides."""
    match expr:
        case ast.BinaryExpr(op, left, right):
            return op in ("/", "%") or divides(left) or divides(right)
        case ast.UnaryExpr(operand=operand):
            return divides(operand)
        case ast.CallExpr(args=args):
            return any(divides(a.value) for a in args)
        case _:
            return False
