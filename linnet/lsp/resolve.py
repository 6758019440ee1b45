"""The table of all names of a check: which declaration each name of each module means."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.check.findings import Findings
from linnet.check.names import ItemRef, ModuleScope, build_scopes
from linnet.lsp.bodies import Bodies, words_of
from linnet.lsp.declare import declare, declare_module
from linnet.lsp.declared import Declaration, Names
from linnet.lsp.probe import Asked, Probe
from linnet.lsp.types_at import TypesAt
from linnet.lsp.view import View
from linnet.packages.modules import LoadedModule
from linnet.source.diagnostics import Sink
from linnet.syntax import ast


def resolve(modules: Iterable[LoadedModule], types: TypesAt) -> Names:
    """The names of `modules`. Imports are the checker's; mistakes were reported by it."""
    found = list(modules)
    names, scopes = _declared(found)
    for module in found:
        view = _view(names, module, scopes[module.key])
        _go_through(Bodies(names, types, module.key, words_of(module.file)), view, module.tree)
    return names


def probe(modules: Iterable[LoadedModule], types: TypesAt, module: LoadedModule) -> Asked | None:
    """What is asked for where `module`, one of `modules`, has the `WORD` of a probe."""
    names, scopes = _declared(list(modules))
    made = Probe(names, types, module.key, words_of(module.file))
    _go_through(made, _view(names, module, scopes[module.key]), module.tree)
    return made.asked


def visible_items(modules: Iterable[LoadedModule], module: LoadedModule) -> dict[str, Declaration]:
    """The items and imports of one of some modules."""
    names, scopes = _declared(list(modules))
    return _view(names, module, scopes[module.key]).items


def _declared(modules: list[LoadedModule]) -> tuple[Names, dict[str, ModuleScope]]:
    """The declarations of items, and the checker's scopes of them."""
    names = Names()
    for module in modules:
        declare_module(names, module.key, module.tree)
    return names, build_scopes(modules, Findings(Sink()))


def _go_through(bodies: Bodies, view: View, tree: ast.Module) -> None:
    """Note the names of all items of a module."""
    for item in tree.items:
        _item(bodies, view, bodies.names.modules[bodies.module], item)


def _view(names: Names, module: LoadedModule, scope: ModuleScope) -> View:
    """What is visible in a module, its imports noted."""
    imports = _imports(names, module, scope)
    return View({**names.modules[module.key].parts, **imports})


def _imports(names: Names, module: LoadedModule, scope: ModuleScope) -> dict[str, Declaration]:
    """What the `use` lines bring, by the names that it has here."""
    found: dict[str, Declaration] = {}
    for number, use in enumerate(module.tree.uses):
        target = names.modules.get(module.uses.get(number, ""))
        names.mention(use.path.parts[-1].span, target)
        if use.names is None and target is not None:
            found.setdefault(use.path.parts[-1].text, target)
        for entry in use.names or ():
            item = names.mention(entry.name.span, target and target.parts.get(entry.name.text))
            if entry.alias is not None:
                alias = declare(names, "import", entry.alias, entry, module.key)
                alias.of, item = item, alias
            if item is not None:
                found.setdefault(item.name, item)
    return {name: d for name, d in found.items() if _bound(scope, name)}


def _bound(scope: ModuleScope, name: str) -> bool:
    """Whether the checker binds the import: not one of a name that is taken, or of a private item,
    which is a mistake but still no other item."""
    return isinstance(scope.imports.get(name), ItemRef) or name not in scope.items


def _item(bodies: Bodies, view: View, module: Declaration, item: ast.Item) -> None:
    parts = _parts_of(module, item)
    match item:
        case ast.FunctionDecl():
            _function(bodies, view, item, parts)
        case ast.BlockDecl():
            inner = _generics(bodies, view, item.generics)
            inner = View(inner.items, parts, inner.generics)
            bodies.exprs(inner, item.where)
            for member in item.members:
                bodies.type(inner, member.type)
                bodies.exprs(inner, (member.default,))
            for method in item.methods:
                found = parts.get(method.name.text)
                _function(bodies, inner, method, found.parts if found else {})
        case ast.StructDecl():
            inner = _generics(bodies, view, item.generics)
            bodies.exprs(inner, item.where)
            for field in item.fields:
                bodies.type(inner, field.type)
        case ast.AliasDecl():
            bodies.type(_generics(bodies, view, item.generics), item.type)
        case ast.ConstDecl():
            if item.type is not None:
                bodies.type(view, item.type)
            bodies.expr(view, item.value)
        case ast.EnumDecl():
            pass


def _parts_of(module: Declaration, item: ast.Item) -> dict[str, Declaration]:
    """What an item declares; nothing where it is the second of its name."""
    found = module.parts.get(item.name.text)
    return found.parts if found is not None and found.node is item else {}


def _function(
    bodies: Bodies, view: View, decl: ast.FunctionDecl, params: dict[str, Declaration]
) -> None:
    inner = _generics(bodies, view, decl.generics)
    bodies.exprs(inner, decl.where)
    for param in decl.params:
        bodies.type(inner, param.type)
        bodies.exprs(inner, (param.default,))
    bodies.type(inner, decl.result)
    bodies.body(inner.inside(dict(params)), decl.body)


def _generics(bodies: Bodies, view: View, generics: Iterable[ast.Generic]) -> View:
    """The view inside an item with generics; a default may name those before it."""
    found: dict[str, Declaration] = {}
    for generic in generics:
        made = declare(bodies.names, "generic", generic.name, generic, bodies.module)
        bodies.exprs(view.with_generics(found), (generic.default,))
        found.setdefault(generic.name.text, made)
    return view.with_generics(found)
