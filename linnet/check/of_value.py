"""Methods and fields of a scalar or tensor, which has none: how PyTorch's are said here.

x.view(B, S * H)    help: write `reshape(x, [B, S * H])`
x.sum(-1)           help: write `let y[b, s] = sum[h] x[b, s, h]`
"""

from __future__ import annotations

from dataclasses import dataclass

from linnet.check import expr
from linnet.check.foreign import DONE, DTYPES, OF_VALUE, said
from linnet.check.intrinsics import TABLE, intrinsic
from linnet.check.meanings import LoopBlock
from linnet.check.names import ItemRef
from linnet.check.reorder import shortly
from linnet.check.scope import Scope, is_error
from linnet.check.typed import TExpr, TFunction, TSub
from linnet.check.types import StructType, TensorType
from linnet.check.undeclared import lost
from linnet.check.unknown import near, offer, way_out_of
from linnet.dims.dims import Dim
from linnet.dtypes import BY_NAME
from linnet.source.suggest import listed
from linnet.syntax import ast

_LETTERS = "ijklmnpq"
_REDUCED = {n: n for n in ("sum", "prod", "any", "all", "mean")} | {
    **dict.fromkeys(("max", "amax"), "max"),
    **dict.fromkeys(("min", "amin"), "min"),
}
_RESHAPED = frozenset({"view", "reshape"})
_EXPANDED = frozenset({"expand", "broadcast_to"})
_SWAPPED = frozenset({"transpose", "swapaxes", "T", "mT", "t"})
_CONVERTED = frozenset({"to", "type", "astype"})


@dataclass(frozen=True, slots=True)
class _Value:
    """The value: how to name it, and its extents where all of them are known to be one axis."""

    text: str
    dims: tuple[Dim, ...] | None

    def axis(self, args: tuple[ast.Argument, ...]) -> int | None:
        """The axis that the first argument names."""
        number = _literal(args[0].value) if args and self.dims else None
        rank = len(self.dims or ())
        return number % rank if number is not None and -rank <= number < rank else None


def method(scope: Scope, e: ast.CallExpr, callee: ast.FieldExpr) -> None:
    """Report `callee`, a method of a value that `e` calls."""
    if _is_block(scope, callee.base):
        help_ = "`static for b in layers { ... }` names the blocks of an array in turn"
        message = "only functions and methods of members can be called"
        scope.error("E2106", message, callee.span, help=help_)
        return
    value = expr.infer(scope, callee.base, None)
    if is_error(value.type):
        return
    known = _value(callee.base, value)
    help_ = _called(scope, callee.name.text, known, e.args)
    help_ = help_ or f"functions take it as an argument, as in `exp({known.text})`"
    scope.error("E2106", f"`{value.type}` has no methods", callee.span, help=help_)


def field(scope: Scope, e: ast.FieldExpr, base: TExpr) -> None:
    """Report the field `e` of `base`, which has none of that name."""
    name = e.name.text
    if isinstance(base.type, StructType):
        names = [n for n, _ in base.type.fields]
        help_ = near(scope, name, names) or f"its fields: {listed(names)}"
    else:
        help_ = _called(scope, name, _value(e.base, base), ())
    if any(d.code == "E1004" and d.span == e.name.span for d in scope.world.sink):
        return  # a reserved word
    type_ = base.type
    folds = [lost(scope, "field", type_.key, name)] if isinstance(type_, StructType) else []
    message = f"`{base.type}` has no field `{name}`"
    scope.error("E2107", message, e.name.span, help=help_, folds=folds)


def _is_block(scope: Scope, base: ast.Expr) -> bool:
    while isinstance(base, ast.IndexExpr | ast.FieldExpr):
        base = base.base
    return isinstance(base, ast.NameExpr) and isinstance(scope.lookup(base.name), TSub | LoopBlock)


def _value(e: ast.Expr, value: TExpr) -> _Value:
    dims = value.type.dims if isinstance(value.type, TensorType) else ()
    whole = tuple(d for d in dims if isinstance(d, Dim))
    plain = isinstance(e, ast.NameExpr | ast.CallExpr | ast.IndexExpr)
    text = shortly(e.span) if plain else "x"
    return _Value(text, whole if len(whole) == len(dims) else None)


def _called(scope: Scope, name: str, value: _Value, args: tuple[ast.Argument, ...]) -> str | None:
    """What to write for `value.name(args)`."""
    written = _written(scope, name, value, args)
    if written is not None:
        return f"write `{written}`"
    if name in DTYPES:
        return f"`cast<{DTYPES[name]}>({value.text})` converts"
    if name in OF_VALUE or name in DONE:
        return said(OF_VALUE.get(name) or DONE[name], value.text)
    known = intrinsic(name)
    found = scope.lookup(name)
    if known is not None and len(TABLE[known].params) == 1:
        return f"write `{name}({value.text})`"
    if isinstance(found, TFunction | ItemRef):
        return f"functions take it as an argument: `{name}({value.text}, ...)`"
    use = offer(scope, name)
    return f"{use}, and write `{name}({value.text}, ...)`" if use else way_out_of(scope, name)


