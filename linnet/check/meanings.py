"""What a name may mean. `Scope.lookup` gives one of these; who asks tells them apart by `match`."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.check.names import ItemRef, Missing, ModuleRef
from linnet.check.typed import IndexVar, Local, TFunction, TGeneric, TMemberDecl, TSub
from linnet.dtypes import DType
from linnet.source.files import Span
from linnet.syntax import ast


@dataclass(slots=True)
class IndexUse:
    """An index of index notation in scope, and the first access that uses it. Its extent is
    `known` once that access had a type."""

    var: IndexVar
    span: Span
    first: Span | None = None
    known: bool = False


@dataclass(frozen=True, slots=True)
class LoopBlock:
    """`layer` inside `static for layer in layers`: one block of the array `sub`."""

    local: Local
    sub: TSub


@dataclass(frozen=True, slots=True)
class PreludeFunction:
    """A function of the prelude."""

    name: str


# A `TFunction` is a method of the block around, any other function an `ItemRef`.
Meaning = (
    IndexUse
    | Local
    | LoopBlock
    | TGeneric
    | TMemberDecl
    | TSub
    | TFunction
    | ItemRef
    | ModuleRef
    | DType
    | PreludeFunction
    | Missing
)


_ITEMS: dict[type[ast.Item], str] = {
    ast.ConstDecl: "a `const`",
    ast.AliasDecl: "an alias",
    ast.StructDecl: "a struct",
    ast.EnumDecl: "an enum",
    ast.FunctionDecl: "a function",
    ast.BlockDecl: "a block",
}


def declared_at(found: Meaning) -> list[tuple[Span, str]]:
    """The place of the declaration, to stand beside a finding."""
    match found:
        case Local() | TGeneric() | TMemberDecl() | TSub() | TFunction() | IndexUse():
            return [(found.span, "declared here")]
        case LoopBlock(local=local):
            return [(local.span, "declared here")]
        case ItemRef(item=item):
            return [(item.name.span, "declared here")]
        case _:
            return []


def kind_of(found: Meaning) -> str:
    """What `found` is, for a message: `a module`."""
    match found:
        case IndexUse():
            return "an index"
        case Local():
            return "a value"
        case LoopBlock() | TSub():
            return "a block"
        case TGeneric(kind=kind):
            return f"a {kind}"
        case TMemberDecl(kind=kind):
            return f"a `{kind}`"
        case TFunction():
            return "a method"
        case ModuleRef():
            return "a module"
        case DType():
            return "a dtype"
        case PreludeFunction():
            return "a function of the prelude"
        case ItemRef(item=item):
            return _ITEMS[type(item)]
        case Missing():
            return "nothing"
