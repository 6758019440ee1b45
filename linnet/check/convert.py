"""When a value may stand where a type is asked for."""

from __future__ import annotations

import math
from dataclasses import replace

from linnet.check.equal import exchanged, same_shape, same_type, unequal
from linnet.check.explain import Why, explain, way_out
from linnet.check.rewrite import converted, fitted, reshaped
from linnet.check.scope import Scope, is_error
from linnet.check.suspects import of_axes, of_dtypes, of_literal, of_order, of_ranks
from linnet.check.typed import Local, TBinary, TConst, TDim, TExpr, TLocal, TNone, TSome, TTuple
from linnet.check.types import (
    ERROR,
    LiteralType,
    OptionalType,
    ScalarType,
    Shape,
    TensorType,
    TupleType,
    Type,
    element_dtype,
)
from linnet.dims.dims import Symbol
from linnet.dims.prover import Relation
from linnet.dtypes import INTEGERS, AnyDType, DType, DTypeVar, admits
from linnet.source.files import Span

_EXACT = 2**53  # below it, every whole number is a float of 64 bits
# The least magnitude that rounds beyond a float dtype's range (IEEE 754, ties to even).
_OVERFLOW: dict[DType, float | int] = {
    DType.F16: 65520.0,
    DType.BF16: 3.3961775292304957e38,
    DType.F32: 3.4028235677973366e38,
    DType.F64: 2**1024 - 2**970,
}
_GREATEST = {
    DType.F16: "65504",
    DType.BF16: "3.39e38",
    DType.F32: "3.40e38",
    DType.F64: "1.79e308",
}


def bad(span: Span) -> TExpr:
    """What stands for an expression that was reported."""
    return TConst(0, ERROR, span)


def forget(scope: Scope, local: Local) -> None:
    """From here on the type of `local` is unknown: what follows from it is not reported."""
    for frame in scope.frames:
        if frame.get(local.name) is local:
            frame[local.name] = replace(local, type=ERROR)


def loosely(scope: Scope, expr: TExpr, wanted: object) -> str | None:
    """A way out where the dtype of a local, which does not fit, came from a literal alone. What
    depends on that local is not reported again."""
    local = expr.local if isinstance(expr, TLocal) else None
    if local is None or local not in scope.loose:
        return None
    forget(scope, local)
    word = "var" if local.mutable else "let"
    declared = f"{word} {local.name}: {wanted} = ..."
    written = declared if isinstance(local.type, ScalarType) else f"fill<{wanted}>(...)"
    return f"a literal without context made `{local.name}` `{local.type}`: write `{written}`"


def literal_fits(value: float, dtype: DType) -> bool:
    if dtype.is_integer:
        low, high = dtype.integer_range()
        return low <= value <= high
    return dtype.is_float and abs(value) < _OVERFLOW[dtype]


def adapt(scope: Scope, expr: TExpr, dtype: AnyDType, other: TExpr | None = None) -> TExpr:
    """Give a compile-time number the dtype of its context (E2105 if it does not fit), which is that
    of the `other` operand if there is one."""
    literal = expr.type
    assert isinstance(literal, LiteralType)
    target = ScalarType(dtype)
    possible = admits(dtype)
    if literal.value is None:
        assert isinstance(expr, TConst)
        wrong = [d for d in possible if not d.is_float]
        if wrong:
            help_ = _whole(str(expr.value), dtype, other)
            return _unfit(scope, expr, dtype, "a float literal", help_)
        if isinstance(dtype, DType) and abs(float(str(expr.value))) >= _OVERFLOW[dtype]:
            return _unfit(
                scope, expr, dtype, f"`{expr.value}`", _range(float(str(expr.value)), dtype)
            )
        return replace(expr, type=target)
    number = literal.value.as_int()
    if DType.BOOL in possible:
        return _unfit(scope, expr, dtype, "a number", "`true` and `false` are of `bool`")
    if number is None and not literal.value.symbols():
        return _unfit(
            scope, expr, dtype, "a number too large to be written out", _range(math.inf, dtype)
        )
    if number is None:
        return TDim(literal.value, target, expr.span)
    if not all(literal_fits(number, d) for d in possible):
        return _unfit(scope, expr, dtype, f"`{number}`", _range(number, dtype))
    return TConst(number, target, expr.span)


