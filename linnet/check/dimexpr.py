"""Dimension expressions, generic arguments and `where` relations."""

from __future__ import annotations

from linnet.check.meanings import PreludeFunction, declared_at, kind_of
from linnet.check.names import ItemRef, Missing
from linnet.check.resolve import qualified, resolve_path
from linnet.check.scope import Scope
from linnet.check.suspects import of_dtype
from linnet.check.typed import Local, TGeneric, TMemberDecl
from linnet.check.types import ERROR, GenericArg, LiteralType, ScalarType, Shape
from linnet.check.unknown import unknown_dimension, unknown_name
from linnet.dims.dims import Dim, Symbol, dim_max, dim_min, plainly_natural
from linnet.dims.prover import Relation
from linnet.dtypes import AnyDType, DType, DTypeVar, admits
from linnet.source.files import Span
from linnet.syntax import ast


def arithmetic(scope: Scope, op: ast.Arithmetic, left: Dim, right: Dim, span: Span) -> Dim | None:
    """`left op right` over compile-time integers; a divisor must be provably positive."""
    if op in ("/", "%"):
        message = f"the divisor `{right}` is not provably positive"
        positive = Relation(">", right, Dim.of(0))
        least = "a divisor is at least 1"
        if not scope.require(positive, "E2205", message, span, of_numbers=lambda: least):
            return None
        return left // right if op == "/" else left % right
    if op == "+":
        return left + right
    return left - right if op == "-" else left * right


def value_arithmetic(
    scope: Scope, op: ast.Arithmetic, left: Dim, right: Dim, span: Span
) -> Dim | None:
    """`left op right` of compile-time integers in a value, where `/` and `%` truncate toward zero
    as they do at run time. A divisor is a number other than zero, or provably positive."""
    if op not in ("/", "%"):
        return arithmetic(scope, op, left, right, span)
    number = right.as_int()
    divisor = -right if number is not None and number < 0 else right
    up = arithmetic(scope, op, left, divisor, span)
    if up is None or scope.facts.implies(Relation(">=", left, Dim.of(0))):
        whole = up
    elif op == "/":
        whole = dim_max(left, Dim.of(0)) // divisor - dim_max(-left, Dim.of(0)) // divisor
    else:
        whole = dim_max(left, Dim.of(0)) % divisor - dim_max(-left, Dim.of(0)) % divisor
    return -whole if whole is not None and op == "/" and divisor is not right else whole


def dim_of(scope: Scope, expr: ast.Expr) -> Dim | None:
    """The compile-time integer that `expr` is; None after a report."""
    match expr:
        case ast.IntLit(value):
            return Dim.of(value)
        case ast.NameExpr(name, span):
            return _named_dim(scope, name, span)
        case ast.UnaryExpr("-" | "+" as op, operand):
            inner = dim_of(scope, operand)
            return inner if inner is None or op == "+" else -inner
        case ast.BinaryExpr(op, left, right) if op in ast.ARITHMETIC:
            a, b = dim_of(scope, left), dim_of(scope, right)
            return None if a is None or b is None else arithmetic(scope, op, a, b, right.span)
        case ast.CallExpr(ast.NameExpr("min" | "max" as name), None, args) if (
            len(args) == 2
            and all(a.name is None for a in args)
            and isinstance(scope.lookup(name), PreludeFunction)
        ):
            a, b = dim_of(scope, args[0].value), dim_of(scope, args[1].value)
            if a is None or b is None:
                return None
            return dim_min(a, b) if name == "min" else dim_max(a, b)
        case ast.FieldExpr() if path := qualified(scope, expr):
            ref = resolve_path(scope, path)
            return None if ref is None else _item_dim(scope, ref, expr.span)
        case _:
            pass
    scope.error("E2123", "a compile-time integer is required here", expr.span)
    return None


