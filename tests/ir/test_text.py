from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linnet.dims.dims import Dim, Symbol, dim_max, dim_min
from linnet.dtypes import DType, DTypeVar
from linnet.ir.builder import Builder
from linnet.ir.core import Module, Value
from linnet.ir.library import Absent, Known, LibraryOp, Parts
from linnet.ir.parse import parse
from linnet.ir.passes.vectorize import vectorize
from linnet.ir.reader import IRSyntaxError
from linnet.ir.scalar import Access, Apply, Const, Index, Scalar
from linnet.ir.text import same, show
from linnet.ir.types import Type
from linnet.ir.verify import problems
from tests.ir.generate import Case, cases
from tests.ir.samples import everything

A, B, C = (Symbol(n) for n in ("A", "B", "B"))

WANTED = """module main
symbols A, B, B~1
dtypes T: Float

function main(%x.0: tensor[A, B, 2 * B~1; T]) of std.nn::f<B = 2 * B~1, S = [A, B], \
T: T>(x: ("0": 0, by: none), how: variant Mean) {
  %1: T = constant() {value: "1e-5"} @ "a.linnet:3"
  %y.2: tensor[A, B; T] = indexed(%x.0, %1) {indices: [A, B], expr: sum<f32>[#2 < 2 * B~1]\
(neg($0[#0:i64, #1:i64, #2:i64]:T):T, $1:T):T}
  return %y.2
}
"""


def test_exact_text() -> None:
    module = parse(WANTED)
    assert show(module) == WANTED
    assert [s.name for s in module.symbols] == ["A", "B", "B"]
    assert problems(module) == []
    function = module.functions["main"]
    (a, b, other) = map(Dim.of, module.symbols)
    dtype = function.params[0].type.dtype
    generics = (("B", 2 * other), ("S", (a, b)), ("T", dtype))
    given = Parts((("0", 0), ("by", Absent())))
    assert function.op == LibraryOp("std.nn::f", generics, (("x", given), ("how", Known("Mean"))))
    assert function.body[0].attrs == {"value": "1e-5"}
    assert function.body[0].place == "a.linnet:3"
    assert function.body[1].results[0].hint == "y"


def check(module: Module) -> None:
    text = show(module)
    again = parse(text)
    assert show(again) == text
    assert same(module, again)
    assert problems(again) == problems(module)
    kept = parse(text, module.symbols)
    if len({s.name for s in module.symbols}) == len(module.symbols):
        assert kept.symbols == module.symbols


@settings(max_examples=150, deadline=None)
@given(cases())
def test_random_modules(case: Case) -> None:
    check(case.module)
    check(vectorize(case.module))


def test_every_operation() -> None:
    check(everything())


