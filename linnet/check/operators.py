"""Unary and binary operators, and broadcasting."""

from __future__ import annotations

from dataclasses import replace

from linnet.check import expr as expressions
from linnet.check.convert import adapt, bad, loosely
from linnet.check.dimexpr import value_arithmetic
from linnet.check.explain import Why, explain
from linnet.check.hints import needs_context, others_first, without_shape
from linnet.check.reorder import lined_up
from linnet.check.rewrite import one_side
from linnet.check.scope import Scope, is_error
from linnet.check.suspects import of_condition, of_dtype, of_dtypes
from linnet.check.typed import TBinary, TConst, TDim, TExpr, TQuotient, TUnary
from linnet.check.types import (
    EnumType,
    LiteralType,
    OptionalType,
    ScalarType,
    Shape,
    TensorType,
    Type,
    element_dtype,
)
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Relation
from linnet.dtypes import FLOATS, INTEGERS, AnyDType, DType, admits
from linnet.source.files import Span
from linnet.syntax import ast

BOOL = ScalarType(DType.BOOL)
Operand = tuple[Type, Span]
_EQUALITY = frozenset({"==", "!="})
# The operands and the result are of one dtype.
_SAME_DTYPE = ast.ARITHMETIC | ast.BITWISE


def unary(scope: Scope, e: ast.UnaryExpr, hint: Type | None) -> TExpr:
    operand = expressions.infer(scope, e.operand, hint)
    if is_error(operand.type):
        return bad(e.span)
    if e.op == "!":
        return _not(scope, operand, e.span)
    if isinstance(operand.type, LiteralType):
        return _signed_literal(operand, e)
    dtype = element_dtype(operand.type)
    if dtype is None or not admits(dtype) <= FLOATS | INTEGERS:
        folds = of_dtype(scope, dtype, e.span)
        scope.error("E2104", f"`{e.op}` does not apply to `{operand.type}`", e.span, folds=folds)
        return bad(e.span)
    return operand if e.op == "+" else TUnary("-", operand, operand.type, e.span)


def _not(scope: Scope, operand: TExpr, span: Span) -> TExpr:
    if operand.type != BOOL:
        scope.error(
            "E2116",
            f"`!` takes a scalar `bool`, not `{operand.type}`",
            operand.span,
            help="for a tensor of `bool` write `x == false` in index notation, or `x ^ true`",
            folds=of_condition(scope, operand.type, operand.span),
        )
        return bad(span)
    return TUnary("!", operand, BOOL, span)


def _signed_literal(operand: TExpr, e: ast.UnaryExpr) -> TExpr:
    literal = operand.type
    assert isinstance(literal, LiteralType)
    if e.op == "+":
        return replace(operand, span=e.span)
    if literal.value is not None:
        return TDim(-literal.value, LiteralType(-literal.value), e.span)
    assert isinstance(operand, TConst)
    text = str(operand.value)
    return TConst(text[1:] if text.startswith("-") else "-" + text, literal, e.span)


def binary(scope: Scope, e: ast.BinaryExpr, hint: Type | None) -> TExpr:
    """`left op right`; operator chains are walked along their left spine without recursion."""
    chain: list[ast.BinaryExpr] = []
    node: ast.Expr = e
    while isinstance(node, ast.BinaryExpr):
        chain.append(node)
        node = node.left
    chain.reverse()
    own = hint if all(n.op in _SAME_DTYPE for n in chain) else None
    count = _leading(scope, chain)
    exprs = [chain[0].left, *(n.right for n in chain[: count - 1])]
    wish = without_shape(own)
    leading = others_first(scope, exprs, wish, lambda i, h: expressions.infer(scope, exprs[i], h))
    result, asked = leading[0], without_shape(leading[-1].type) or wish
    for i, node in enumerate(chain):
        if i + 1 < count:
            right = leading[i + 1]
        else:
            asked = without_shape(result.type) or wish
            right = expressions.infer(scope, node.right, asked)
        result = combine(scope, node, result, right, asked)
    return result


def _leading(scope: Scope, chain: list[ast.BinaryExpr]) -> int:
    """How many operands of a chain, from the left, are of one dtype and found out together: two,
    or more where those before the last need it as their context."""
    if not needs_context(scope, chain[0].left):
        return 2
    for i, node in enumerate(chain):
        if not needs_context(scope, node.right) or node.op not in _SAME_DTYPE:
            return i + 2
    return len(chain) + 1


def combine(scope: Scope, e: ast.BinaryExpr, left: TExpr, right: TExpr, hint: Type | None) -> TExpr:
    span = left.span.to(right.span)
    if is_error(left.type, right.type):
        return bad(span)
    if e.op in ast.LOGICAL:
        return _logic(scope, e.op, left, right, span)
    a, b = left.type, right.type
    if isinstance(a, LiteralType) and isinstance(b, LiteralType):
        if a.value is not None and b.value is not None and e.op in ast.ARITHMETIC:
            value = value_arithmetic(scope, e.op, a.value, b.value, right.span)
            if e.op == "/":
                whole = e.left.span.to(e.right.span)
                scope.world.program.quotients[whole] = TQuotient(a.value, b.value, e.op_span)
            return bad(span) if value is None else TDim(value, LiteralType(value), span)
        wanted = _literal_dtype(a, b, hint)
        left, right = adapt(scope, left, wanted), adapt(scope, right, wanted)
    elif isinstance(a, LiteralType) or isinstance(b, LiteralType):
        left, right = _adapt_pair(scope, left, right)
    if is_error(left.type, right.type):
        return bad(span)
    return _typed(scope, e, left, right, span)