def _named_dim(scope: Scope, name: str, span: Span) -> Dim | None:
    found = scope.read(name)
    match found:
        case TGeneric(kind="Dim", binder=Symbol() as binder):
            return Dim.of(binder)
        case ItemRef():
            return _item_dim(scope, found, span)
        case Missing():
            unknown_dimension(scope, name, span)
        case Local() if found.type == ERROR and name in scope.generics:
            pass  # two things have this name, which was reported
        case Local() if found in scope.counts:
            message = f"`{name}` is a local, which is no dimension"
            help_ = f"write what it is: `{scope.counts[found]}`"
            related = declared_at(found)
            folds = [("run time", scope.function, name)]
            scope.error("E2123", message, span, related=related, help=help_, folds=folds)
        case Local() | TMemberDecl():
            scope.error(
                "E2123",
                f"`{name}` is known only at run time; a dimension is a compile-time integer",
                span,
                related=declared_at(found),
                help="a size is a generic, as `<N: Dim>`, which the type of an argument tells",
                folds=[("run time", scope.function, name)],
            )
        case _:
            message = f"`{name}` is {kind_of(found)}, not a compile-time integer"
            scope.error("E2123", message, span, related=declared_at(found))
    return None


def _item_dim(scope: Scope, ref: ItemRef, span: Span) -> Dim | None:
    if isinstance(ref.item, ast.ConstDecl):
        value = scope.world.consts.of(ref, scope, span)
        if value is None:
            return None
        if isinstance(value.type, LiteralType):
            return value.type.value
    message = f"`{ref.item.name.text}` is not a compile-time integer"
    scope.error("E2123", message, span, related=declared_at(ref))
    return None


def extent_of(scope: Scope, expr: ast.Expr) -> Dim | None:
    """A dimension of a shape: a compile-time integer that is not provably negative."""
    dim = dim_of(scope, expr)
    if (
        dim is not None
        and not plainly_natural(dim)
        and scope.facts.implies(Relation("<", dim, Dim.of(0)))
    ):
        help_ = "no extent is inferred: write it" if dim.as_int() == -1 else None
        scope.error("E2208", f"the dimension `{dim}` is negative", expr.span, help=help_)
        return None
    return dim


def shape_of(scope: Scope, items: tuple[ast.Expr, ...]) -> Shape | None:
    """The shape that a list of dimensions and packs spells."""
    out: list[Dim | Symbol] = []
    for item in items:
        if isinstance(item, ast.PackExpr):
            pack = _pack(scope, item)
            if pack is None:
                return None
            out.append(pack)
        elif (
            isinstance(item, ast.NameExpr)
            and isinstance(found := scope.lookup(item.name), TGeneric)
            and found.kind == "Shape"
        ):
            scope.error(
                "E2123",
                f"`{item.name}` is a Shape, not a dimension",
                item.span,
                help=f"write `*{item.name}` for its axes",
            )
            return None
        else:
            dim = extent_of(scope, item)
            if dim is None:
                return None
            out.append(dim)
    return tuple(out)


def _pack(scope: Scope, item: ast.PackExpr) -> Symbol | None:
    name = item.name.text
    found = scope.read(name)
    match found:
        case TGeneric(kind="Shape", binder=Symbol() as binder):
            return binder
        case Missing():
            unknown_name(scope, name, item.span)
        case _:
            help_ = f"write `{name}` without `*`" if isinstance(found, TGeneric) else None
            message = f"`{name}` is {kind_of(found)}, not a Shape"
            scope.error("E1208", message, item.span, related=declared_at(found), help=help_)
    return None


def dtype_of(scope: Scope, expr: ast.Expr) -> AnyDType | None:
    """The dtype that `expr` names."""
    found = None
    if isinstance(expr, ast.NameExpr):
        found = scope.read(expr.name)
    elif path := qualified(scope, expr):
        found = resolve_path(scope, path)
        if found is None:
            return None
    match found:
        case DType():
            return found
        case TGeneric(binder=DTypeVar() as binder):
            return binder
        case Missing() if isinstance(expr, ast.NameExpr):
            unknown_name(scope, expr.name, expr.span)
            return None
        case ItemRef(item=ast.AliasDecl()):
            alias = scope.world.aliases.of(found, scope, expr.span)
            if alias is None or alias.type == ERROR:
                return None
            if isinstance(alias.type, ScalarType) and not alias.generics:
                return alias.type.dtype
        case _:
            pass
    folds = [("dtype", scope.function, expr.name)] if isinstance(expr, ast.NameExpr) else []
    help_ = "`f32`, `bf16`, `i32`, ..."
    scope.error("E1208", "a dtype is expected here", expr.span, help=help_, folds=folds)
    return None


