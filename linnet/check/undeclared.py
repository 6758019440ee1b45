"""Where a name that means nothing was to be declared, as far as its uses tell.

A name that nothing in the file declares was most likely an item, an import or a member, and is
missing once. One that some function declares for itself, say `x`, is missing in each function that
has no `x` of its own.
"""

from __future__ import annotations

from linnet.check.keys import Everywhere, Generics, Parameters, Sought
from linnet.check.scope import Scope
from linnet.source.files import Span
from linnet.syntax import ast
from linnet.syntax.nodes import nodes

_NAMING = (ast.Generic, ast.Param, ast.LetStmt, ast.Member, ast.FunctionDecl, ast.SomePattern)


def missing(scope: Scope, name: str) -> list[object]:
    """What a finding about `name`, which means nothing, has in common with others."""
    module, block = scope.module, scope.block
    keys: list[object] = [("name", scope.function, name), Sought(("index", scope.function, name))]
    if block is not None:
        # A method that is missing here, and that others ask the block for.
        keys.append(Everywhere(("method", block.ref.key, name)))
    if name not in _declared(scope, module.tree.span, module.tree.items):
        return [*keys, Everywhere(("item", module.key, name))]
    if block is None:
        return keys
    decl = block.ref.item
    assert isinstance(decl, ast.BlockDecl)
    if name not in _declared(scope, decl.span, decl.methods):
        return [*keys, ("name", block.ref.key, name)]
    return [*keys, Sought(("name", block.ref.key, name))]


def seek(scope: Scope, name: str) -> list[object]:
    """`missing` for a finding that may say more of `name` than that nothing has it."""
    return [key if isinstance(key, Sought) else Sought(key) for key in missing(scope, name)]


def lacking(scope: Scope) -> list[object]:
    """What may lack one, where a value or a type names what is not declared."""
    things: list[object] = [Parameters(scope.function), Generics(scope.function)]
    return things if scope.block is None else [*things, Generics(scope.block.ref.key)]


def lost(scope: Scope, kind: str, owner: str, name: str) -> object:
    """What findings about `name`, a method, field or variant that `owner` has not, have in
    common."""
    return of_package(scope, owner.partition("::")[0], (kind, owner, name))


def of_package(scope: Scope, module: str, key: object) -> object:
    """`key` of a finding about what `module` lacks. Another package has not lost it: there each
    block or function that asks for it may be wrong on its own."""
    same = scope.world.scopes[module].package == scope.module.package
    return Everywhere(key) if same else key


def _declared(scope: Scope, whole: Span, items: tuple[ast.Item, ...]) -> frozenset[str]:
    """The names that each of `items` declares for itself and what is in it. They are all that is of
    interest in `whole`, a file or a block."""
    table = scope.world.declared
    if whole not in table:
        table[whole] = frozenset[str]().union(*map(_names, items))
    return table[whole]


def _names(item: ast.Item) -> set[str]:
    names: set[str] = set()
    for node in nodes(item):
        if isinstance(node, _NAMING) and node is not item:
            names.add(node.name.text)
        elif isinstance(node, ast.LetTupleStmt):
            names.update(name.text for name in node.names)
        elif isinstance(node, ast.StaticForStmt):
            names.add(node.variable.text)
        elif isinstance(node, ast.IndexName):
            names.add(node.name)
    return names
