"""The names in types, expressions and statements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from linnet.check.intrinsics import intrinsic
from linnet.check.types import EnumType, StructType, TensorType, Type, show_shape
from linnet.lsp.declare import declare, declared_at
from linnet.lsp.declared import Declaration, Names
from linnet.lsp.types_at import TypesAt
from linnet.lsp.view import View
from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile, Span
from linnet.syntax import ast
from linnet.syntax.lexer import lex

_NOMINAL = (StructType, EnumType)


@dataclass(slots=True)
class Bodies:
    """Goes through parts of one module, whose words begin at `words`. What a field or a variant
    belongs to is told by `types`."""

    names: Names
    types: TypesAt
    module: str
    words: dict[int, Span]

    # --- names

    def word(self, name: str, span: Span) -> Span:
        """The place of a name in the span of its expression, which holds parentheses around it."""
        if span.end - span.start == len(name):
            return span
        inside = (w for at, w in self.words.items() if span.start <= at < span.end)
        return next((w for w in inside if w.text == name), span)

    def name(self, view: View, name: str, span: Span) -> Declaration | None:
        """A name that stands for itself."""
        return self.names.mention(self.word(name, span), view.find(name))

    def path(self, view: View, path: tuple[ast.Name, ...]) -> Declaration | None:
        """The item that `Name` or `module.Name` means."""
        first, *rest = path
        found = self.names.mention(first.span, view.find(first.text))
        for name in rest:
            found = self.names.mention(name.span, _part(found, name.text))
        return found and found.meant

    def part_of(self, type_: Type | None, name: ast.Name) -> Declaration | None:
        """A field of a struct's value or a variant of an enum's."""
        whole = part_of_type(self.names, type_) if isinstance(type_, _NOMINAL) else None
        return self.names.mention(name.span, _part(whole, name.text), by_type=True)

    def part(self, whole: Declaration, name: ast.Name) -> Declaration | None:
        """What a module, an enum or a block has under a name."""
        return self.names.mention(name.span, _part(whole, name.text))

    # --- types

    def type(self, view: View, e: ast.TypeExpr) -> None:
        match e:
            case ast.TensorTypeExpr(dims, dtype):
                self.exprs(view, (*dims, dtype))
            case ast.OptionalTypeExpr(inner):
                self.type(view, inner)
            case ast.TupleTypeExpr(items):
                for item in items:
                    self.type(view, item)
            case ast.ArrayTypeExpr(element, count):
                self.type(view, element)
                self.expr(view, count)
            case ast.NamedTypeExpr(path, args):
                self.path(view, path)
                self.exprs(view, args or ())

    # --- expressions

    def exprs(self, view: View, exprs: Iterable[ast.Expr | None]) -> None:
        for e in exprs:
            if e is not None:
                self.expr(view, e)

    def expr(self, view: View, e: ast.Expr) -> Declaration | None:
        """Note the names of an expression; the declaration that it names, if it is but a path."""
        match e:
            case ast.NameExpr(name, span):
                return self.name(view, name, span)
            case ast.FieldExpr():
                return self.field(view, e)
            case ast.PackExpr(name):
                return self.name(view, name.text, name.span)
            case ast.UnaryExpr(operand=inner) | ast.SomeExpr(value=inner):
                self.expr(view, inner)
            case ast.BinaryExpr(left=left, right=right):
                self.exprs(view, (left, right))
            case ast.ShapeExpr(items) | ast.TupleExpr(items):
                self.exprs(view, items)
            case ast.SliceExpr(start, stop, step):
                self.exprs(view, (start, stop, step))
            case ast.IfExpr(condition, then, otherwise):
                self.exprs(view, (condition, then, otherwise))
            case ast.IndexExpr(base, items):
                # The base depends on no index: one of its name is hidden there.
                self.expr(view.with_indices(None), base)
                self.positions(base, [self.expr(view, item) for item in items])
            case ast.CallExpr():
                self.call(view, e)
            case ast.StructExpr():
                self.struct(view, e)
            case ast.MatchExpr():
                self.match(view, e)
            case ast.ReduceExpr():
                self.exprs(view, (e.accumulator,))
                indices = {**(view.indices or {}), **self.indices(e.indices)}
                self.expr(view.with_indices(indices), e.body)
            case _:
                pass
        return None

    def positions(self, base: ast.Expr, items: list[Declaration | None]) -> None:
        """Note how far an index reaches: what it indexes tells."""
        type_ = self.types.exprs.get(base.span)
        if isinstance(type_, TensorType) and len(type_.dims) == len(items):
            for item, extent in zip(items, type_.dims, strict=True):
                if item is not None and item.kind == "index":
                    self.names.extents.setdefault(item, show_shape((extent,)))

    def field(self, view: View, e: ast.FieldExpr) -> Declaration | None:
        base = self.expr(view, e.base)
        if base is not None and base.of is not None:
            base = _block_of(view, base.of) if base.kind == "local" else base.of
        elif base is not None and base.kind == "member":
            base = _block_of(view, base) or base
        if base is not None and base.kind in ("module", "enum", "block"):
            return self.part(base, e.name)
        type_ = self.types.exprs.get(e.base.span)
        if type_ is None and base is not None:
            type_ = self.types.names.get(base.span)
        return self.part_of(type_, e.name)

    def call(self, view: View, e: ast.CallExpr) -> Declaration | None:
        """Note the names of a call; what is called."""
        found = self.expr(view, e.callee)
        callee = found and found.meant
        prelude = isinstance(e.callee, ast.NameExpr) and intrinsic(e.callee.name) is not None
        self.exprs(view, e.generics or ())
        for arg in e.args:
            if arg.name is not None and (callee is not None or not prelude):
                part = _part(callee, arg.name.text)
                self.names.mention(arg.name.span, part, by_type=True)
            self.expr(view, arg.value)
        return callee

    def struct(self, view: View, e: ast.StructExpr) -> Declaration | None:
        """Note the names of a struct's value; the struct."""
        struct = self.path(view, e.path)
        self.exprs(view, e.generics or ())
        for field in e.fields:
            self.names.mention(field.name.span, _part(struct, field.name.text), by_type=True)
            self.expr(view, field.value)
        return struct

    def match(self, view: View, e: ast.MatchExpr) -> None:
        subject = self.expr(view, e.subject)
        type_ = self.types.exprs.get(e.subject.span)
        if type_ is None and subject is not None:
            type_ = self.types.names.get(subject.span)
        for arm in e.arms:
            inner = view
            match arm.pattern:
                case ast.SomePattern(name):
                    made = declare(self.names, "local", name, arm.pattern, self.module)
                    if subject is not None and _block_of(view, subject) is not None:
                        made.of = subject
                    inner = view.inside({name.text: made})
                case ast.VariantPattern(name):
                    self.part_of(type_, name)
                case ast.NonePattern():
                    pass
            self.expr(inner, arm.value)

    def indices(self, indices: Iterable[ast.IndexName]) -> dict[str, Declaration]:
        """The indices that a `let` or a reduction introduces."""
        found: dict[str, Declaration] = {}
        for index in indices:
            span = self.word(index.name, index.span)
            found[index.name] = declared_at(
                self.names, "index", index.name, span, index, self.module
            )
        return found

    # --- statements

    def body(self, view: View, stmts: Iterable[ast.Stmt]) -> None:
        """Statements with a frame of their own."""
        inner = view.inside({})
        for stmt in stmts:
            self.stmt(inner, stmt)

    def stmt(self, view: View, stmt: ast.Stmt) -> None:
        match stmt:
            case ast.LetStmt():
                if stmt.type is not None:
                    self.type(view, stmt.type)
                self.value(view, stmt.indices, stmt.value)
                view.declare(declare(self.names, "local", stmt.name, stmt, self.module))
            case ast.LetTupleStmt(names, value):
                self.expr(view, value)
                for name in names:
                    view.declare(declare(self.names, "local", name, stmt, self.module))
            case ast.AssignStmt():
                self.name(view, stmt.target.text, stmt.target.span)
                self.value(view, stmt.indices, stmt.value)
            case ast.ReturnStmt(value):
                self.expr(view, value)
            case ast.StaticForStmt():
                over = self.expr(view, stmt.start)
                self.exprs(view, (stmt.stop,))
                made = declare(self.names, "local", stmt.variable, stmt, self.module)
                made.of = over if stmt.stop is None else None
                self.body(view.inside({made.name: made}), stmt.body)
            case ast.WhileStmt(condition, body):
                self.expr(view, condition)
                self.body(view, body)

    def value(self, view: View, indices: tuple[ast.IndexName, ...] | None, value: ast.Expr) -> None:
        """What stands behind the `=`, of index notation or not."""
        inner = view if indices is None else view.with_indices(self.indices(indices))
        self.expr(inner, value)


def part_of_type(names: Names, type_: StructType | EnumType) -> Declaration | None:
    """The struct or enum that a type is."""
    module, _, item = type_.key.rpartition("::")
    return _part(names.modules.get(module), item)


def _part(whole: Declaration | None, name: str) -> Declaration | None:
    return whole.meant.parts.get(name) if whole is not None else None


def _block_of(view: View, member: Declaration) -> Declaration | None:
    """The block that a `sub` is of."""
    node = member.node
    if not isinstance(node, ast.Member) or node.kind != "sub":
        return None
    type_ = node.type
    if isinstance(type_, ast.OptionalTypeExpr):
        type_ = type_.inner
    if isinstance(type_, ast.ArrayTypeExpr):
        type_ = type_.element
    if not isinstance(type_, ast.NamedTypeExpr):
        return None
    first, *rest = type_.path
    found = view.items.get(first.text)
    for name in rest:
        found = _part(found, name.text)
    found = found and found.meant
    return found if found is not None and found.kind == "block" else None


def words_of(file: SourceFile) -> dict[int, Span]:
    """The words of a text by the place where they begin."""
    tokens = lex(file, Sink()).tokens
    return {t.start: t.span for t in tokens if t.text[:1].isalpha() or t.text[:1] == "_"}
