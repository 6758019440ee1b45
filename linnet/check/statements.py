"""Statements and function bodies."""

from __future__ import annotations

from linnet.check import assigned, expr, notation, typeexpr
from linnet.check.convert import adapt, bad, conform, forget, loosely, settle
from linnet.check.dimexpr import dim_of
from linnet.check.equal import same_type
from linnet.check.hints import needs_context
from linnet.check.meanings import Meaning
from linnet.check.names import Missing
from linnet.check.origins import Origin
from linnet.check.scope import Scope, is_error
from linnet.check.typed import (
    Local,
    TAssign,
    TExpr,
    TForRange,
    TForSubs,
    TFunction,
    TLet,
    TLetTuple,
    TLocal,
    TReturn,
    TStmt,
    TSub,
    TWhile,
)
from linnet.check.types import (
    ERROR,
    LiteralType,
    ScalarType,
    TensorType,
    TupleType,
    Type,
    element_dtype,
)
from linnet.check.unknown import unknown_name
from linnet.dtypes import DType
from linnet.source.files import Span
from linnet.syntax import ast


def body(scope: Scope, decl: ast.FunctionDecl, function: TFunction) -> tuple[TStmt, ...]:
    """The statements of a function, ending in its `return`."""
    scope.function, scope.body = function.key, decl.body
    scope.frames = [{p.local.name: p.local for p in function.params}]
    scope.frames.append({})
    out: list[TStmt] = []
    for i, stmt in enumerate(decl.body):
        last = i == len(decl.body) - 1
        if isinstance(stmt, ast.ReturnStmt) and last:
            out.append(_result(scope, stmt, function))
        else:
            out.extend(statement(scope, stmt))
    if not _returns(decl.body):
        scope.error(
            "E2120",
            f"`{decl.name.text}` does not end with `return`",
            decl.end,
            related=[(decl.result.span, "it returns this")],
            help="write `return` and the value as its last line",
        )
    return tuple(out)


def _result(scope: Scope, stmt: ast.ReturnStmt, function: TFunction) -> TReturn:
    scope.statement = stmt.span
    value = expr.infer(scope, stmt.value, function.result)
    good = not is_error(value.type)
    value = conform(scope, value, function.result, "the returned value")
    if good and is_error(value.type):
        scope.world.doubts.results.add(function.key)
    return TReturn(value, stmt.span)


def _returns(stmts: tuple[ast.Stmt, ...]) -> bool:
    """Whether there is a `return` somewhere; one that is misplaced was reported."""
    return any(
        isinstance(s, ast.ReturnStmt)
        or (isinstance(s, ast.StaticForStmt | ast.WhileStmt) and _returns(s.body))
        for s in stmts
    )


def statement(scope: Scope, stmt: ast.Stmt) -> list[TStmt]:
    scope.statement = _head(stmt)
    match stmt:
        case ast.LetStmt():
            return [_let(scope, stmt)]
        case ast.LetTupleStmt():
            return [_let_tuple(scope, stmt)]
        case ast.AssignStmt():
            return _assign(scope, stmt)
        case ast.StaticForStmt():
            return _static_for(scope, stmt)
        case ast.WhileStmt():
            return _while(scope, stmt)
        case ast.ReturnStmt():
            expr.infer(scope, stmt.value, None)
            message = "`return` can only be the last statement of a function"
            help_ = "choose the value before it: `let y = if c { a } else { b }`"
            scope.error("E2120", message, stmt.span, help=help_)
            return []


def _head(stmt: ast.Stmt) -> Span:
    """A statement without the statements in it."""
    match stmt:
        case ast.WhileStmt(condition=condition):
            return condition.span
        case ast.StaticForStmt(start=start, stop=stop):
            return start.span if stop is None else start.span.to(stop.span)
        case _:
            return stmt.span


def _let(scope: Scope, stmt: ast.LetStmt) -> TStmt:
    wanted: Type | None = None
    if stmt.type is not None:
        wanted = typeexpr.type_of(scope, stmt.type)
    if stmt.indices is not None:
        value = notation.define(scope, stmt.indices, stmt.value, wanted, stmt.value.span)
    else:
        value = expr.infer(scope, stmt.value, wanted)
    if wanted is not None:
        value = conform(scope, value, wanted, "the value")
    literal = isinstance(value.type, LiteralType) or needs_context(scope, stmt.value)
    loose = wanted is None and stmt.indices is None and literal
    count = value.type.value if isinstance(value.type, LiteralType) else None
    value = settle(scope, value)
    type_ = wanted if wanted is not None else value.type
    made_of = scope.origin(stmt.value.span)
    local = scope.declare(stmt.name.text, type_, stmt.mutable, stmt.name.span)
    scope.sources[local] = made_of
    if loose:
        scope.loose.add(local)
    if count is not None and not stmt.mutable:
        scope.counts[local] = str(count)
    return TLet(local, value, stmt.span)


