"""Builds the tree while parsing: one method for each name in `linnet.lark`.

A method gets what its alternative is made of, in order, tokens included. Lists grow in place:
the parser never goes back. Nothing here keeps state, so one builder serves all files.
"""

from __future__ import annotations

from typing import cast

from linnet.source.files import Span
from linnet.syntax import ast
from linnet.syntax.build_items import Parts, Types, join, name_of, names_of
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
_OPERATORS: dict[str, tuple[int, ast.BinaryOp]] = {
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
        binds, _ = _OPERATORS[sign.text]
        while waiting and _OPERATORS[waiting[-1].text][0] >= binds:
            _combine(operands, waiting.pop())
        waiting.append(sign)
        operands.append(parts[at + 1])
    while waiting:
        _combine(operands, waiting.pop())
    return operands[0]


def _combine(operands: list[ast.Expr], sign: Token) -> None:
    right = operands.pop()
    left = operands[-1]
    _, op = _OPERATORS[sign.text]
    operands[-1] = ast.BinaryExpr(op, left, right, sign.span, join(left, right))


class Statements(Types):
    """Statements."""

    def let(self, c: Parts) -> ast.Stmt:
        mutable = c[0].text == "var"
        return ast.LetStmt(mutable, name_of(c[1]), c[2], None, c[4], join(c[0], c[4]))

    def let_indexed(self, c: Parts) -> ast.Stmt:
        mutable = c[0].text == "var"
        return ast.LetStmt(mutable, name_of(c[1]), None, tuple(c[3]), c[6], join(c[0], c[6]))

    def let_tuple(self, c: Parts) -> ast.Stmt:
        return ast.LetTupleStmt(tuple(c[2]), c[5], join(c[0], c[5]))

    def assign(self, c: Parts) -> ast.Stmt:
        return ast.AssignStmt(name_of(c[0]), None, c[2], join(c[0], c[2]))

    def assign_indexed(self, c: Parts) -> ast.Stmt:
        return ast.AssignStmt(name_of(c[0]), tuple(c[2]), c[5], join(c[0], c[5]))

    def return_(self, c: Parts) -> ast.Stmt:
        return ast.ReturnStmt(c[1], join(c[0], c[1]))

    def while_(self, c: Parts) -> ast.Stmt:
        return ast.WhileStmt(c[1], tuple(c[3]), join(c[0], c[4]))

    def for_each(self, c: Parts) -> ast.Stmt:
        return ast.StaticForStmt(name_of(c[2]), c[4], None, tuple(c[6]), join(c[0], c[7]))

    def for_range(self, c: Parts) -> ast.Stmt:
        return ast.StaticForStmt(name_of(c[2]), c[4], c[6], tuple(c[8]), join(c[0], c[9]))

    def plain_index(self, c: Parts) -> ast.IndexName:
        return ast.IndexName(c[0].text, False, c[0].span)

    def pack_index(self, c: Parts) -> ast.IndexName:
        return ast.IndexName(c[1].text, True, join(c[0], c[1]))


class Operators(Statements):
    """Operators, reductions and literals."""

    def chain_start(self, c: Parts) -> Parts:
        return c

    def chain_more(self, c: Parts) -> Parts:
        c[0] += c[1:]
        return c[0]

    def folded(self, c: Parts) -> ast.Expr:
        return _fold(c[0] if len(c) == 1 else c)

    def folded_more(self, c: Parts) -> ast.Expr:
        return _fold(self.chain_more(c))

    def unary(self, c: Parts) -> ast.Expr:
        return ast.UnaryExpr(c[0].text, c[1], join(c[0], c[1]))

    def reduce(self, c: Parts) -> ast.Expr:
        return ast.ReduceExpr(c[0].text, None, tuple(c[2]), c[4], join(c[0], c[4]))

    def reduce_as(self, c: Parts) -> ast.Expr:
        return ast.ReduceExpr(c[0].text, c[2], tuple(c[5]), c[7], join(c[0], c[7]))

    def int_(self, c: Parts) -> ast.Expr:
        return ast.IntLit(int_value(c[0].text) or 0, c[0].span)

    def float_(self, c: Parts) -> ast.Expr:
        return ast.FloatLit(c[0].text.replace("_", ""), c[0].span)

    def string(self, c: Parts) -> ast.Expr:
        return ast.StringLit(string_value(c[0].text), c[0].span)

    def true(self, c: Parts) -> ast.Expr:
        return ast.BoolLit(True, c[0].span)

    def false(self, c: Parts) -> ast.Expr:
        return ast.BoolLit(False, c[0].span)

    def none(self, c: Parts) -> ast.Expr:
        return ast.NoneLit(c[0].span)

    def some(self, c: Parts) -> ast.Expr:
        return ast.SomeExpr(c[2], join(c[0], c[3]))

    def grouped(self, c: Parts) -> ast.Expr:
        """The expression itself; its span takes the parentheses in."""
        inner = c[1]
        fields = [getattr(inner, name) for name in inner.__slots__[:-1]]
        return cast(ast.Expr, type(inner)(*fields, join(c[0], c[2])))

    def tuple_(self, c: Parts) -> ast.Expr:
        return ast.TupleExpr((c[1], *c[3]), join(c[0], c[4]))

    def empty_shape(self, c: Parts) -> ast.Expr:
        return ast.ShapeExpr((), join(c[0], c[1]))

    def shape(self, c: Parts) -> ast.Expr:
        return ast.ShapeExpr(tuple(c[1]), join(c[0], c[2]))

    def pack(self, c: Parts) -> ast.Expr:
        return ast.PackExpr(name_of(c[1]), join(c[0], c[1]))


class Builder(Operators):
    """Everything that the grammar names; the rest of the expressions."""

    def name_value(self, c: Parts) -> ast.Expr:
        return _path_expr(c[0])

    def if_expr(self, c: Parts) -> ast.Expr:
        _, condition, _, then, _, _, (otherwise, end) = c  # the end lies behind a `}`
        return ast.IfExpr(condition, then, otherwise, Span(c[0].file, c[0].start, end))

    def else_if(self, c: Parts) -> tuple[ast.Expr, int]:
        return c[0], c[0].span.end

    def else_value(self, c: Parts) -> tuple[ast.Expr, int]:
        return c[1], c[2].end

    def match(self, c: Parts) -> ast.Expr:
        return ast.MatchExpr(c[1], tuple(c[3]), join(c[0], c[-1]))

    def arm(self, c: Parts) -> ast.MatchArm:
        return ast.MatchArm(c[0], c[2], join(c[0], c[2]))

    def some_pattern(self, c: Parts) -> ast.Pattern:
        return ast.SomePattern(name_of(c[2]), join(c[0], c[3]))

    def none_pattern(self, c: Parts) -> ast.Pattern:
        return ast.NonePattern(c[0].span)

    def variant_pattern(self, c: Parts) -> ast.Pattern:
        return ast.VariantPattern(name_of(c[0]), c[0].span)

    def struct(self, c: Parts) -> ast.Expr:
        return ast.StructExpr(names_of(c[0]), None, tuple(c[2]), join(c[0][0], c[3]))

    def struct_empty(self, c: Parts) -> ast.Expr:
        return ast.StructExpr(names_of(c[0]), None, (), join(c[0][0], c[2]))

    def struct_generic(self, c: Parts) -> ast.Expr:
        return ast.StructExpr(names_of(c[0]), tuple(c[2]), tuple(c[5]), join(c[0][0], c[6]))

    def struct_generic_empty(self, c: Parts) -> ast.Expr:
        return ast.StructExpr(names_of(c[0]), tuple(c[2]), (), join(c[0][0], c[5]))

    def field_value(self, c: Parts) -> ast.FieldValue:
        return ast.FieldValue(name_of(c[0]), c[2], join(c[0], c[2]))

    def call(self, c: Parts) -> ast.Expr:
        return ast.CallExpr(c[0], None, tuple(c[2]), join(c[0], c[3]))

    def call_generic(self, c: Parts) -> ast.Expr:
        callee = _path_expr(c[0])
        return ast.CallExpr(callee, tuple(c[2]), tuple(c[5]), join(callee, c[6]))

    def method_generic(self, c: Parts) -> ast.Expr:
        return ast.CallExpr(c[0], tuple(c[2]), tuple(c[5]), join(c[0], c[6]))

    def positional(self, c: Parts) -> ast.Argument:
        return ast.Argument(None, c[0], c[0].span)

    def named(self, c: Parts) -> ast.Argument:
        return ast.Argument(name_of(c[0]), c[2], join(c[0], c[2]))

    def field_of(self, c: Parts) -> ast.Expr:
        return ast.FieldExpr(c[0], name_of(c[2]), join(c[0], c[2]))

    def index_of(self, c: Parts) -> ast.Expr:
        return ast.IndexExpr(c[0], tuple(c[2]), join(c[0], c[3]))

    def ellipsis(self, c: Parts) -> ast.Expr:
        return ast.EllipsisExpr(c[0].span)

    def slice(self, c: Parts) -> ast.Expr:
        return ast.SliceExpr(c[0], c[2], None, join(c[0] or c[1], c[2] or c[1]))

    def slice_step(self, c: Parts) -> ast.Expr:
        return ast.SliceExpr(c[0], c[2], c[4], join(c[0] or c[1], c[4] or c[3]))

    def slice_to_step(self, c: Parts) -> ast.Expr:
        return ast.SliceExpr(c[0], None, c[2], join(c[0] or c[1], c[2] or c[1]))
