"""Builds expressions; see `build.py`."""

from __future__ import annotations

from dataclasses import replace

from linnet.source.files import Span
from linnet.syntax import ast
from linnet.syntax.build_parts import Parts, join, name_of, names_of
from linnet.syntax.lexer import int_value, string_value
from linnet.syntax.tokens import Token

# The loosest first.
_BINDING: tuple[tuple[ast.BinaryOp, ...], ...] = (
    ("||",),
    ("&&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("|",),
    ("^",),
    ("&",),
    ("+", "-"),
    ("*", "/", "%"),
)
OPERATORS: dict[str, tuple[int, ast.BinaryOp]] = {
    op: (level, op) for level, ops in enumerate(_BINDING) for op in ops
}


def _path_expr(tokens: list[Token]) -> ast.Expr:
    first = tokens[0]
    value: ast.Expr = ast.NameExpr(first.text, first.span)
    for token in tokens[1:]:
        value = ast.FieldExpr(value, name_of(token), join(first, token))
    return value


def _fold(parts: Parts) -> ast.Expr:
    """A tree for `operand, operator, operand, ...`; every operator is left-associative."""
    operands: list[ast.Expr] = [parts[0]]
    waiting: list[Token] = []
    for at in range(1, len(parts), 2):
        sign: Token = parts[at]
        binds, _ = OPERATORS[sign.text]
        while waiting and OPERATORS[waiting[-1].text][0] >= binds:
            _combine(operands, waiting.pop())
        waiting.append(sign)
        operands.append(parts[at + 1])
    while waiting:
        _combine(operands, waiting.pop())
    return operands[0]


def _combine(operands: list[ast.Expr], sign: Token) -> None:
    right = operands.pop()
    left = operands[-1]
    _, op = OPERATORS[sign.text]
    operands[-1] = ast.BinaryExpr(op, left, right, sign.span, join(left, right))


class Operators:
    """Operators and reductions."""

    def chain_start(self, c: Parts) -> Parts:
        return c

    def chain_more(self, c: Parts) -> Parts:
        chain, sign, operand = c
        chain += sign, operand
        return chain

    def folded_chain(self, c: Parts) -> ast.Expr:
        (chain,) = c
        return _fold(chain)

    def folded_pair(self, c: Parts) -> ast.Expr:
        return _fold(c)

    def folded_more(self, c: Parts) -> ast.Expr:
        return _fold(self.chain_more(c))

    def unary(self, c: Parts) -> ast.Expr:
        sign, operand = c
        return ast.UnaryExpr(sign.text, operand, join(sign, operand))

    def reduce(self, c: Parts) -> ast.Expr:
        word, _, indices, _, body = c
        return ast.ReduceExpr(word.text, None, tuple(indices), body, join(word, body))

    def reduce_as(self, c: Parts) -> ast.Expr:
        word, _, accumulator, _, _, indices, _, body = c
        return ast.ReduceExpr(word.text, accumulator, tuple(indices), body, join(word, body))


class Operands:
    """Literals, names, and what stands in brackets of its own."""

    def int_(self, c: Parts) -> ast.Expr:
        (token,) = c
        return ast.IntLit(int_value(token.text) or 0, token.span)

    def float_(self, c: Parts) -> ast.Expr:
        (token,) = c
        return ast.FloatLit(token.text.replace("_", ""), token.span)

    def string(self, c: Parts) -> ast.Expr:
        (token,) = c
        return ast.StringLit(string_value(token.text), token.span)

    def true(self, c: Parts) -> ast.Expr:
        (token,) = c
        return ast.BoolLit(True, token.span)

    def false(self, c: Parts) -> ast.Expr:
        (token,) = c
        return ast.BoolLit(False, token.span)

    def none(self, c: Parts) -> ast.Expr:
        (token,) = c
        return ast.NoneLit(token.span)

    def some(self, c: Parts) -> ast.Expr:
        word, _, value, end = c
        return ast.SomeExpr(value, join(word, end))

    def name_value(self, c: Parts) -> ast.Expr:
        (path,) = c
        return _path_expr(path)

    def grouped(self, c: Parts) -> ast.Expr:
        """The expression itself; its span takes the parentheses in."""
        start, inner, end = c
        return replace(inner, span=join(start, end))

    def tuple_(self, c: Parts) -> ast.Expr:
        start, first, _, rest, end = c
        return ast.TupleExpr((first, *rest), join(start, end))

    def empty_shape(self, c: Parts) -> ast.Expr:
        start, end = c
        return ast.ShapeExpr((), join(start, end))

    def shape(self, c: Parts) -> ast.Expr:
        start, items, end = c
        return ast.ShapeExpr(tuple(items), join(start, end))

    def pack(self, c: Parts) -> ast.Expr:
        star, name = c
        return ast.PackExpr(name_of(name), join(star, name))

    def if_expr(self, c: Parts) -> ast.Expr:
        word, condition, _, then, _, _, (otherwise, end) = c  # the end lies behind a `}`
        return ast.IfExpr(condition, then, otherwise, Span(word.file, word.start, end))

    def else_if(self, c: Parts) -> tuple[ast.Expr, int]:
        (value,) = c
        return value, value.span.end

    def else_value(self, c: Parts) -> tuple[ast.Expr, int]:
        _, value, end = c
        return value, end.end

    def match(self, c: Parts) -> ast.Expr:
        word, subject, _, arms, *_, end = c  # a comma may precede the end
        return ast.MatchExpr(subject, tuple(arms), join(word, end))

    def arm(self, c: Parts) -> ast.MatchArm:
        pattern, _, value = c
        return ast.MatchArm(pattern, value, join(pattern, value))

    def some_pattern(self, c: Parts) -> ast.Pattern:
        word, _, name, end = c
        return ast.SomePattern(name_of(name), join(word, end))

    def none_pattern(self, c: Parts) -> ast.Pattern:
        (token,) = c
        return ast.NonePattern(token.span)

    def variant_pattern(self, c: Parts) -> ast.Pattern:
        (name,) = c
        return ast.VariantPattern(name_of(name), name.span)

    def struct(self, c: Parts) -> ast.Expr:
        path, _, fields, end = c
        return ast.StructExpr(names_of(path), None, tuple(fields), join(path[0], end))

    def struct_empty(self, c: Parts) -> ast.Expr:
        path, _, end = c
        return ast.StructExpr(names_of(path), None, (), join(path[0], end))

    def struct_generic(self, c: Parts) -> ast.Expr:
        path, _, generics, _, _, fields, end = c
        span = join(path[0], end)
        return ast.StructExpr(names_of(path), tuple(generics), tuple(fields), span)

    def struct_generic_empty(self, c: Parts) -> ast.Expr:
        path, _, generics, _, _, end = c
        return ast.StructExpr(names_of(path), tuple(generics), (), join(path[0], end))

    def field_value(self, c: Parts) -> ast.FieldValue:
        name, _, value = c
        return ast.FieldValue(name_of(name), value, join(name, value))


class Postfixes:
    """Calls, fields and indices."""

    def call(self, c: Parts) -> ast.Expr:
        callee, _, args, end = c
        return ast.CallExpr(callee, None, tuple(args), join(callee, end))

    def call_generic(self, c: Parts) -> ast.Expr:
        path, *rest = c
        return self.method_generic([_path_expr(path), *rest])

    def method_generic(self, c: Parts) -> ast.Expr:
        callee, _, generics, _, _, args, end = c
        return ast.CallExpr(callee, tuple(generics), tuple(args), join(callee, end))

    def positional(self, c: Parts) -> ast.Argument:
        (value,) = c
        return ast.Argument(None, value, value.span)

    def named(self, c: Parts) -> ast.Argument:
        name, _, value = c
        return ast.Argument(name_of(name), value, join(name, value))

    def field_of(self, c: Parts) -> ast.Expr:
        base, _, name = c
        return ast.FieldExpr(base, name_of(name), join(base, name))

    def index_of(self, c: Parts) -> ast.Expr:
        base, _, items, end = c
        return ast.IndexExpr(base, tuple(items), join(base, end))

    def ellipsis(self, c: Parts) -> ast.Expr:
        (token,) = c
        return ast.EllipsisExpr(token.span)

    def slice(self, c: Parts) -> ast.Expr:
        start, colon, stop = c
        return ast.SliceExpr(start, stop, None, join(start or colon, stop or colon))

    def slice_step(self, c: Parts) -> ast.Expr:
        start, colon, stop, second, step = c
        return ast.SliceExpr(start, stop, step, join(start or colon, step or second))

    def slice_to_step(self, c: Parts) -> ast.Expr:
        start, colons, step = c
        return ast.SliceExpr(start, None, step, join(start or colons, step or colons))
