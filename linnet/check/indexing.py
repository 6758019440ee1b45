"""Indexing outside index notation: `x[0]`, `x[i]`, `x[:, 1:3]`, `x[..., 0::2]`."""

from __future__ import annotations

from functools import partial

from linnet.check import expr
from linnet.check.convert import bad
from linnet.check.dimexpr import dim_of
from linnet.check.foreign import NOTHING
from linnet.check.names import Missing
from linnet.check.operators import shaped
from linnet.check.reorder import shortly
from linnet.check.scope import Scope, is_error
from linnet.check.suspects import of_extent, of_rank
from linnet.check.typed import AtAll, AtDynamic, AtRange, AtStatic, AxisIndex, TExpr, TIndex
from linnet.check.types import LiteralType, ScalarType, Shape, TensorType, rank_of, show_shape
from linnet.dims.counts import steps
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Relation
from linnet.dtypes import FLOATS, INTEGERS, admits
from linnet.source.files import Span
from linnet.syntax import ast


def index(scope: Scope, e: ast.IndexExpr) -> TExpr:
    base = expr.settled(scope, e.base)
    items = None
    if isinstance(base.type, TensorType):
        items = None if adds_axis(scope, e, base.type) else _align(scope, e, base.type)
    elif not is_error(base.type):
        not_indexed(scope, e, base)
    if items is None:
        expr.alone(scope, (i for i in e.items if not is_nothing(scope, i)))
        return bad(e.span)
    assert isinstance(base.type, TensorType)
    typed: list[AxisIndex] = []
    kept: list[Dim | Symbol] = []
    good = True
    for item, extent in zip(items, base.type.dims, strict=True):
        at = AtAll() if item is None else _one(scope, item, base, extent)
        if at is None:
            good = False
            continue
        typed.append(at)
        kept.extend(_kept(at, extent))
    if not good:
        return bad(e.span)
    return TIndex(base, tuple(typed), shaped(tuple(kept), base.type.dtype), e.span)


def not_indexed(scope: Scope, e: ast.IndexExpr, base: TExpr) -> None:
    """Report an index of a value that has no axes."""
    folds = of_rank(scope, base.type, e.base.span)
    help_ = "a scalar has no axes: leave the brackets out"
    if not isinstance(base.type, ScalarType | LiteralType):
        help_ = "only tensors have axes: index a part of it"
    scope.error("E2104", f"`{base.type}` cannot be indexed", e.base.span, help=help_, folds=folds)


def axes(rank: int) -> str:
    """`1 axis`, `2 axes`."""
    return f"{rank} {'axis' if rank == 1 else 'axes'}"


def adds_axis(scope: Scope, e: ast.IndexExpr, type_: TensorType) -> bool:
    """Whether an index is `None`, which adds an axis in NumPy; that is reported."""
    new = next((i for i in e.items if is_nothing(scope, i)), None)
    if new is None:
        return False
    help_ = "`reshape` does: `reshape(x, [1, A])`"
    rest = [item for item in e.items if not is_nothing(scope, item)]
    if all(isinstance(i, ast.SliceExpr) and not (i.start or i.stop or i.step) for i in rest):
        extents = iter(type_.dims)
        shape = ["1" if is_nothing(scope, i) else show_shape((next(extents),)) for i in e.items]
        if len(rest) <= len(type_.dims):
            shape += [show_shape((d,)) for d in extents]
            help_ = f"`reshape` does: `reshape({e.base.span.text}, [{', '.join(shape)}])`"
    if scope.indices is not None:
        help_ = "leave it out: in index notation an axis comes with its index on the left"
    scope.error("E2209", "an index adds no axis", new.span, help=help_)
    return True


def is_nothing(scope: Scope, item: ast.Expr) -> bool:
    """Whether an index is `None`, in one of the ways to write it in Python."""
    match item:
        case ast.NoneLit():
            return True
        case ast.NameExpr(name):
            return name in NOTHING and isinstance(scope.lookup(name), Missing)
        case ast.FieldExpr(name=name):
            return name.text in NOTHING
        case _:
            return False


def _align(scope: Scope, e: ast.IndexExpr, type_: TensorType) -> list[ast.Expr | None] | None:
    """One item per element of the shape; None stands for the whole of it."""
    dots = [i for i, item in enumerate(e.items) if isinstance(item, ast.EllipsisExpr)]
    rank = len(type_.dims)
    if len(dots) > 1:
        help_ = "leave one out: it stands for all axes that are not written"
        scope.error("E2209", "`...` can stand only once", e.items[dots[1]].span, help=help_)
        return None
    written = len(e.items) - len(dots)
    if written > rank or (not dots and written != rank):
        every = f"`{type_}` has {axes(rank)}, {written} indexed"
        help_ = _with_dots(e, type_) if written < rank else f"index {axes(rank)}"
        folds = of_rank(scope, type_, e.base.span)
        scope.error("E2204", every, e.span, help=help_, folds=folds)
        return None
    items: list[ast.Expr | None] = list(e.items)
    if dots:
        items[dots[0] : dots[0] + 1] = [None] * (rank - written)
    return items


def _with_dots(e: ast.IndexExpr, type_: TensorType) -> str:
    """How to index less than all axes; what is counted from the end is counted from the front."""
    items: list[str] = []
    for item, extent in zip(e.items, type_.dims, strict=False):
        match item:
            case ast.UnaryExpr("-", operand) if isinstance(extent, Dim):
                items.append(f"{extent} - {operand.span.text}")
            case _:
                items.append(item.span.text)
    written = f"{e.base.span.text}[{', '.join([*items, '...'])}]"
    return f"`...` stands for the axes not written: `{written}`"


