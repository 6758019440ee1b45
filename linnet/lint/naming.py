"""W2007: types and generics are named `LikeThis`, values and functions `like_this`, constants
`LIKE_THIS` or as what they stand for in a shape.

Members of a block are left alone: their names are those of a checkpoint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from linnet.check.intrinsics import PRELUDE
from linnet.dtypes import BY_NAME, KINDS
from linnet.lint.subject import Subject
from linnet.lint.trees import declared, written
from linnet.source.diagnostics import Diagnostic
from linnet.syntax import ast
from linnet.syntax.nodes import nodes
from linnet.syntax.tokens import KEYWORDS, RESERVED

_CAMEL = re.compile(r"_*[A-Z][A-Za-z0-9]*")
_SNAKE = re.compile(r"[a-z0-9_]+")
_CONST = re.compile(r"_*[A-Z][A-Za-z0-9_]*")


# What no name may be, or what would be looked for under such a name.
_RESERVED = KEYWORDS | RESERVED | PRELUDE | {*BY_NAME, *KINDS, "Dim", "Shape"}


def names(subject: Subject) -> Iterator[Diagnostic]:
    """W2007. A better name is proposed if it is free."""
    taken = _Taken(subject.tree)
    for name, what, better in _misnamed(subject):
        message = f"`{name.text}` is not how {what} is named"
        free = better != name.text and better not in _RESERVED and not taken(better, name)
        help_ = f"name it `{better}`" if free else None
        yield Diagnostic("W2007", message, name.span, help=help_)


def _misnamed(subject: Subject) -> Iterator[tuple[ast.Name, str, str]]:
    """The names with what they are of and how they would be written."""
    for name, what in _of_values(subject):
        if not _SNAKE.fullmatch(name.text):
            yield name, what, _snake(name.text)
    for name, what in _of_types(subject.tree):
        if not _CAMEL.fullmatch(name.text):
            yield name, what, _camel(name.text)
    for item in subject.tree.items:
        if isinstance(item, ast.ConstDecl) and not _CONST.fullmatch(item.name.text):
            yield item.name, "a constant", _snake(item.name.text).upper()


class _Taken:
    """Whether a name has a meaning where another stands: in its item, or in all the module if
    the other is that of an item."""

    def __init__(self, tree: ast.Module) -> None:
        self.all = written(tree)
        self.own = {item.name: written(item) for item in tree.items}
        self.items = {item.span: self.own[item.name] for item in tree.items}
        self.module = written(tree.uses) | {name.text for name in self.own}

    def __call__(self, better: str, name: ast.Name) -> bool:
        if name in self.own:
            return better in self.all
        inside = (w for span, w in self.items.items() if span.start <= name.span.start < span.end)
        return better in self.module or better in next(inside, ())


def _of_values(subject: Subject) -> Iterator[tuple[ast.Name, str]]:
    yield subject.tree.path.parts[-1], "a module"
    for item in subject.tree.items:
        if isinstance(item, ast.StructDecl):
            yield from ((field.name, "a field") for field in item.fields)
    for decl, block in subject.functions():
        yield decl.name, "a function" if block is None else "a method"
        yield from ((param.name, "a parameter") for param in decl.params)
        yield from ((name, "a local") for name in declared(decl.body))
        for node in nodes(decl.body):
            if isinstance(node, ast.IndexName):
                yield ast.Name(node.name, node.span), "an index"


def _of_types(tree: ast.Module) -> Iterator[tuple[ast.Name, str]]:
    for item in tree.items:
        match item:
            case ast.BlockDecl(methods=methods):
                yield item.name, "a block"
                for method in methods:
                    yield from ((generic.name, "a generic") for generic in method.generics)
            case ast.StructDecl():
                yield item.name, "a struct"
            case ast.AliasDecl():
                yield item.name, "a type"
            case ast.EnumDecl(variants=variants):
                yield item.name, "an enum"
                yield from ((variant.name, "a variant") for variant in variants)
            case ast.FunctionDecl() | ast.ConstDecl():
                pass
        if not isinstance(item, ast.EnumDecl | ast.ConstDecl):
            yield from ((generic.name, "a generic") for generic in item.generics)


def _snake(text: str) -> str:
    """`KvHeads` as `kv_heads`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


def _camel(text: str) -> str:
    """`_kv_heads` as `_KvHeads`: a leading `_` has a meaning."""
    name = text.lstrip("_")
    marks = text.removesuffix(name)
    return marks + "".join(part[:1].upper() + part[1:] for part in name.split("_"))