def of_another_kind(scope: Scope, generic: TGeneric, expr: ast.Expr) -> bool:
    """Whether `expr` is, by its form, no argument for a generic of this kind."""
    if generic.kind == "Shape":
        return not isinstance(expr, ast.ShapeExpr | ast.PackExpr)
    if isinstance(expr, ast.ShapeExpr | ast.PackExpr):
        return True
    if generic.kind == "Dim":
        return _names_dtype(scope, expr)
    found = scope.lookup(expr.name) if isinstance(expr, ast.NameExpr) else None
    dim = isinstance(found, TGeneric) and isinstance(found.binder, Symbol)
    return dim or isinstance(expr, ast.IntLit | ast.BinaryExpr)


def generic_arg(scope: Scope, generic: TGeneric, expr: ast.Expr) -> GenericArg | None:
    """`expr` as an argument for `generic`."""
    if generic.kind == "Dim":
        if isinstance(expr, ast.ShapeExpr | ast.PackExpr) or _names_dtype(scope, expr):
            scope.error(
                "E2111",
                f"{whose(scope, generic)} takes a dimension",
                expr.span,
                related=declared_at(generic),
            )
            return None
        return extent_of(scope, expr)
    if generic.kind == "Shape":
        if isinstance(expr, ast.ShapeExpr):
            return shape_of(scope, expr.items)
        if isinstance(expr, ast.PackExpr):
            return shape_of(scope, (expr,))
        scope.error(
            "E2111",
            f"{whose(scope, generic)} takes a shape",
            expr.span,
            related=declared_at(generic),
            help="write the dimensions in brackets: `[A, B]`, `[]`, or pass on a pack: `*S`",
        )
        return None
    if isinstance(expr, ast.IntLit | ast.ShapeExpr | ast.PackExpr | ast.BinaryExpr):
        scope.error(
            "E2111",
            f"{whose(scope, generic)} takes a dtype",
            expr.span,
            related=declared_at(generic),
        )
        return None
    dtype = dtype_of(scope, expr)
    return dtype if dtype is None or check_kind(scope, generic, dtype, expr.span) else None


def whose(scope: Scope, generic: TGeneric) -> str:
    """A generic of what is used here, for a message: `N`, or `N` of `linear` where there is another
    of this name."""
    name = f"`{'*' if generic.kind == 'Shape' else ''}{generic.name}`"
    here = scope.generics.get(generic.name)
    if here is None or here.binder is generic.binder:
        return name
    return f"{name} of `{generic.owner.rpartition('::')[2]}`"


def natural_arg(scope: Scope, generic: TGeneric, value: GenericArg, span: Span) -> bool:
    """Prove that a generic argument is made of dimensions, as its item assumes (E2206)."""
    extents = value if isinstance(value, tuple) else (value,)
    for extent in extents:
        if isinstance(extent, Dim):
            message = f"the generic {whose(scope, generic)} is `{extent}`, not provably a dimension"
            if not scope.require(Relation(">=", extent, Dim.of(0)), "E2206", message, span):
                return False
    return True


def _names_dtype(scope: Scope, expr: ast.Expr) -> bool:
    found = scope.lookup(expr.name) if isinstance(expr, ast.NameExpr) else None
    return isinstance(found, DType) or (
        isinstance(found, TGeneric) and isinstance(found.binder, DTypeVar)
    )


def check_kind(scope: Scope, generic: TGeneric, dtype: AnyDType, span: Span) -> bool:
    """Report E2112 unless every dtype that `dtype` may be is of the generic's kind."""
    from_kind = DTypeVar("", generic.kind)
    if admits(dtype) <= admits(from_kind):
        return True
    scope.error(
        "E2112",
        f"{whose(scope, generic)} is of the kind {generic.kind}, and `{dtype}` is not"
        + (f" always: it is of the kind {dtype.kind}" if isinstance(dtype, DTypeVar) else ""),
        span,
        related=declared_at(generic),
        folds=of_dtype(scope, dtype, span),
    )
    return False


def relation_of(scope: Scope, expr: ast.Expr) -> Relation | None:
    """One relation of a `where`."""
    if isinstance(expr, ast.BinaryExpr) and expr.op in ast.COMPARISONS:
        left, right = dim_of(scope, expr.left), dim_of(scope, expr.right)
        if left is None or right is None:
            return None
        return Relation(expr.op, left, right)
    scope.error(
        "E2123",
        "`where` lists relations between compile-time integers",
        expr.span,
        help="for example `where H % Heads == 0, S > 0`",
    )
    return None
