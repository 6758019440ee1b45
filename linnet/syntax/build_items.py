"""Builds units, their parts and types; see `build.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linnet.source.files import Span
from linnet.syntax import ast
from linnet.syntax.tokens import Token

Parts = list[Any]


@dataclass(frozen=True, slots=True)
class BlockHead:
    """A block without its members."""

    public: bool
    name: ast.Name
    generics: tuple[ast.Generic, ...]
    where: tuple[ast.Expr, ...]
    span: Span


def join(first: Any, last: Any) -> Span:
    a, b = first.span, last.span
    return Span(a.file, a.start, b.end)


def name_of(token: Token) -> ast.Name:
    return ast.Name(token.text, token.span)


def names_of(tokens: list[Token]) -> tuple[ast.Name, ...]:
    return tuple(name_of(token) for token in tokens)


class Lists:
    """Lists and what passes through unchanged."""

    def same(self, c: Parts) -> Any:
        return c[0]

    def second(self, c: Parts) -> Any:
        return c[1]

    def absent(self, c: Parts) -> None:
        return None

    def nothing(self, c: Parts) -> Parts:
        return []

    def seq_one(self, c: Parts) -> Parts:
        return c

    def seq_next(self, c: Parts) -> Parts:
        c[0].append(c[1])
        return c[0]

    def seq_more(self, c: Parts) -> Parts:
        c[0].append(c[2])
        return c[0]

    path_one = seq_one
    path_more = seq_more

    def name(self, c: Parts) -> ast.Name:
        return name_of(c[0])


class Items(Lists):
    """Units and their parts."""

    def module_path(self, parts: list[Token]) -> ast.ModulePath:
        return ast.ModulePath(names_of(parts), join(parts[0], parts[-1]))

    def header(self, c: Parts) -> ast.ModulePath:
        return self.module_path(c[1])

    def use_module(self, c: Parts) -> ast.UseDecl:
        return ast.UseDecl(self.module_path(c[1]), None, join(c[0], c[1][-1]))

    def use_names(self, c: Parts) -> ast.UseDecl:
        return ast.UseDecl(self.module_path(c[1]), tuple(c[4]), join(c[0], c[5]))

    def use_plain(self, c: Parts) -> ast.UseName:
        return ast.UseName(name_of(c[0]), None)

    def use_renamed(self, c: Parts) -> ast.UseName:
        return ast.UseName(name_of(c[0]), name_of(c[2]))

    def function(self, c: Parts) -> ast.FunctionDecl:
        public, kind, name, generics, _, params, _, _, result, where, _, body, end = c
        first = public or kind
        return ast.FunctionDecl(
            kind.text,
            public is not None,
            name_of(name),
            tuple(generics),
            tuple(params),
            result,
            tuple(where),
            tuple(body),
            None,
            join(first, where[-1] if where else result),
            end.span,
            join(first, end),
        )

    def block_head(self, c: Parts) -> BlockHead:
        public, keyword, name, generics, where, brace = c
        span = join(public or keyword, brace)
        return BlockHead(public is not None, name_of(name), tuple(generics), tuple(where), span)

    def member(self, c: Parts) -> ast.Member:
        kind, name, _, type_, default = c
        span = join(kind, default or type_)
        return ast.Member(kind.text, name_of(name), type_, default, None, span)

    def struct_decl(self, c: Parts) -> ast.StructDecl:
        public, keyword, name, generics, where, _, fields, end = c
        return ast.StructDecl(
            public is not None,
            name_of(name),
            tuple(generics),
            tuple(where),
            tuple(fields),
            None,
            join(public or keyword, end),
        )

    def field(self, c: Parts) -> ast.StructField:
        return ast.StructField(name_of(c[0]), c[2], join(c[0], c[2]))

    def enum_decl(self, c: Parts) -> ast.EnumDecl:
        public, keyword, name, _, variants, end = c
        span = join(public or keyword, end)
        return ast.EnumDecl(public is not None, name_of(name), tuple(variants), None, span)

    def alias_decl(self, c: Parts) -> ast.AliasDecl:
        public, keyword, name, generics, _, type_ = c
        span = join(public or keyword, type_)
        return ast.AliasDecl(public is not None, name_of(name), tuple(generics), type_, None, span)

    def const_decl(self, c: Parts) -> ast.ConstDecl:
        public, keyword, name, annotation, _, value = c
        span = join(public or keyword, value)
        return ast.ConstDecl(public is not None, name_of(name), annotation, value, None, span)

    def plain_generic(self, c: Parts) -> ast.Generic:
        return ast.Generic(name_of(c[0]), False, name_of(c[2]), c[3], join(c[0], c[3] or c[2]))

    def pack_generic(self, c: Parts) -> ast.Generic:
        return ast.Generic(name_of(c[1]), True, name_of(c[3]), c[4], join(c[0], c[4] or c[3]))

    def param(self, c: Parts) -> ast.Param:
        return ast.Param(name_of(c[0]), c[2], c[3], join(c[0], c[3] or c[2]))


class Types(Items):
    """Types."""

    def optional_type(self, c: Parts) -> ast.TypeExpr:
        return ast.OptionalTypeExpr(c[0], join(c[0], c[1]))

    def named_type(self, c: Parts) -> ast.TypeExpr:
        return ast.NamedTypeExpr(names_of(c[0]), None, join(c[0][0], c[0][-1]))

    def generic_type(self, c: Parts) -> ast.TypeExpr:
        return ast.NamedTypeExpr(names_of(c[0]), tuple(c[2]), join(c[0][0], c[3]))

    def tensor_type(self, c: Parts) -> ast.TypeExpr:
        return ast.TensorTypeExpr(tuple(c[2]), c[4], join(c[0], c[5]))

    def array_type(self, c: Parts) -> ast.TypeExpr:
        return ast.ArrayTypeExpr(c[1], c[3], join(c[0], c[4]))

    def tuple_type(self, c: Parts) -> ast.TypeExpr:
        return ast.TupleTypeExpr((c[1], *c[3]), join(c[0], c[4]))
