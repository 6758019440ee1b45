"""What is printed from a tree is read as the same tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnet.source.files import SourceFile, Span
from linnet.syntax import ast
from linnet.syntax.tokens import words
from tests.syntax import printer
from tests.syntax.dump import good
from tests.syntax.printer import bare

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / "stdlib", ROOT / "models", ROOT / ".." / "shared" / "seed"]
HERE = Span(SourceFile("", ""), 0, 0)
TEXTS = ["a", "b", "x", "K", "_q", "iota", "random_"]
OPERATORS = sorted(words("|| && == != < <= > >= | ^ & + - * / %"))

Expr = st.SearchStrategy[ast.Expr]


def sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in folder.rglob("*.linnet"))


@pytest.mark.parametrize("path", sources(), ids=lambda p: "/".join(p.parts[-2:]))
def test_shipped_sources(path: Path) -> None:
    tree = good(path.read_text(encoding="utf-8"))
    printed = printer.module(tree)
    assert bare(good(printed)) == bare(tree)


def name(text: str) -> ast.Name:
    return ast.Name(text, HERE)


names = st.sampled_from(TEXTS).map(name)
some_names = st.lists(names, min_size=1, max_size=3).map(tuple)
packs = names.map(lambda n: ast.PackExpr(n, HERE))
indices = st.lists(
    st.builds(ast.IndexName, st.sampled_from(TEXTS), st.booleans(), st.just(HERE)),
    min_size=1,
    max_size=2,
).map(tuple)
plain: Expr = st.sampled_from(TEXTS).map(lambda t: ast.NameExpr(t, HERE))
leaves: Expr = st.one_of(
    plain,
    st.integers(0, 2**63 - 1).map(lambda n: ast.IntLit(n, HERE)),
    st.sampled_from(["1.5", "1e-5", "2.5e10", "3e7"]).map(lambda t: ast.FloatLit(t, HERE)),
    st.booleans().map(lambda b: ast.BoolLit(b, HERE)),
    st.text("ab\n\t\\\"'{}/é日", max_size=4).map(lambda t: ast.StringLit(t, HERE)),
    st.just(ast.NoneLit(HERE)),
)


def dims(inner: Expr) -> Expr:
    """What may be a generic argument: arithmetic on names and numbers, `min`, `max`, shapes."""
    return st.one_of(
        st.builds(
            lambda op, a, b: ast.BinaryExpr(op, a, b, HERE, HERE),
            st.sampled_from(list("+-*/%")), inner, inner,
        ),
        st.builds(
            lambda f, a: ast.CallExpr(
                ast.NameExpr(f, HERE), None, tuple(ast.Argument(None, e, HERE) for e in a), HERE
            ),
            st.sampled_from(["min", "max"]), st.lists(inner, min_size=2, max_size=2),
        ),
        inner.map(lambda e: ast.UnaryExpr("-", e, HERE)),
    )  # fmt: skip


dimensions = st.recursive(
    plain | st.integers(0, 99).map(lambda n: ast.IntLit(n, HERE)), dims, max_leaves=5
)
shapes = st.lists(dimensions | packs, max_size=2).map(lambda i: ast.ShapeExpr(tuple(i), HERE))
generics = st.lists(dimensions | packs | shapes, min_size=1, max_size=3).map(tuple)


def operands(inner: Expr) -> Expr:
    return st.one_of(
        st.builds(
            lambda op, a, b: ast.BinaryExpr(op, a, b, HERE, HERE),
            st.sampled_from(OPERATORS), inner, inner,
        ),
        st.builds(
            lambda op, a: ast.UnaryExpr(op, a, HERE), st.sampled_from(["!", "-", "+"]), inner
        ),
        st.builds(
            lambda op, acc, i, b: ast.ReduceExpr(op, acc, i, b, HERE),
            st.sampled_from(["sum", "max", "any"]), st.none() | plain, indices, inner,
        ),
    )  # fmt: skip


def calls(inner: Expr) -> Expr:
    argument = st.builds(ast.Argument, st.none() | names, inner, st.just(HERE))
    arguments = st.lists(argument, max_size=3).map(tuple)
    field = st.builds(lambda b, n: ast.FieldExpr(b, n, HERE), inner, names)
    bound = st.none() | inner
    cut = st.builds(lambda a, b, c: ast.SliceExpr(a, b, c, HERE), bound, bound, bound)
    access = st.lists(
        inner | cut | packs | st.just(ast.EllipsisExpr(HERE)), min_size=1, max_size=2
    ).map(tuple)
    value = st.builds(ast.FieldValue, names, inner, st.just(HERE))
    values = st.lists(value, max_size=2).map(tuple)
    return st.one_of(
        field,
        st.builds(lambda c, a: ast.CallExpr(c, None, a, HERE), inner, arguments),
        st.builds(lambda c, g, a: ast.CallExpr(c, g, a, HERE), plain | field, generics, arguments),
        st.builds(lambda b, i: ast.IndexExpr(b, i, HERE), inner, access),
        st.builds(
            lambda p, g, v: ast.StructExpr(p, g, v, HERE), some_names, st.none() | generics, values
        ),
    )


def choices(inner: Expr) -> Expr:
    pattern: st.SearchStrategy[ast.Pattern] = st.one_of(
        names.map(lambda n: ast.SomePattern(n, HERE)),
        names.map(lambda n: ast.VariantPattern(n, HERE)),
        st.just(ast.NonePattern(HERE)),
    )
    arm = st.builds(ast.MatchArm, pattern, inner, st.just(HERE))
    return st.one_of(
        st.builds(lambda c, a, b: ast.IfExpr(c, a, b, HERE), inner, inner, inner),
        st.builds(
            lambda s, a: ast.MatchExpr(s, tuple(a), HERE),
            inner, st.lists(arm, min_size=1, max_size=3),
        ),
        inner.map(lambda e: ast.SomeExpr(e, HERE)),
        st.lists(inner, min_size=2, max_size=3).map(lambda i: ast.TupleExpr(tuple(i), HERE)),
        st.lists(inner | packs, max_size=3).map(lambda i: ast.ShapeExpr(tuple(i), HERE)),
    )  # fmt: skip


expressions = st.recursive(
    leaves, lambda inner: operands(inner) | calls(inner) | choices(inner), max_leaves=12
)
types = st.recursive(
    st.one_of(
        st.builds(
            lambda p, a: ast.NamedTypeExpr(p, a, HERE), some_names, st.none() | generics
        ),
        st.builds(
            lambda d, t: ast.TensorTypeExpr(tuple(d), t, HERE),
            st.lists(dimensions | packs, min_size=1, max_size=2), plain,
        ),
    ),
    lambda inner: st.one_of(
        inner.filter(lambda t: not isinstance(t, ast.OptionalTypeExpr)).map(
            lambda t: ast.OptionalTypeExpr(t, HERE)
        ),
        st.lists(inner, min_size=2, max_size=2).map(lambda i: ast.TupleTypeExpr(tuple(i), HERE)),
        st.builds(lambda t, n: ast.ArrayTypeExpr(t, n, HERE), inner, dimensions),
    ),
    max_leaves=4,
)  # fmt: skip


def loops(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    body = st.lists(inner, max_size=2).map(tuple)
    return st.one_of(
        st.builds(lambda c, b: ast.WhileStmt(c, b, HERE), expressions, body),
        st.builds(
            lambda v, a, z, b: ast.StaticForStmt(v, a, z, b, HERE),
            names, expressions, st.none() | expressions, body,
        ),
    )  # fmt: skip


statements: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.builds(
            lambda m, n, t, e: ast.LetStmt(m, n, t, None, e, HERE),
            st.booleans(), names, st.none() | types, expressions,
        ),
        st.builds(
            lambda m, n, i, e: ast.LetStmt(m, n, None, i, e, HERE),
            st.booleans(), names, indices, expressions,
        ),
        st.builds(lambda n, e: ast.LetTupleStmt(n, e, HERE), some_names, expressions),
        st.builds(
            lambda n, i, e: ast.AssignStmt(n, i, e, HERE),
            names, st.none() | indices, expressions,
        ),
        expressions.map(lambda e: ast.ReturnStmt(e, HERE)),
    ),
    loops,
    max_leaves=3,
)  # fmt: skip


@given(expressions)
@settings(deadline=None, max_examples=400)
def test_any_expression(e: ast.Expr) -> None:
    printed = f"module m const x = {printer.expr(e)} const y = 1"
    read = good(printed).items[0]
    assert isinstance(read, ast.ConstDecl)
    assert bare(read.value) == bare(e), printed


@given(st.lists(statements, max_size=3))
@settings(deadline=None, max_examples=200)
def test_any_statements(body: list[ast.Stmt]) -> None:
    printed = "module m fn f() -> a { " + "\n".join(map(printer.stmt, body)) + " }"
    read = good(printed).items[0]
    assert isinstance(read, ast.FunctionDecl)
    assert bare(read.body) == bare(tuple(body)), printed


@given(types, types, expressions)
@settings(deadline=None, max_examples=150)
def test_any_types(first: Any, second: Any, default: ast.Expr) -> None:
    """White space alone may part the fields of a struct."""
    a, b = printer.type_(first), printer.type_(second)
    text = (
        f"module m struct S {{ a: {a} b: {b} }} fn f(a: {a} = {printer.expr(default)}) -> {b} {{ }}"
    )
    struct, function = good(text).items
    assert isinstance(struct, ast.StructDecl) and isinstance(function, ast.FunctionDecl)
    assert [bare(f.type) for f in struct.fields] == [bare(first), bare(second)], text
    assert bare(function.params[0].default) == bare(default), text
    assert bare(function.result) == bare(second), text