def _let_tuple(scope: Scope, stmt: ast.LetTupleStmt) -> TStmt:
    value = settle(scope, expr.infer(scope, stmt.value, None))
    types: tuple[Type, ...] = (ERROR,) * len(stmt.names)
    if isinstance(value.type, TupleType) and len(value.type.items) == len(stmt.names):
        types = value.type.items
    elif not is_error(value.type):
        message = f"`{value.type}` cannot be taken apart into {len(stmt.names)} names"
        scope.error("E2101", message, stmt.value.span)
    locals_: list[Local] = []
    made_of = scope.origin(stmt.value.span)
    for name, type_ in zip(stmt.names, types, strict=True):
        same = next((other for other in locals_ if other.name == name.text), None)
        if same is not None:
            scope.error(
                "E1205",
                f"`{name.text}` is bound twice",
                name.span,
                related=[(same.span, "the first")],
            )
        locals_.append(scope.declare(name.text, type_, False, name.span))
    together = made_of.and_(Origin(frozenset(locals_)))
    scope.sources.update(dict.fromkeys(locals_, together))
    return TLetTuple(tuple(locals_), value, stmt.span)


def _assign(scope: Scope, stmt: ast.AssignStmt) -> list[TStmt]:
    target, type_ = assigned.target(scope, stmt)
    if stmt.indices is not None:
        value = notation.define(scope, stmt.indices, stmt.value, type_, stmt.value.span)
    else:
        value = expr.infer(scope, stmt.value, type_)
    if target is None or type_ is None or is_error(value.type, type_):
        return []
    if isinstance(target, Local):
        scope.sources[target] = scope.sources[target].and_(scope.origin(stmt.value.span))
    value = _assigned(scope, stmt, value, type_)
    return [] if is_error(value.type) else [TAssign(target, value, stmt.span)]


def _assigned(scope: Scope, stmt: ast.AssignStmt, value: TExpr, type_: Type) -> TExpr:
    if isinstance(value.type, LiteralType):
        if isinstance(type_, ScalarType):
            return adapt(scope, value, type_.dtype)
        value = settle(scope, value)
    if same_type(scope.facts, value.type, type_):
        return value
    local = scope.lookup(stmt.target.text)
    way_out = None
    if isinstance(local, Local) and isinstance(local.type, ScalarType | TensorType):
        now = TLocal(local, local.type, stmt.target.span)
        way_out = loosely(scope, now, element_dtype(value.type))
    scope.error(
        "E2109",
        f"`{stmt.target.text}` is `{type_}`, it cannot become `{value.type}`",
        stmt.value.span,
        related=[(stmt.target.span, "assigned here")],
        help=way_out or "a `var` keeps its type; use a new `let`",
    )
    if isinstance(local, Local):
        forget(scope, local)
    return bad(value.span)


def _block(scope: Scope, stmts: tuple[ast.Stmt, ...], frame: dict[str, Local]) -> tuple[TStmt, ...]:
    scope.frames.append(frame)
    out: list[TStmt] = []
    for stmt in stmts:
        out.extend(statement(scope, stmt))
    scope.frames.pop()
    return tuple(out)


def _static_for(scope: Scope, stmt: ast.StaticForStmt) -> list[TStmt]:
    name, span = stmt.variable.text, stmt.variable.span
    if stmt.stop is not None:
        start, stop = dim_of(scope, stmt.start), dim_of(scope, stmt.stop)
        variable = Local(name, ScalarType(DType.I64), False, span)
        scope.locals.append(variable)
        inner = _block(scope, stmt.body, {name: variable})
        if start is None or stop is None:
            return []
        return [TForRange(variable, start, stop, inner, stmt.span)]
    sub = scope.read(stmt.start.name) if isinstance(stmt.start, ast.NameExpr) else None
    if not isinstance(sub, TSub) or sub.count is None:
        _not_iterable(scope, stmt.start, sub)
        return []
    variable = Local(name, ERROR, False, span)
    scope.subs[variable] = sub.name
    scope.locals.append(variable)
    inner = _block(scope, stmt.body, {name: variable})
    return [TForSubs(variable, sub.name, sub.count, inner, stmt.span)]


def _not_iterable(scope: Scope, e: ast.Expr, found: Meaning | None) -> None:
    if isinstance(e, ast.NameExpr) and isinstance(found, Missing):
        unknown_name(scope, e.name, e.span)
        return
    scope.error(
        "E2121",
        "`static for` walks over an array of blocks or a range",
        e.span,
        help="`static for layer in layers { ... }` or `static for i in 0..N { ... }`",
    )


def _while(scope: Scope, stmt: ast.WhileStmt) -> list[TStmt]:
    test = expr.condition(scope, stmt.condition)
    inner = _block(scope, stmt.body, {})
    return [] if is_error(test.type) else [TWhile(test, inner, stmt.span)]
