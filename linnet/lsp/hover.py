"""What a place says of itself: the declaration of its name with its documentation, and types."""

from __future__ import annotations

from dataclasses import dataclass

from linnet.check.intrinsics import TABLE, intrinsic
from linnet.dtypes import BY_NAME, KINDS
from linnet.lsp.analysis import Analysis
from linnet.lsp.declared import Declaration
from linnet.source.files import SourceFile, Span
from linnet.syntax import ast

_CALLED = frozenset({"function", "method"})


@dataclass(frozen=True, slots=True)
class Said:
    """Markdown about a place."""

    span: Span
    text: str


def hover(analysis: Analysis, file: SourceFile, offset: int) -> Said | None:
    """What is to be said of a place, None if nothing."""
    found = analysis.names.at(file, offset)
    if found is not None and found.declaration is not None:
        meant = found.declaration.meant
        text = fenced(described(analysis, meant))
        if meant.kind in _CALLED and found.span != meant.span:
            call = analysis.types.smallest(file, found.span.start)
            text += f"\n\ngives `{call[1]}`" if call is not None else ""
        doc = documentation(meant)
        return Said(found.span, f"{text}\n\n{doc}" if doc else text)
    if found is not None and (built_in := _built_in(found.span.text)):
        typed = analysis.types.smallest(file, found.span.start)
        gives = f"\n\ngives `{typed[1]}`" if typed and intrinsic(found.span.text) else ""
        return Said(found.span, built_in + gives)
    typed = analysis.types.smallest(file, offset)
    return None if typed is None else Said(typed[0], fenced(str(typed[1])))


def described(analysis: Analysis, declaration: Declaration) -> str:
    """A declaration as it is written, with the type that the checker found where none is."""
    node, name = declaration.node, declaration.name
    type_ = analysis.types.names.get(declaration.span)
    match declaration.kind, node:
        case "module", _:
            return f"module {declaration.module}"
        case "index", _:
            extent = analysis.names.extents.get(declaration)
            return f"{name} in 0..{extent}" if extent else name
        case "parameter", ast.Param():
            return node.span.text
        case "local", ast.LetStmt(mutable=True):
            return f"var {name}: {type_}" if type_ else f"var {name}"
        case "local", _ if declaration.of is not None:
            return f"{name} of {described(analysis, declaration.of)}"
        case "local", _:
            return f"let {name}: {type_}" if type_ else f"let {name}"
        case _, ast.FunctionDecl() | ast.BlockDecl():
            return node.head.text
        case _, ast.UseName():
            return name
        case _:
            return node.span.text


def documentation(declaration: Declaration) -> str | None:
    """What the documentation comment of a declaration says."""
    match declaration.node:
        case (
            ast.Module(doc=doc)
            | ast.FunctionDecl(doc=doc)
            | ast.BlockDecl(doc=doc)
            | ast.StructDecl(doc=doc)
            | ast.EnumDecl(doc=doc)
            | ast.AliasDecl(doc=doc)
            | ast.ConstDecl(doc=doc)
            | ast.Member(doc=doc)
            | ast.StructField(doc=doc)
            | ast.EnumVariant(doc=doc)
            | ast.Param(doc=doc)
        ):
            return doc
        case _:
            return None


def fenced(code: str) -> str:
    """Text of the language, in Markdown."""
    return f"```linnet\n{code}\n```"


def _built_in(name: str) -> str | None:
    """What is to be said of a name that no text declares."""
    function = intrinsic(name)
    if function is not None:
        row = TABLE[function]
        params = [*(["..."] if row.parts else []), *row.params]
        generics = "<T>" if row.dtype else ""
        signature = f"{name}{generics}({', '.join(params)})"
        return f"{fenced(signature)}\n\nof the prelude"
    if name in BY_NAME:
        return f"{fenced(name)}\n\na dtype"
    if name in KINDS:
        dtypes = ", ".join(f"`{dtype}`" for dtype in BY_NAME.values() if dtype in KINDS[name])
        return f"{fenced(name)}\n\na kind of dtypes: {dtypes}"
    return None