def _literal_dtype(a: LiteralType, b: LiteralType, hint: Type | None) -> AnyDType:
    asked = element_dtype(hint)
    if asked is not None and admits(asked) <= FLOATS:
        return asked
    if a.value is None or b.value is None:
        return DType.F64
    return asked if asked is not None and admits(asked) <= INTEGERS else DType.I64


def _adapt_pair(scope: Scope, left: TExpr, right: TExpr) -> tuple[TExpr, TExpr]:
    literal, other = (left, right) if isinstance(left.type, LiteralType) else (right, left)
    dtype = element_dtype(other.type)
    if dtype is None:
        return left, right
    adapted = adapt(scope, literal, dtype, other)
    return (adapted, other) if literal is left else (other, adapted)


def _logic(scope: Scope, op: ast.Logical, left: TExpr, right: TExpr, span: Span) -> TExpr:
    for side in (left, right):
        if side.type != BOOL:
            word = "&" if op == "&&" else "|"
            scope.error(
                "E2116",
                f"`{op}` takes scalar `bool`s, not `{side.type}`",
                side.span,
                help=f"`{word}` works on tensors of `bool`, elementwise",
                folds=of_condition(scope, side.type, side.span),
            )
            return bad(span)
    return TBinary(op, left, right, BOOL, span)


def _typed(scope: Scope, e: ast.BinaryExpr, left: TExpr, right: TExpr, span: Span) -> TExpr:
    a, b = element_dtype(left.type), element_dtype(right.type)
    if left.type == right.type and e.op in _EQUALITY and a is None:
        help_ = "`match` tells variants apart" if isinstance(left.type, EnumType) else None
        scope.error("E2104", f"`{e.op}` does not apply to `{left.type}`", e.op_span, help=help_)
        return bad(span)
    if a is None or b is None:
        wrong = left if a is None else right
        scope.error(
            "E2104",
            f"`{e.op}` does not apply to `{wrong.type}`",
            wrong.span,
            help="look inside with `match x { some(v) => ... none => ... }`"
            if isinstance(wrong.type, OptionalType)
            else None,
        )
        return bad(span)
    if a != b:
        scope.error(
            "E2103",
            f"`{e.op}` needs one dtype on both sides: `{a}` and `{b}`",
            e.op_span,
            related=[
                (left.span, f"this is `{left.type}`"),
                (right.span, f"this is `{right.type}`"),
            ],
            help=_chained(e)
            or loosely(scope, left, b)
            or loosely(scope, right, a)
            or one_side(left.span, right.span, a, b),
            folds=of_dtypes(scope, a, b, [left.span, right.span]),
        )
        return bad(span)
    if not admits(a) <= _allowed(e.op):
        folds = of_dtype(scope, a, span)
        scope.error("E2104", f"`{e.op}` does not apply to `{left.type}`", e.op_span, folds=folds)
        return bad(span)
    shape = broadcast(scope, operand(left), operand(right), e.op_span)
    if shape is None:
        return bad(span)
    dtype = DType.BOOL if e.op in ast.COMPARISONS else a
    return TBinary(e.op, left, right, shaped(shape, dtype), span)


def _chained(e: ast.BinaryExpr) -> str | None:
    left = e.left
    if e.op in ast.COMPARISONS and isinstance(left, ast.BinaryExpr) and left.op in ast.COMPARISONS:
        return "comparisons do not chain: `a < b && b < c`"
    return None


def _allowed(op: ast.BinaryOp) -> frozenset[DType]:
    if op in _EQUALITY:
        return frozenset(DType)
    if op in ast.BITWISE:
        return INTEGERS | {DType.BOOL}
    return FLOATS | INTEGERS


def operand(value: TExpr) -> Operand:
    """What `broadcast` needs of a value."""
    return value.type, value.span


def shaped(shape: Shape, dtype: AnyDType) -> Type:
    """A tensor of `shape`, or a scalar where there are no axes."""
    return TensorType(shape, dtype) if shape else ScalarType(dtype)


def broadcast(scope: Scope, left: Operand, right: Operand, span: Span) -> Shape | None:
    """The shape that two operands have together: right-aligned, each pair provably equal or one
    of them the literal 1 (E2207)."""
    a = left[0].dims if isinstance(left[0], TensorType) else ()
    b = right[0].dims if isinstance(right[0], TensorType) else ()
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    out: list[Dim | Symbol] = list(longer[: len(longer) - len(shorter)])
    for x, y in zip(longer[len(longer) - len(shorter) :], shorter, strict=True):
        met = _meet(scope, x, y)
        if met is None:
            _refuse(scope, left, right, x, y, span)
            return None
        out.append(met)
    return tuple(out)


def _meet(scope: Scope, x: Dim | Symbol, y: Dim | Symbol) -> Dim | Symbol | None:
    if isinstance(x, Symbol) or isinstance(y, Symbol):
        return x if x is y else None
    if scope.facts.equal(x, y):
        return x
    if x.as_int() == 1:
        return y
    return x if y.as_int() == 1 else None


def _refuse(
    scope: Scope, left: Operand, right: Operand, x: Dim | Symbol, y: Dim | Symbol, span: Span
) -> None:
    why = Why(("a pack lines up only with itself",), (), ())
    if not isinstance(x, Symbol) and not isinstance(y, Symbol):
        why = explain(scope.facts, Relation("==", x, y))
    scope.error(
        "E2207",
        f"`{left[0]}` and `{right[0]}` do not broadcast",
        span,
        related=[(place, f"this is `{type_}`") for type_, place in (left, right)],
        help=lined_up(scope.facts, left, right),
        why=why,
    )