def dims() -> st.SearchStrategy[Dim]:
    leaves = st.sampled_from((A, B, C, 1, 2, 3, 7)).map(Dim.of)

    def grow(inner: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
        pair = st.tuples(inner, inner)
        divisors = st.one_of(st.sampled_from((A, B, 2, 5)).map(Dim.of), inner.map(lambda d: d + 9))
        parts = st.tuples(inner, divisors).filter(lambda p: p[1].as_int() != 0)
        return st.one_of(
            pair.map(lambda p: p[0] + p[1]),
            pair.map(lambda p: p[0] - p[1]),
            pair.map(lambda p: p[0] * p[1]),
            pair.map(lambda p: dim_min(*p)),
            pair.map(lambda p: dim_max(*p)),
            parts.map(lambda p: p[0] // p[1]),
            parts.map(lambda p: p[0] % p[1]),
        )

    return st.recursive(leaves, grow, max_leaves=6)


@settings(max_examples=200, deadline=None)
@given(dims())
def test_dimensions(dim: Dim) -> None:
    b = Builder()
    y = b.emit("dim", [], Type(DType.I64), {"dim": dim})
    module = Module("f", (A, B, C), {"f": b.function("f", None, [y])})
    check(module)
    unique = replace(module, symbols=(A, B))
    if C not in dim.symbols():
        again = parse(show(unique), (A, B))
        assert again.functions["f"].body[0].attrs["dim"] == dim


def vector(symbol: Symbol, dtype: DType | DTypeVar = DType.F32, first: int = 0) -> Module:
    b = Builder(iter(range(first, first + 9)), place=f"p:{first}")
    x = b.param(Type(dtype, (Dim.of(symbol),)), f"x{first}")
    y = b.emit("neg", [x], x.type)
    return Module("f", (symbol,), {"f": b.function("f", None, [y])})


def test_same_ignores_identity_numbers_and_names_for_people() -> None:
    assert same(vector(Symbol("N")), vector(Symbol("N"), first=5))
    assert same(vector(A, DTypeVar("T", "Float")), vector(A, DTypeVar("T", "Float")))
    assert not same(vector(A), vector(B))
    assert not same(vector(A), vector(A, DType.BF16))
    assert not same(vector(A, DTypeVar("T", "Float")), vector(A, DTypeVar("T", "Numeric")))


def test_same_sees_which_value_is_used() -> None:
    def module(order: int) -> Module:
        b = Builder()
        both = [b.param(Type(DType.F32)), b.param(Type(DType.F32))][::order]
        y = b.emit("sub", both, Type(DType.F32))
        return Module("f", (), {"f": b.function("f", None, [y])})

    assert same(module(1), module(1))
    assert not same(module(1), module(-1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("return %y.2", "return %y.7", "%7 is not defined before"),
        ("constant()", "konstant()", "there is no operation 'konstant'"),
        (": T =", ": Q =", "there is no dtype 'Q'"),
        ("sum<f32>", "mean<f32>", "there is no reduction 'mean'"),
        ("{value:", "{worth:", "expected 'value'"),
        ("symbols A", "symbols !A", "is no token"),
        ("T: Float", "T: Small", "expected a kind of dtypes"),
        ('{value: "1e-5"}', "{value: null}", "expected int"),
        ('"1e-5"', '"\\q"', "expected a string as in JSON"),
        ('"a.linnet:3"', '"a\nb"', "expected a string as in JSON"),
        ("2 * B~1;", "2 / 0;", "`2` is divided by zero"),
        ("2 * B~1;", "A % 0;", "`A` is divided by zero"),
        ("2 * B~1;", "9" * 5000 + ";", "expected a number that is not too long"),
        ("2 * B~1;", "(" * 9000 + "A", "nested too deeply"),
        ("%1: T", "%" + "1" * 5000 + ": T", "expected a number that is not too long"),
        ("$0[", "$x[", "expected a number"),
    ],
)
def test_bad_text_is_refused(old: str, new: str, message: str) -> None:
    assert old in WANTED
    with pytest.raises(IRSyntaxError, match=message):
        parse(WANTED.replace(old, new, 1))


PIECES, MORE = (
    re.findall(r'"[^"]*"|[%$]?[\w.]+|\s+|.', text) for text in (WANTED, show(everything()))
)
ODD = ['"\\q"', '"\x01"', '"', "9" * 5000, "$a", "$", "/ 0", "% N", "N~1", "min(", "é"]


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(PIECES) - 1), st.sampled_from([*PIECES, *MORE, *ODD])),
        max_size=3,
    )
)
def test_any_text_is_a_module_or_a_syntax_error(changes: list[tuple[int, str]]) -> None:
    pieces = list(PIECES)
    for at, piece in changes:
        pieces[at] = piece
    try:
        module = parse("".join(pieces))
    except IRSyntaxError:
        return
    problems(module)
    text = show(module)
    assert show(parse(text)) == text


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=6), min_size=5, max_size=5), st.sampled_from(["tensor", "f32"]))
def test_names_of_any_kind(names: list[str], dtype: str) -> None:
    b = Builder(place=names[0])
    x = b.param(Type(DTypeVar(dtype, "Float"), (Dim.of(A),)), names[1])
    y = b.param(Type(DType.F32), "tensor")
    b.emit("param", [], x.type, {"path": (names[2], 0, "0", f"${names[3]}")})
    inner = b.nested().region([])
    attrs = {"array": (names[2],), "count": Dim.of(A), "var": names[3]}
    b.emit_all("each", [], [], attrs, [inner])
    text = b.constant(names[4], DType.F32)
    generics = ((names[0], Dim.of(A)), (names[1], DTypeVar(dtype, "Float")))
    given = ((names[0], Parts(((names[1], 0), (names[2], Known(names[3]))))), (names[4], 1))
    function = b.function(names[3], LibraryOp(names[4], generics, given), [text, y])
    check(Module(names[3], (A,), {names[3]: function}))


@pytest.mark.parametrize("literal", ["nan", "-inf", "inf", "-0.0", "1e-400", 2**70, -3, True])
def test_every_literal(literal: str | int | bool) -> None:
    b = Builder()
    y = b.constant(literal, DType.BOOL if literal is True else DType.F32)
    expr = Const(literal, y.type.dtype)
    z = b.emit("indexed", [], y.type, {"indices": (), "expr": expr})
    module = Module("f", (), {"f": b.function("f", None, [y, z])})
    again = parse(show(module)).functions["f"].body
    assert [type(again[0].attrs["value"]), again[0].attrs["value"]] == [type(literal), literal]
    assert again[1].attrs["expr"] == expr
    check(module)


def test_deep_expressions_need_no_deep_stack() -> None:
    expr: Scalar = Access(0, (Index(0, DType.I64),), DType.F32)
    for k in range(3000):
        expr = Apply("add", (Const(k, DType.F32), expr), DType.F32)
    b = Builder()
    x = b.param(Type(DType.F32, (Dim.of(A),)))
    y = b.emit("indexed", [x], x.type, {"indices": x.type.shape, "expr": expr})
    module = Module("f", (A,), {"f": b.function("f", None, [y])})
    assert show(parse(show(module))) == show(module)


def test_odd_hints_are_dropped() -> None:
    b = Builder()
    x = b.param(Type(DType.F32), "two words")
    module = Module("f", (), {"f": b.function("f", None, [x])})
    assert parse(show(module)).functions["f"].params == (Value(0, Type(DType.F32)),)
