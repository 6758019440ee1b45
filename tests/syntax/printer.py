"""Trees as text again, with as few parentheses as their reading allows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any, cast

from linnet.source.files import Span
from linnet.syntax import ast

_LEVELS = [
    ("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="),
    ("|",), ("^",), ("&",), ("+", "-"), ("*", "/", "%"),
]  # fmt: skip
_LEVEL = {op: n for n, ops in enumerate(_LEVELS, 1) for op in ops}
_COMPARED = _LEVEL["<"]
_UNARY, _POSTFIX = 10, 11
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\\": "\\\\", '"': '\\"'}


def bare(node: Any) -> Any:
    """A tree without its places: two texts that mean the same have equal ones."""
    if isinstance(node, tuple):
        return tuple(bare(part) for part in cast("tuple[Any, ...]", node))
    if is_dataclass(node) and not isinstance(node, Span):
        values = (getattr(node, f.name) for f in fields(node))
        return (type(node).__name__, *(bare(v) for v in values if not isinstance(v, Span)))
    return node


def module(m: ast.Module) -> str:
    parts = [_doc(m.doc) + f"module {m.path.dotted()}"]
    for use in m.uses:
        names = ", ".join(_use_name(n) for n in use.names or ())
        parts.append(f"use {use.path.dotted()}" + (f"::{{{names}}}" if names else ""))
    return "\n".join([*parts, *map(item, m.items)]) + "\n"


def _use_name(n: ast.UseName) -> str:
    return f"{n.name.text} as {n.alias.text}" if n.alias else n.name.text


def item(i: ast.Item) -> str:
    head = _doc(i.doc) + ("pub " if i.public else "")
    name = i.name.text
    match i:
        case ast.FunctionDecl():
            params = ", ".join(map(_param, i.params))
            begin = f"{i.kind} {name}{_generics(i.generics)}({params}) -> {type_(i.result)}"
            return f"{head}{begin}{_where(i.where)} {_body(i.body)}"
        case ast.BlockDecl():
            parts = [_doc(m.doc) + _member(m) for m in i.members] + [item(m) for m in i.methods]
            begin = f"block {name}{_generics(i.generics)}{_where(i.where)}"
            return f"{head}{begin} {{\n{_lines(parts)}}}"
        case ast.StructDecl():
            parts = [_doc(f.doc) + f"{f.name.text}: {type_(f.type)}" for f in i.fields]
            begin = f"struct {name}{_generics(i.generics)}{_where(i.where)}"
            return f"{head}{begin} {{\n{_lines(parts)}}}"
        case ast.EnumDecl():
            names = ["\n" * (v.doc is not None) + _doc(v.doc) + v.name.text for v in i.variants]
            return f"{head}enum {name} {{ {', '.join(names)} }}"
        case ast.AliasDecl():
            return f"{head}type {name}{_generics(i.generics)} = {type_(i.type)}"
        case ast.ConstDecl():
            annotation = f": {type_(i.type)}" if i.type else ""
            return f"{head}const {name}{annotation} = {expr(i.value)}"


def _doc(doc: str | None) -> str:
    return "".join(f"/// {line}\n" for line in doc.split("\n")) if doc is not None else ""


def _param(p: ast.Param) -> str:
    doc = f"\n{_doc(p.doc)}" if p.doc is not None else ""
    return doc + _declared(p.name, p.type, p.default)


def _lines(parts: Iterable[str]) -> str:
    return "".join(f"    {part}\n" for part in parts)


def _member(m: ast.Member) -> str:
    return f"{m.kind} {_declared(m.name, m.type, m.default)}"


def _declared(name: ast.Name, type: ast.TypeExpr, default: ast.Expr | None) -> str:
    return f"{name.text}: {type_(type)}" + (f" = {expr(default)}" if default else "")


def _generics(generics: tuple[ast.Generic, ...]) -> str:
    texts = [
        ("*" if g.pack else "")
        + f"{g.name.text}: {g.kind.text}"
        + (f" = {expr(g.default)}" if g.default else "")
        for g in generics
    ]
    return f"<{', '.join(texts)}>" if texts else ""


def _where(where: tuple[ast.Expr, ...]) -> str:
    return f" where {', '.join(expr(r, head=True) for r in where)}" if where else ""


def type_(t: ast.TypeExpr) -> str:
    match t:
        case ast.TensorTypeExpr(dims, dtype):
            return f"Tensor[{_list(dims)}; {expr(dtype)}]"
        case ast.NamedTypeExpr(path, args):
            return _path(path) + (f"<{_list(args)}>" if args else "")
        case ast.OptionalTypeExpr(inner):
            return f"{type_(inner)}?"
        case ast.TupleTypeExpr(items):
            return f"({', '.join(map(type_, items))})"
        case ast.ArrayTypeExpr(element, count):
            return f"[{type_(element)}; {expr(count)}]"


def _path(path: tuple[ast.Name, ...]) -> str:
    return ".".join(name.text for name in path)


# --- statements


def _body(body: tuple[ast.Stmt, ...]) -> str:
    return f"{{\n{_lines(map(stmt, body))}}}"


def stmt(s: ast.Stmt) -> str:
    match s:
        case ast.LetStmt(mutable, name, annotation, indices, value):
            annotated = f": {type_(annotation)}" if annotation else ""
            target = f"{name.text}{annotated}{_indices(indices)}"
            return f"{'var' if mutable else 'let'} {target} = {expr(value)}"
        case ast.LetTupleStmt(names, value):
            return f"let ({', '.join(n.text for n in names)}) = {expr(value)}"
        case ast.AssignStmt(target, indices, value):
            return f"{target.text}{_indices(indices)} = {expr(value)}"
        case ast.ReturnStmt(value):
            return f"return {expr(value)}"
        case ast.StaticForStmt(variable, start, stop, body):
            last = f"..{expr(stop, head=True)}" if stop else ""
            over = expr(start, head=True, last=stop is None) + last
            return f"static for {variable.text} in {over} {_body(body)}"
        case ast.WhileStmt(condition, body):
            return f"while {expr(condition, head=True)} {_body(body)}"


def _indices(indices: tuple[ast.IndexName, ...] | None) -> str:
    names = [("*" if i.pack else "") + i.name for i in indices or ()]
    return f"[{', '.join(names)}]" if names else ""


# --- expressions


def expr(e: ast.Expr, level: int = 0, last: bool = True, head: bool = False) -> str:
    """An expression where operators bind at least as tightly as `level`. `last`: nothing follows
    that a reduction could take in; `head`: a `{` would open a body."""
    text, own = _open(e, last, head)
    return text if own >= level else f"({_open(e, True, False)[0]})"


def _open(e: ast.Expr, last: bool, head: bool) -> tuple[str, int]:
    match e:
        case ast.BinaryExpr(op, left, right):
            own = _LEVEL[op]
            # Comparisons in a row would be read as generic arguments where they can be.
            less = own + 1 if own == _COMPARED else own
            a, b = expr(left, less, False, head), expr(right, own + 1, last, head)
            return f"{a} {op} {b}", own
        case ast.UnaryExpr(op, operand):
            return op + expr(operand, _UNARY, last, head), _UNARY
        case ast.ReduceExpr(op, accumulator, indices, body):
            chosen = f"<{expr(accumulator)}>" if accumulator else ""
            text = f"{op}{chosen}{_indices(indices)} {expr(body, 0, True, head)}"
            return text, _UNARY if last else -1
        case ast.StructExpr(path, generics, values):
            written = ", ".join(f"{v.name.text}: {_item(v.value)}" for v in values)
            chosen = f"<{_list(generics)}>" if generics else ""
            return f"{_path(path)}{chosen} {{ {written} }}", -1 if head else _POSTFIX
        case ast.CallExpr(callee, generics, args):
            chosen = f"<{_list(generics)}>" if generics else ""
            written = ", ".join(
                (f"{a.name.text} = " if a.name else "") + _item(a.value) for a in args
            )
            return f"{expr(callee, _POSTFIX, False, head)}{chosen}({written})", _POSTFIX
        case ast.FieldExpr(base, name):
            return f"{expr(base, _POSTFIX, False, head)}.{name.text}", _POSTFIX
        case ast.IndexExpr(base, items):
            return f"{expr(base, _POSTFIX, False, head)}[{_list(items)}]", _POSTFIX
        case _:
            return _closed(e), _POSTFIX


def _closed(e: ast.Expr) -> str:
    match e:
        case ast.IntLit(value):
            return str(value)
        case ast.FloatLit(text):
            return text
        case ast.BoolLit(value):
            return "true" if value else "false"
        case ast.StringLit(value):
            return '"' + "".join(_ESCAPES.get(c, c) for c in value) + '"'
        case ast.NoneLit():
            return "none"
        case ast.NameExpr(name):
            return name
        case ast.PackExpr(name):
            return f"*{name.text}"
        case ast.EllipsisExpr():
            return "..."
        case ast.SomeExpr(value):
            return f"some({expr(value)})"
        case ast.ShapeExpr(items):
            return f"[{_list(items)}]"
        case ast.TupleExpr(items):
            return f"({_list(items)})"
        case ast.SliceExpr(start, stop, step):
            bounds = [expr(b) if b else "" for b in (start, stop)]
            return ":".join([*bounds, *([expr(step)] if step else [])])
        case ast.IfExpr(condition, then, otherwise):
            chained = isinstance(otherwise, ast.IfExpr)
            other = expr(otherwise) if chained else f"{{ {expr(otherwise)} }}"
            return f"if {expr(condition, head=True)} {{ {expr(then)} }} else {other}"
        case ast.MatchExpr(subject, arms):
            written = " ".join(f"{_pattern(a.pattern)} => {expr(a.value)}" for a in arms)
            return f"match {expr(subject, head=True)} {{ {written} }}"
        case _:
            raise AssertionError(e)


def _pattern(p: ast.Pattern) -> str:
    match p:
        case ast.SomePattern(name):
            return f"some({name.text})"
        case ast.NonePattern():
            return "none"
        case ast.VariantPattern(name):
            return name.text


def _list(items: tuple[ast.Expr, ...]) -> str:
    return ", ".join(map(_item, items))


def _item(e: ast.Expr) -> str:
    """An element of a list, where `a < b, c > (d)` would be a generic call."""
    return expr(e, _COMPARED + 1 if isinstance(e, ast.BinaryExpr) else 0)
