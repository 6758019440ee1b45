"""The declarations of modules: items and what they declare for others to name."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.lsp.declared import Declaration, Kind, Names, Node
from linnet.source.files import Span
from linnet.syntax import ast

ITEMS: dict[type[ast.Item], Kind] = {
    ast.FunctionDecl: "function",
    ast.BlockDecl: "block",
    ast.StructDecl: "struct",
    ast.EnumDecl: "enum",
    ast.AliasDecl: "alias",
    ast.ConstDecl: "const",
}


def declare_module(names: Names, key: str, tree: ast.Module) -> Declaration:
    """A module and its items."""
    span = tree.path.parts[-1].span
    module = Declaration("module", tree.path.parts[-1].text, span, tree, key)
    names.modules[key] = module
    if span.start != span.end:
        names.mention(span, module)
    for item in tree.items:
        _part(module, _item(names, key, item))
    return module


def declare(names: Names, kind: Kind, name: ast.Name, node: Node, module: str) -> Declaration:
    """A name at its place."""
    return declared_at(names, kind, name.text, name.span, node, module)


def declared_at(
    names: Names, kind: Kind, name: str, span: Span, node: Node, module: str
) -> Declaration:
    """A name at a place."""
    declaration = Declaration(kind, name, span, node, module)
    names.mention(span, declaration)
    return declaration


def _part(whole: Declaration, part: Declaration) -> None:
    # The second of one name is a mistake, and what is named is the first.
    whole.parts.setdefault(part.name, part)


def _item(names: Names, module: str, item: ast.Item) -> Declaration:
    made = declare(names, ITEMS[type(item)], item.name, item, module)
    match item:
        case ast.FunctionDecl():
            _params(names, made, item)
        case ast.StructDecl(fields=fields):
            _all(names, made, "field", fields)
        case ast.EnumDecl(variants=variants):
            _all(names, made, "variant", variants)
        case ast.BlockDecl(members=members, methods=methods):
            _all(names, made, "member", members)
            for method in methods:
                part = declare(names, "method", method.name, method, module)
                _params(names, part, method)
                _part(made, part)
        case _:
            pass
    return made


def _params(names: Names, function: Declaration, decl: ast.FunctionDecl) -> None:
    _all(names, function, "parameter", decl.params)


def _all(
    names: Names,
    whole: Declaration,
    kind: Kind,
    nodes: Iterable[ast.StructField | ast.EnumVariant | ast.Member | ast.Param],
) -> None:
    for node in nodes:
        _part(whole, declare(names, kind, node.name, node, whole.module))