def _whole(text: str, dtype: AnyDType, other: TExpr | None) -> str | None:
    """What to write for the float literal `text` where an integer is asked for."""
    ways: list[str] = []
    value = float(text)
    if value.is_integer() and admits(dtype) <= INTEGERS and abs(value) < _EXACT:
        ways.append(f"write `{int(value)}`")
    if other is not None and admits(dtype) <= INTEGERS:
        ways.append(f"convert the other side: `cast<f32>({other.span.text})`")
    return ", or ".join(ways) or None


def _range(value: float, dtype: AnyDType) -> str | None:
    """What `dtype` holds, and which dtype `value` needs, that does not fit."""
    if isinstance(dtype, DTypeVar):
        return None
    kin = [d for d in DType if d.is_float == dtype.is_float and d is not DType.BOOL]
    kin.sort(key=lambda d: (d.is_signed != dtype.is_signed, d.bits))
    enough = next((d for d in kin if literal_fits(value, d)), None)
    low, high = map(str, dtype.integer_range()) if dtype.is_integer else ("", _GREATEST[dtype])
    held = f"`{dtype}` goes from {low} to {high}" if low else f"`{dtype}` goes up to {high}"
    return held if enough is None else f"{held}; `{enough}` would hold it"


def _unfit(
    scope: Scope, expr: TExpr, dtype: AnyDType, what: str, help_: str | None = None
) -> TExpr:
    if isinstance(dtype, DTypeVar):
        help_ = f"`{dtype}` may be any {dtype.kind}; `cast<{dtype}>(...)` converts a value"
    folds = of_literal(scope, dtype)
    scope.error("E2105", f"{what} does not fit `{dtype}`", expr.span, help=help_, folds=folds)
    return bad(expr.span)


def settle(scope: Scope, expr: TExpr) -> TExpr:
    """A compile-time number without context: an integer is i64, a float f64."""
    if isinstance(expr.type, LiteralType):
        return adapt(scope, expr, DType.F64 if expr.type.value is None else DType.I64)
    return expr


def conform(
    scope: Scope,
    expr: TExpr,
    wanted: Type,
    what: str,
    related: tuple[tuple[Span, str], ...] = (),
    suspects: tuple[object, ...] = (),
    known: str | None = None,
) -> TExpr:
    """`expr` where `wanted` is asked for; reports and returns an error value if it is not that.

    `suspects` may be to blame besides what `expr` names: the parameter that asks, and the `sub`
    whose method has it. `known` is the way out where the one who asks knows it.
    """
    found = expr.type
    if is_error(found, wanted):
        return bad(expr.span)
    if isinstance(found, LiteralType):
        if isinstance(wanted, ScalarType):
            return adapt(scope, expr, wanted.dtype)
        found = ScalarType(DType.F64 if found.value is None else DType.I64)
    if same_type(scope.facts, found, wanted):
        return expr
    if isinstance(expr, TNone) and isinstance(wanted, OptionalType):
        return replace(expr, type=wanted)
    if isinstance(expr, TSome) and isinstance(wanted, OptionalType):
        inner = conform(scope, expr.value, wanted.inner, what, related, suspects, known)
        return inner if is_error(inner.type) else replace(expr, value=inner, type=wanted)
    if isinstance(expr, TTuple) and isinstance(wanted, TupleType):
        return _tuple(scope, expr, wanted, what, related)
    _mismatch(scope, expr, found, wanted, what, related + _operands(expr), suspects, known)
    return bad(expr.span)


def _operands(expr: TExpr) -> tuple[tuple[Span, str], ...]:
    """The operands of another shape that broadcast to `expr`: one is why it has its shape."""
    if not isinstance(expr, TBinary) or not isinstance(expr.type, TensorType):
        return ()
    shape = expr.type.dims
    sides = [(x.span, x.type) for x in (expr.left, expr.right) if isinstance(x.type, TensorType)]
    if all(type_.dims == shape for _, type_ in sides):
        return ()
    return tuple((span, f"this is `{type_}`") for span, type_ in sides)