def _one(scope: Scope, item: ast.Expr, base: TExpr, extent: Dim | Symbol) -> AxisIndex | None:
    if isinstance(item, ast.SliceExpr) and not (item.start or item.stop or item.step):
        return AtAll()
    if isinstance(extent, Symbol):
        help_ = "use `...` for the axes of a pack"
        scope.error(
            "E2209",
            f"an axis of the pack `*{extent.name}` cannot be indexed alone",
            item.span,
            help=help_,
        )
        return None
    if isinstance(item, ast.SliceExpr):
        return _range(scope, item, base, extent)
    if isinstance(item, ast.PackExpr):
        scope.error("E3104", "a pack index is only valid in index notation", item.span)
        return None
    value = expr.infer(scope, item, None)
    if is_error(value.type):
        return None
    if isinstance(value.type, LiteralType) and value.type.value is not None:
        at = value.type.value
        return AtStatic(at) if within(scope, at, base, extent, item.span) else None
    dtype = value.type.dtype if isinstance(value.type, ScalarType) else None
    if dtype is None or not admits(dtype) <= INTEGERS:
        not_an_index(scope, value)
        return None
    return AtDynamic(value)


def not_an_index(scope: Scope, value: TExpr) -> None:
    """Report a value that is no scalar integer where it stands for a position."""
    message = f"an index is a scalar integer, this is `{value.type}`"
    folds = of_rank(scope, value.type, value.span) if rank_of(value.type) else []
    help_ = "positions are numbers of an integer dtype"
    if isinstance(value.type, ScalarType) and admits(value.type.dtype) <= FLOATS:
        help_ = f"`cast<i64>({shortly(value.span)})` rounds toward zero"
    if isinstance(value.type, TensorType) and admits(value.type.dtype) <= INTEGERS:
        help_ = f"take one at a time: `let y[i] = x[{shortly(value.span)}[i]]`"
    scope.error("E2209", message, value.span, help=help_, folds=folds)


def within(scope: Scope, at: Dim, base: TExpr, extent: Dim, span: Span) -> bool:
    """Prove `0 <= at < extent`, the extent of an axis of `base` (E2209)."""
    number = at.as_int()
    if number is not None and number < 0:
        help_ = f"count from the front: `{extent} - {-number}`"
        scope.error("E2209", "there are no negative indices", span, help=help_)
        return False
    message = f"the index `{at}` is not provably within an axis of `{extent}`"
    bounds = Relation(">=", at, Dim.of(0)), Relation("<", at, extent)
    folds, way_out = of_extent(base), partial(_positions, extent)
    return all(
        scope.require(b, "E2209", message, span, folds=folds, of_numbers=way_out) for b in bounds
    )


def _positions(extent: Dim) -> str:
    """What may stand where an axis of `extent` is indexed."""
    last = extent - Dim.of(1)
    return "an axis of 0 has no positions" if last.as_int() == -1 else f"the last one is `{last}`"


def _range(scope: Scope, item: ast.SliceExpr, base: TExpr, extent: Dim) -> AtRange | None:
    start = dim_of(scope, item.start) if item.start else Dim.of(0)
    stop = dim_of(scope, item.stop) if item.stop else extent
    step = dim_of(scope, item.step) if item.step else Dim.of(1)
    if start is None or stop is None or step is None:
        return None
    stride = step.as_int()
    if stride is None or stride < 1:
        assert item.step is not None
        help_ = f"`let y[i] = x[{extent} - 1 - iota<i64>({extent})[i]]` goes from the end"
        help_ = help_ if stride is not None and stride < 0 else "write a number: `x[0::2]`"
        scope.error("E2209", "a step is a positive literal", item.step.span, help=help_)
        return None
    for bound in (start, stop):
        number = bound.as_int()
        if number is not None and number < 0:
            scope.error(
                "E2209",
                "there are no negative bounds",
                item.span,
                help=f"count from the front: `{extent} - {-number}`",
            )
            return None
    message = f"the slice `{start}:{stop}` is not provably within an axis of `{extent}`"
    # A start beyond the stop by less than a step reads nothing and its count is 0, so what must
    # hold is that the count is not negative: `x[1::2]` is fine for every extent `2 * N`.
    ordered = (
        Relation("<=", start, stop)
        if stride == 1
        else Relation(">=", steps(start, stop, stride), Dim.of(0))
    )
    folds, way_out = of_extent(base), partial(_bounds, start, stop, extent)
    for relation in (Relation(">=", start, Dim.of(0)), ordered, Relation("<=", stop, extent)):
        if not scope.require(
            relation, "E2209", message, item.span, folds=folds, of_numbers=way_out
        ):
            return None
    return AtRange(start, stop, stride)


def _bounds(start: Dim, stop: Dim, extent: Dim) -> str:
    """What may stand where a slice of two numbers does not fit an axis of `extent`."""
    a, b = start.as_int(), stop.as_int()
    if a is not None and b is not None and a > b:
        return f"a slice goes upward: `{stop}:{start}`"
    return f"a slice ends at `{extent}` at the latest"


def _kept(at: AxisIndex, extent: Dim | Symbol) -> Shape:
    match at:
        case AtAll():
            return (extent,)
        case AtRange(start, stop, step):
            return (steps(start, stop, step),)
        case AtStatic() | AtDynamic():
            return ()
