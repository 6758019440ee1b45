"""Items that are named by `Name` or `module.Name`, and the findings where they are not."""

from __future__ import annotations

from linnet.check.meanings import declared_at, kind_of
from linnet.check.names import ItemRef, Missing, ModuleRef, lookup_in, refusal
from linnet.check.scope import Scope
from linnet.check.undeclared import of_package
from linnet.check.unknown import unknown_name
from linnet.syntax import ast


def item_of(scope: Scope, module: ModuleRef, name: ast.Name) -> ItemRef | None:
    """The public item `name` of a module; None after a report."""
    target = scope.world.scopes[module.module]
    found = lookup_in(target, name.text)
    if isinstance(found, ItemRef):
        return found
    finding = refusal(target, name, found)
    if finding is not None:
        related = [(place.span, place.label) for place in finding.related]
        folds: list[object] = [("item", scope.function, target.key, name.text)]
        if finding.code == "E1201":
            folds.append(of_package(scope, target.key, ("item", target.key, name.text)))
        scope.error(
            finding.code, finding.message, name.span, "", related, (), finding.help, folds=folds
        )
    return None


def item_at(scope: Scope, e: ast.Expr) -> ItemRef | None:
    """The item that an expression names, of whatever form; None, and no report, if none."""
    match e:
        case ast.NameExpr(name):
            found = scope.lookup(name)
        case ast.FieldExpr(ast.NameExpr(module), name):
            outer = scope.lookup(module)
            if not isinstance(outer, ModuleRef):
                return None
            found = lookup_in(scope.world.scopes[outer.module], name.text)
        case _:
            return None
    return found if isinstance(found, ItemRef) else None


def qualified(scope: Scope, e: ast.Expr) -> tuple[ast.Name, ast.Name] | None:
    """The path `module.Name`; None for a field of a value, and for all else."""
    match e:
        case ast.FieldExpr(ast.NameExpr(module, span), name) if isinstance(
            scope.lookup(module), ItemRef | ModuleRef | Missing
        ):
            return ast.Name(module, span), name
        case _:
            return None


def spelled(e: ast.Expr) -> list[ast.Name] | None:
    """The names of `a.b.c`; None for what is not made of names alone."""
    names: list[ast.Name] = []
    while isinstance(e, ast.FieldExpr):
        names.append(e.name)
        e = e.base
    return [ast.Name(e.name, e.span), *reversed(names)] if isinstance(e, ast.NameExpr) else None


def rootless(scope: Scope, e: ast.FieldExpr) -> bool:
    """Whether the first name of `torch.nn.exp` means nothing, which is then reported."""
    names = spelled(e)
    if names is None or not isinstance(scope.lookup(names[0].text), Missing):
        return False
    unknown_name(scope, names[0].text, names[0].span, names[-1].text)
    return True


def resolve_path(scope: Scope, path: tuple[ast.Name, ...]) -> ItemRef | None:
    """The item that `Name` or `module.Name` means; None after a report."""
    first, *rest = path
    found = scope.read(first.text)
    match found:
        case Missing():
            unknown_name(scope, first.text, first.span, rest[-1].text if rest else None)
        case ModuleRef() if rest:
            return item_of(scope, found, rest[0])
        case ItemRef() if not rest:
            return found
        case ItemRef():
            message = f"`{first.text}` is not a module"
            scope.error("E1208", message, rest[0].span, related=declared_at(found))
        case _:
            message = f"`{first.text}` is {kind_of(found)}, not an item"
            scope.error("E1208", message, first.span, related=declared_at(found))
    return None