def _written(scope: Scope, name: str, value: _Value, args: tuple[ast.Argument, ...]) -> str | None:
    """The whole expression, where the arguments tell it."""
    x, dims = value.text, value.dims
    if name in _RESHAPED and (shape := _shape(args)):
        return f"reshape({x}, {shape})"
    if name in _EXPANDED and (shape := _shape(args)):
        return f"broadcast_to({x}, {shape})"
    if name == "permute" and args and dims is not None:
        order = [_literal(a) for a in _items(args)]
        if None not in order:
            return f"permute({x}, [{', '.join(str((n or 0) % len(dims)) for n in order)}])"
    if name in _CONVERTED and args and (dtype := _dtype(args[0].value)):
        return f"cast<{dtype}>({x})"
    if dims is None:
        return None
    if name in _SWAPPED and dims:
        return x if len(dims) == 1 else _swapped(name, value, args)
    if name in _REDUCED and dims:
        return _reduced(scope, name, value, args)
    at = value.axis(args)
    if name == "unsqueeze" and args and (number := _literal(args[0].value)) is not None:
        at = number % (len(dims) + 1)
        grown = [*map(str, dims[:at]), "1", *map(str, dims[at:])]
        return f"reshape({x}, [{', '.join(grown)}])"
    if name == "size" and at is not None:
        return str(dims[at])
    return None


def _swapped(name: str, value: _Value, args: tuple[ast.Argument, ...]) -> str | None:
    assert value.dims is not None
    rank = len(value.dims)
    pair = [n % rank for a in args if (n := _literal(a.value)) is not None]
    if name == "T":
        return f"permute({value.text}, {[*reversed(range(rank))]})"
    first, second = pair if len(pair) == 2 else (rank - 2, rank - 1)
    order = list(range(rank))
    order[first], order[second] = second, first
    return f"permute({value.text}, {order})"


def _reduced(scope: Scope, name: str, value: _Value, args: tuple[ast.Argument, ...]) -> str | None:
    assert value.dims is not None
    at = value.axis(args)
    if args and at is None:
        return None
    letters = _letters(scope, value.dims)
    over = letters if at is None else [letters[at]]
    left = [n for n in letters if n not in over]
    body = f"{_REDUCED[name]}[{', '.join(over)}] {value.text}[{', '.join(letters)}]"
    if name == "mean":
        extents = value.dims if at is None else (value.dims[at],)
        count = " * ".join(str(d) if d.as_atom() or d.as_int() else f"({d})" for d in extents)
        count = count if len(extents) == 1 else f"({count})"
        body = f"({body.replace('mean', 'sum', 1)}) / {count}"
    return f"let y[{', '.join(left)}] = {body}" if left else body


def _letters(scope: Scope, dims: tuple[Dim, ...]) -> list[str]:
    """A name for the index of each axis: that of its generic, in small letters, if that is new."""
    names = [str(d).lower() for d in dims]
    plain = all(d.as_symbol() for d in dims) and len(set(names)) == len(names)
    taken = {name for frame in scope.frames for name in frame}
    return names if plain and taken.isdisjoint(names) else [*_LETTERS[: len(dims)]]


def _items(args: tuple[ast.Argument, ...]) -> list[ast.Expr]:
    """`0, 1`, `(0, 1)` or `[0, 1]` in a call."""
    if len(args) == 1 and isinstance(inner := args[0].value, ast.ShapeExpr | ast.TupleExpr):
        return list(inner.items)
    return [a.value for a in args]


def _shape(args: tuple[ast.Argument, ...]) -> str | None:
    """The shape that is written, if it is one that can be written here."""
    items = _items(args)
    plain = items and all(_is_dimension(i) for i in items)
    return f"[{', '.join(i.span.text for i in items)}]" if plain else None


def _is_dimension(e: ast.Expr) -> bool:
    match e:
        case ast.NameExpr() | ast.IntLit():
            return True
        case ast.BinaryExpr(op, left, right):
            return op in ast.ARITHMETIC and _is_dimension(left) and _is_dimension(right)
        case _:
            return False


def _literal(e: ast.Expr) -> int | None:
    match e:
        case ast.IntLit(value):
            return value
        case ast.UnaryExpr("-", ast.IntLit(value)):
            return -value
        case _:
            return None


def _dtype(e: ast.Expr) -> str | None:
    """The dtype that `f32`, `float32` or `torch.float32` means."""
    name = (
        e.name.text
        if isinstance(e, ast.FieldExpr)
        else e.name
        if isinstance(e, ast.NameExpr)
        else ""
    )
    return name if name in BY_NAME else DTYPES.get(name)