def _tuple(
    scope: Scope,
    expr: TTuple,
    wanted: TupleType,
    what: str,
    related: tuple[tuple[Span, str], ...],
) -> TExpr:
    """A tuple that is written out is looked at item by item."""
    if len(expr.items) != len(wanted.items):
        _mismatch(scope, expr, expr.type, wanted, what, related, ())
        return bad(expr.span)
    items = tuple(
        conform(scope, item, type_, f"item {i} of {what}", related)
        for i, (item, type_) in enumerate(zip(expr.items, wanted.items, strict=True))
    )
    if is_error(*(i.type for i in items)):
        return bad(expr.span)
    return replace(expr, items=items, type=wanted)


def _mismatch(
    scope: Scope,
    expr: TExpr,
    found: Type,
    wanted: Type,
    what: str,
    related: tuple[tuple[Span, str], ...],
    suspects: tuple[object, ...],
    known: str | None = None,
) -> None:
    span = expr.span
    message = f"{what} is `{found}`, `{wanted}` is expected"
    if (
        isinstance(found, TensorType)
        and isinstance(wanted, TensorType)
        and not same_shape(scope.facts, found.dims, wanted.dims)
    ):
        why = _why_unequal(scope, found.dims, wanted.dims)
        notes: list[str] = []
        if found.dtype != wanted.dtype:
            notes.append(f"the dtypes differ too: `{found.dtype}` and `{wanted.dtype}`")
        label = "has the wrong shape"
        folds = of_ranks(scope, found, span, wanted, suspects)
        folds += of_axes(scope.facts, expr, found.dims, wanted.dims, suspects)
        folds += of_order(scope, expr, wanted.dims)
        help_ = known or fitted(scope.facts, span, found, wanted, ())
        if help_ is None and way_out(why.settled) is None:
            help_ = reshaped(span, found.dims, wanted.dims)
        scope.error("E2202", message, span, label, related, notes, help=help_, folds=folds, why=why)
        return
    a, b = element_dtype(found), element_dtype(wanted)
    if type(found) is type(wanted) and a is not None and b is not None:
        folds = of_dtypes(scope, a, b, [span], suspects)
        help_ = loosely(scope, expr, b) or known or converted(span, b)
        scope.error("E2103", message, span, "has the wrong dtype", related, help=help_, folds=folds)
        return
    visible = [g.binder for g in scope.generics.values() if isinstance(g.binder, Symbol)]
    help_ = known or fitted(scope.facts, span, found, wanted, visible)
    folds = of_ranks(scope, found, span, wanted, suspects)
    scope.error("E2101", message, span, "has the wrong type", related, help=help_, folds=folds)


def _why_unequal(scope: Scope, found: Shape, wanted: Shape) -> Why:
    """For each axis that differs, the equation that cannot be proven and what is assumed."""
    if len(found) != len(wanted):
        return Why((f"axes: {len(found)} instead of {len(wanted)}",), (), ())
    notes: list[str] = []
    open_: list[Relation] = []
    symbols = frozenset[Symbol]()
    never = False
    for axis, (x, y) in enumerate(zip(found, wanted, strict=True)):
        if isinstance(x, Symbol) or isinstance(y, Symbol):
            if x is not y:
                never = True
                notes.append(f"axis {axis}: a pack matches only itself")
        elif not scope.facts.equal(x, y):
            relation = Relation("==", x, y)
            why = explain(scope.facts, relation)
            notes += [f"axis {axis}: {why.notes[0]}", *why.notes[1:]]
            open_ += why.settled
            never = never or not why.settled
            symbols |= relation.symbols()
    differs = unequal(scope.facts, found, wanted)
    settled = () if never else tuple(open_)
    folds = () if differs is None else (differs,)
    order = exchanged(scope.facts, found, wanted)
    return Why(tuple(dict.fromkeys(notes)), settled, folds, symbols, order)
