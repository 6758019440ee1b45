"""Builds units and their parts; see `build.py`."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.source.files import Span
from linnet.syntax import ast
from linnet.syntax.build_parts import Parts, join, name_of, names_of
from linnet.syntax.tokens import Token


@dataclass(frozen=True, slots=True)
class BlockHead:
    """A block without its members."""

    public: bool
    name: ast.Name
    generics: tuple[ast.Generic, ...]
    where: tuple[ast.Expr, ...]
    span: Span


def _module_path(parts: list[Token]) -> ast.ModulePath:
    return ast.ModulePath(names_of(parts), join(parts[0], parts[-1]))


class Items:
    """Units and their parts. Documentation is added by the parser, which knows the comments."""

    def header(self, c: Parts) -> ast.ModulePath:
        _, path = c
        return _module_path(path)

    def use_module(self, c: Parts) -> ast.UseDecl:
        keyword, path = c
        return ast.UseDecl(_module_path(path), None, join(keyword, path[-1]))

    def use_names(self, c: Parts) -> ast.UseDecl:
        keyword, path, _, _, names, end = c
        return ast.UseDecl(_module_path(path), tuple(names), join(keyword, end))

    def use_plain(self, c: Parts) -> ast.UseName:
        (name,) = c
        return ast.UseName(name_of(name), None)

    def use_renamed(self, c: Parts) -> ast.UseName:
        name, _, alias = c
        return ast.UseName(name_of(name), name_of(alias))

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
        name, _, type_ = c
        return ast.StructField(name_of(name), type_, None, join(name, type_))

    def enum_decl(self, c: Parts) -> ast.EnumDecl:
        public, keyword, name, _, variants, end = c
        span = join(public or keyword, end)
        return ast.EnumDecl(public is not None, name_of(name), tuple(variants), None, span)

    def variant(self, c: Parts) -> ast.EnumVariant:
        (name,) = c
        return ast.EnumVariant(name_of(name), None, name.span)

    def alias_decl(self, c: Parts) -> ast.AliasDecl:
        public, keyword, name, generics, _, type_ = c
        span = join(public or keyword, type_)
        return ast.AliasDecl(public is not None, name_of(name), tuple(generics), type_, None, span)

    def const_decl(self, c: Parts) -> ast.ConstDecl:
        public, keyword, name, annotation, _, value = c
        span = join(public or keyword, value)
        return ast.ConstDecl(public is not None, name_of(name), annotation, value, None, span)

    def plain_generic(self, c: Parts) -> ast.Generic:
        name, _, kind, default = c
        span = join(name, default or kind)
        return ast.Generic(name_of(name), False, name_of(kind), default, span)

    def pack_generic(self, c: Parts) -> ast.Generic:
        star, name, _, kind, default = c
        span = join(star, default or kind)
        return ast.Generic(name_of(name), True, name_of(kind), default, span)

    def param(self, c: Parts) -> ast.Param:
        name, _, type_, default = c
        return ast.Param(name_of(name), type_, default, None, join(name, default or type_))


class Types:
    """Types."""

    def optional_type(self, c: Parts) -> ast.TypeExpr:
        inner, mark = c
        return ast.OptionalTypeExpr(inner, join(inner, mark))

    def named_type(self, c: Parts) -> ast.TypeExpr:
        (path,) = c
        return ast.NamedTypeExpr(names_of(path), None, join(path[0], path[-1]))

    def generic_type(self, c: Parts) -> ast.TypeExpr:
        path, _, args, end = c
        return ast.NamedTypeExpr(names_of(path), tuple(args), join(path[0], end))

    def tensor_type(self, c: Parts) -> ast.TypeExpr:
        word, _, dims, _, dtype, end = c
        return ast.TensorTypeExpr(tuple(dims), dtype, join(word, end))

    def array_type(self, c: Parts) -> ast.TypeExpr:
        start, element, _, count, end = c
        return ast.ArrayTypeExpr(element, count, join(start, end))

    def tuple_type(self, c: Parts) -> ast.TypeExpr:
        start, first, _, rest, end = c
        return ast.TupleTypeExpr((first, *rest), join(start, end))
