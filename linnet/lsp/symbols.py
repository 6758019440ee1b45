"""The outline of a module."""

from __future__ import annotations

from dataclasses import dataclass, field

from lsprotocol.types import SymbolKind

from linnet.source.files import Span
from linnet.syntax import ast

_KINDS: dict[type[ast.Item | ast.Member | ast.StructField | ast.EnumVariant], SymbolKind] = {
    ast.FunctionDecl: SymbolKind.Function,
    ast.BlockDecl: SymbolKind.Class,
    ast.StructDecl: SymbolKind.Struct,
    ast.EnumDecl: SymbolKind.Enum,
    ast.AliasDecl: SymbolKind.Interface,
    ast.ConstDecl: SymbolKind.Constant,
    ast.Member: SymbolKind.Field,
    ast.StructField: SymbolKind.Field,
    ast.EnumVariant: SymbolKind.EnumMember,
}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declaration and those inside it; `detail` is its type or the like."""

    name: str
    kind: SymbolKind
    detail: str
    selection: Span
    span: Span
    inside: list[Symbol] = field(default_factory=list["Symbol"])


def symbols(tree: ast.Module) -> list[Symbol]:
    """The items of a module."""
    return [_symbol(item) for item in tree.items]


def _symbol(
    node: ast.Item | ast.Member | ast.StructField | ast.EnumVariant, method: bool = False
) -> Symbol:
    kind = SymbolKind.Method if method else _KINDS[type(node)]
    made = Symbol(node.name.text, kind, _detail(node), node.name.span, node.span)
    match node:
        case ast.BlockDecl(members=members, methods=methods):
            made.inside.extend(map(_symbol, members))
            made.inside.extend(_symbol(m, True) for m in methods)
            made.inside.sort(key=lambda s: s.span.start)
        case ast.StructDecl(fields=parts) | ast.EnumDecl(variants=parts):
            made.inside.extend(map(_symbol, parts))
        case _:
            pass
    return made


def _detail(node: ast.Item | ast.Member | ast.StructField | ast.EnumVariant) -> str:
    match node:
        case ast.Member(kind=kind, type=type_):
            return f"{kind} {type_.span.text}"
        case ast.StructField(type=type_) | ast.AliasDecl(type=type_):
            return type_.span.text
        case ast.FunctionDecl(kind=kind, result=result):
            return f"{kind} -> {result.span.text}"
        case ast.ConstDecl(value=value):
            return value.span.text
        case _:
            return ""
