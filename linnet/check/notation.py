"""Index notation: `let y[b, o] = sum[i] x[b, i] * w[o, i]`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from linnet.check import expr
from linnet.check.convert import adapt, bad, settle
from linnet.check.dimexpr import dtype_of
from linnet.check.equal import same_shape
from linnet.check.explain import Why, explain
from linnet.check.indexing import adds_axis, axes, is_nothing, not_an_index, not_indexed, within
from linnet.check.meanings import IndexUse, PreludeFunction
from linnet.check.names import Missing
from linnet.check.operators import shaped
from linnet.check.scope import Scope, is_error
from linnet.check.suspects import of_rank
from linnet.check.typed import IndexVar, TAccess, TExpr, TGeneric, TIndexed, TReduce
from linnet.check.types import LiteralType, ScalarType, TensorType, Type, element_dtype
from linnet.check.undeclared import lacking, seek
from linnet.check.unknown import near, unknown_name
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Relation
from linnet.dtypes import FLOATS, INTEGERS, AnyDType, DType, admits
from linnet.source.files import Span
from linnet.syntax import ast

_UNKNOWN = Dim.of(0)  # an extent before the first access


def define(
    scope: Scope, indices: tuple[ast.IndexName, ...], body: ast.Expr, hint: Type | None, span: Span
) -> TExpr:
    """The tensor that `name[indices] = body` defines."""
    uses = _introduce(scope, indices, {})
    if uses is None:
        return bad(span)
    element = _scalar(element_dtype(hint))
    before = scope.misread
    with _indices(scope, uses):
        value = _element(scope, body, element)
    if is_error(value.type) or scope.misread > before:  # an extent may be another one
        return bad(span)
    if not _all_used(scope, uses, "E3103", "an output index must index something"):
        return bad(span)
    assert isinstance(value.type, ScalarType)
    shape = tuple(u.var.extent for u in uses.values())
    type_ = shaped(shape, value.type.dtype)
    return TIndexed(tuple(u.var for u in uses.values()), value, type_, span)


@contextmanager
def _indices(scope: Scope, uses: dict[str, IndexUse] | None) -> Generator[None]:
    before, scope.indices = scope.indices, uses
    try:
        yield
    finally:
        scope.indices = before


def _introduce(
    scope: Scope, names: tuple[ast.IndexName, ...], outer: dict[str, IndexUse]
) -> dict[str, IndexUse] | None:
    """New indices; None if one is listed twice."""
    uses: dict[str, IndexUse] = {}
    for name in names:
        other = uses.get(name.name) or outer.get(name.name)
        if other is not None:
            scope.error(
                "E3105",
                f"the index `{name.name}` is listed twice",
                name.span,
                related=[(other.span, "the first")],
            )
            return None
        uses[name.name] = IndexUse(IndexVar(name.name, name.pack, _UNKNOWN), name.span)
    return uses


def _all_used(scope: Scope, uses: dict[str, IndexUse], code: str, why: str) -> bool:
    good = True
    for use in uses.values():
        if use.first is None:
            good = False
            scope.error(
                code,
                f"the index `{use.var.name}` indexes nothing: {why}",
                use.span,
                help="remove it, or use it in an access on the right",
            )
    return good


def _element(scope: Scope, body: ast.Expr, hint: Type | None) -> TExpr:
    """A scalar expression over indices."""
    value = expr.infer(scope, body, hint)
    if isinstance(value.type, LiteralType):
        asked = hint.dtype if isinstance(hint, ScalarType) else None
        value = adapt(scope, value, asked) if asked is not None else settle(scope, value)
    if not isinstance(value.type, ScalarType) and not is_error(value.type):
        scope.error(
            "E3104",
            f"an element is a scalar, this is `{value.type}`",
            value.span,
            help="index every axis of it" if isinstance(value.type, TensorType) else None,
            folds=of_rank(scope, value.type, value.span),
        )
        return bad(value.span)
    return value


def _scalar(dtype: AnyDType | None) -> ScalarType | None:
    return None if dtype is None else ScalarType(dtype)


def reduce(scope: Scope, e: ast.ReduceExpr, hint: Type | None) -> TExpr:
    """`sum[k] body`; without indices around it, it gives a scalar."""
    outer = scope.indices or {}
    uses = _introduce(scope, e.indices, outer)
    if uses is None:
        return bad(e.span)
    accumulator = dtype_of(scope, e.accumulator) if e.accumulator is not None else None
    if e.accumulator is not None and accumulator is None:
        return bad(e.span)
    asked = _scalar(accumulator if accumulator is not None else element_dtype(hint))
    before = scope.misread
    with _indices(scope, {**outer, **uses}):
        body = _element(scope, e.body, asked)
    if is_error(body.type):
        return bad(e.span)
    if scope.misread == before and not _all_used(scope, uses, "E3102", "nothing would be reduced"):
        return bad(e.span)
    assert isinstance(body.type, ScalarType)
    if not _reducible(scope, e, body.type.dtype, accumulator):
        return bad(e.span)
    variables = tuple(u.var for u in uses.values())
    typed = TReduce(e.op, accumulator, variables, body, body.type, e.span)
    return typed if scope.indices is not None else TIndexed((), typed, body.type, e.span)


def _reducible(
    scope: Scope, e: ast.ReduceExpr, dtype: AnyDType, accumulator: AnyDType | None
) -> bool:
    logical = e.op in ("any", "all")
    allowed = frozenset({DType.BOOL}) if logical else FLOATS | INTEGERS
    if not admits(dtype) <= allowed:
        help_ = "`any` and `all` reduce `bool`s" if dtype == DType.BOOL else None
        scope.error("E2104", f"`{e.op}` does not apply to `{dtype}`", e.body.span, help=help_)
        return False
    if accumulator is not None and accumulator != dtype:
        scope.error(
            "E2103",
            f"`{e.op}<{accumulator}>` accumulates `{accumulator}`, the summand is `{dtype}`",
            e.body.span,
            help=f"convert it: `{e.op}<{accumulator}>[...] cast<{accumulator}>(...)`",
        )
        return False
    return True


# --- accesses ----------------------------------------------------------------


def access(scope: Scope, e: ast.IndexExpr) -> TExpr:
    """`base[positions]` inside index notation: every axis is written."""
    indices = scope.indices
    assert indices is not None
    if isinstance(e.base, ast.IndexExpr) and any(_is_index(scope, i) for i in e.base.items):
        help_ = "write all positions in one access, or name the part with a `let` before"
        scope.error("E3104", "what is indexed has an index in it", e.base.span, help=help_)
        _look_into(scope, e.base.items)
        _look_into(scope, e.items)
        return bad(e.span)
    with _indices(scope, None):
        base = expr.settled(scope, e.base)
    if not isinstance(base.type, TensorType):
        if not is_error(base.type):
            not_indexed(scope, e, base)
        _look_into(scope, e.items)
        return bad(e.span)
    if adds_axis(scope, e, base.type):
        return _misread(scope, e, base.type, [i for i in e.items if not is_nothing(scope, i)])
    if len(e.items) != len(base.type.dims):
        scope.error(
            "E2204",
            f"`{base.type}` has {axes(len(base.type.dims))}, {len(e.items)} indexed",
            e.span,
            help="in index notation every axis is written",
            folds=of_rank(scope, base.type, e.base.span),
        )
        return _misread(scope, e, base.type, e.items)
    positions: list[IndexVar | TExpr] = []
    for at, (item, extent) in enumerate(zip(e.items, base.type.dims, strict=True)):
        position = _position(scope, item, extent, base, e)
        if position is None:
            _touch(scope, item)
            return _misread(scope, e, base.type, e.items[at + 1 :])
        positions.append(position)
    return TAccess(base, tuple(positions), ScalarType(base.type.dtype), e.span)


def _is_index(scope: Scope, item: ast.Expr) -> bool:
    if not isinstance(item, ast.NameExpr) or not scope.indices:
        return False
    return item.name in scope.indices and not _is_declared(scope, item.name)


def _misread(scope: Scope, e: ast.IndexExpr, base: TensorType, rest: Sequence[ast.Expr]) -> TExpr:
    """What stands for an access that was reported: the dtype of its element is known. `rest` are
    the positions that were not looked into."""
    _look_into(scope, rest)
    scope.misread += 1
    return replace(bad(e.span), type=ScalarType(base.dtype))


def _look_into(scope: Scope, items: Sequence[ast.Expr]) -> None:
    """After an error: whatever is an index here counts as used, so that it is not reported, and a
    name that is none may be unknown."""
    for item in items:
        if not isinstance(item, ast.NameExpr) or _is_index(scope, item):
            _touch(scope, item)
        elif not _is_declared(scope, item.name):
            _unbound(scope, item)
        if not isinstance(item, ast.NameExpr):
            expr.alone(scope, [item])


def _touch(scope: Scope, item: ast.Expr) -> None:
    name = item.name.text if isinstance(item, ast.PackExpr) else item.span.text
    if scope.indices and name in scope.indices:
        use = scope.indices[name]
        use.first = use.first or item.span


def _position(
    scope: Scope, item: ast.Expr, extent: Dim | Symbol, base: TExpr, whole: ast.IndexExpr
) -> IndexVar | TExpr | None:
    type_ = base.type
    assert scope.indices is not None and isinstance(type_, TensorType)
    if isinstance(item, ast.SliceExpr | ast.EllipsisExpr):
        help_ = "take the slice in a `let` before, and index that"
        scope.error("E3104", "slices are not valid in index notation", item.span, help=help_)
        return None
    if isinstance(item, ast.PackExpr):
        return _index(scope, item.name.text, item.span, True, extent, type_, whole)
    if isinstance(item, ast.NameExpr):
        if item.name in scope.indices:
            return _index(scope, item.name, item.span, False, extent, type_, whole)
        if not _is_declared(scope, item.name):
            _unbound(scope, item)
            return None
    if isinstance(extent, Symbol):
        message = f"the pack `*{extent.name}` of `{type_}` needs a pack index"
        scope.error("E3106", message, item.span, help="write `*s` here and on the left")
        return None
    return _runtime(scope, item, base, extent)


def _unbound(scope: Scope, item: ast.NameExpr) -> None:
    # A position is seldom a generic alone: `h` is the index that is missing, and not `H`.
    names = [n for n in scope.visible() if not isinstance(scope.declared(n), TGeneric)]
    close = near(scope, item.name, [*(scope.indices or ()), *names])
    scope.error(
        "E3101",
        f"the index `{item.name}` is neither an output index nor bound by a reduction",
        item.span,
        help=close or f"sum over it: `sum[{item.name}] ...`, or list it on the left",
        folds=[("index", scope.function, item.name), *seek(scope, item.name)],
        about=lacking(scope),
    )


def _is_declared(scope: Scope, name: str) -> bool:
    """Whether `name` is something besides an index, or was to be, which was reported."""
    found = scope.declared(name)
    if isinstance(found, Missing):
        return found.reported
    return not isinstance(found, DType | PreludeFunction)


def _runtime(scope: Scope, item: ast.Expr, base: TExpr, extent: Dim) -> TExpr | None:
    value = expr.infer(scope, item, None)
    if is_error(value.type):
        return None
    if isinstance(value.type, LiteralType) and value.type.value is not None:
        if not within(scope, value.type.value, base, extent, item.span):
            return None
        return settle(scope, value)
    dtype = value.type.dtype if isinstance(value.type, ScalarType) else None
    if dtype is None or not admits(dtype) <= INTEGERS:
        not_an_index(scope, value)
        return None
    return value


def _index(
    scope: Scope,
    name: str,
    span: Span,
    pack: bool,
    extent: Dim | Symbol,
    type_: TensorType,
    whole: ast.IndexExpr,
) -> IndexVar | None:
    assert scope.indices is not None
    use = scope.indices.get(name)
    if use is None:
        if pack:
            scope.error("E3101", f"the pack index `*{name}` is neither output nor bound", span)
        else:
            unknown_name(scope, name, span)
        return None
    if use.var.pack != pack or isinstance(extent, Symbol) != pack:
        what = "a pack" if isinstance(extent, Symbol) else "one axis"
        scope.error(
            "E3106",
            f"`{'*' if pack else ''}{name}` meets {what} of `{type_}`",
            span,
            related=[(use.span, "the index")],
            help="a pack index `*s` walks over the axes of a Shape, a plain index over one axis",
        )
        return None
    if not use.known:
        use.var.extent, use.first, use.known = extent, span, True
        return use.var
    known = use.var.extent
    if isinstance(extent, Symbol) or isinstance(known, Symbol):
        equal = extent is known
    else:
        equal = scope.facts.equal(known, extent)
    if equal:
        return use.var
    _conflict(scope, use, span, known, extent, _turned(scope, whole, span, known, type_))
    return None


def _turned(
    scope: Scope, e: ast.IndexExpr, at: Span, known: Dim | Symbol, type_: TensorType
) -> str | None:
    """What to write where the index at `at` would fit another axis, and that one's index here."""
    here = next(i for i, item in enumerate(e.items) if item.span == at)
    names = [item.span.text for item in e.items]
    for there, (item, extent) in enumerate(zip(e.items, type_.dims, strict=True)):
        if there == here or not same_shape(scope.facts, (known,), (extent,)):
            continue
        other = (scope.indices or {}).get(item.name) if isinstance(item, ast.NameExpr) else None
        extents = ((other.var.extent,), (type_.dims[here],)) if other and other.known else ((), ())
        if other is not None and same_shape(scope.facts, *extents):
            names[here], names[there] = names[there], names[here]
            return f"its axes stand in another order: `{e.base.span.text}[{', '.join(names)}]`"
    return None


def _conflict(
    scope: Scope,
    use: IndexUse,
    span: Span,
    known: Dim | Symbol,
    extent: Dim | Symbol,
    turned: str | None,
) -> None:
    why = Why((), (), ())
    of_known, of_this = (f"*{e}" if isinstance(e, Symbol) else str(e) for e in (known, extent))
    if not isinstance(known, Symbol) and not isinstance(extent, Symbol):
        why = explain(scope.facts, Relation("==", known, extent))
    assert use.first is not None
    scope.error(
        "E2201",
        f"the index `{use.var.name}` is used with the extents `{of_known}` and `{of_this}`",
        span,
        f"`{of_this}` here",
        [(use.first, f"`{of_known}` here")],
        help=turned,
        folds=[(use.var, str(extent))],
        why=why,
    )
