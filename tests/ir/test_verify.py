"""Every rule refuses a module that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Facts, Relation
from linnet.dtypes import DType, DTypeVar
from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module, Operation, Region, Value
from linnet.ir.library import Absent, LibraryOp, Parts
from linnet.ir.types import Type
from linnet.ir.verify import VerifyError, problems, verify
from tests.ir.modules import alone, main
from tests.ir.samples import BOOL, F32, I64, N, everything, tensor

D = Dim.of
I32 = DType.I32
X = tensor(N, 4)


def test_everything_is_well_formed() -> None:
    assert problems(everything()) == []
    verify(everything())


def test_verify_raises_with_all_problems() -> None:
    b = Builder()
    b.emit("neg", [b.param(X)], tensor(4, N))
    b.emit("fold", [], X)
    with pytest.raises(VerifyError) as caught:
        verify(main(b))
    assert caught.value.problems == [
        "main: neg: gives tensor[4, N; f32], not tensor[N, 4; f32]",
        "main: fold: there is no such operation",
    ]


V, B = tensor(N), tensor(N, dtype=BOOL)
S, J = Type(F32), Type(I64)
CUT = {"start": (D(0), D(0)), "stop": (D(N), D(4)), "step": (1, 1)}


def cut(start: int, stop: int) -> dict[str, Any]:
    return CUT | {"start": (D(0), D(start)), "stop": (D(N), D(stop))}


SUM: dict[str, Any] = {"op": "sum", "axes": (1,), "accumulator": F32}
DOT: dict[str, Any] = {"inputs": ((0, 1), (1,)), "output": (0,), "accumulator": F32}
RUN: dict[str, Any] = {"axis": 0, "accumulator": F32}
BROKEN: list[tuple[str, list[Type], list[Type], dict[str, Any], str]] = [
    # outline
    ("neg", [], [V], {}, "has 0 operands, the row says 1"),
    ("neg", [V], [], {}, "has 0 results, the row says 1"),
    ("neg", [V], [V], {"axis": 1}, "has attributes ['axis'], not []"),
    ("concat", [V], [V], {}, "has attributes [], not ['axis']"),
    ("concat", [V], [V], {"axis": "0"}, "attribute axis is '0', not of kind int"),
    ("concat", [V], [V], {"axis": True}, "attribute axis is True, not of kind int"),
    ("if", [Type(BOOL)], [], {}, "has 0 regions, not 2"),
    # sources
    ("constant", [], [V], {"value": 1}, "gives tensor[N; f32], not a scalar"),
    ("constant", [], [Type(BOOL)], {"value": 1}, "1 is no value of bool"),
    ("constant", [], [J], {"value": "1.0"}, "'1.0' is no value of i64"),
    ("constant", [], [Type(DType.U8)], {"value": 256}, "256 is no value of u8"),
    ("constant", [], [S], {"value": True}, "True is no value of f32"),
    ("constant", [], [S], {"value": "one"}, "'one' is no float literal"),
    ("dim", [], [Type(BOOL)], {"dim": D(N)}, "gives bool, not a scalar number"),
    ("dim", [], [J], {"dim": D(Symbol("M"))}, "M is no symbol of the module"),
    ("iota", [], [X], {}, "gives tensor[N, 4; f32], not a vector of numbers"),
    ("fill", [V], [V], {}, "fills tensor[N; f32] with tensor[N; f32]"),
    ("fill", [J], [V], {}, "fills tensor[N; f32] with i64"),
    # elementwise
    ("exp", [J], [J], {}, "takes no i64"),
    ("neg", [B], [B], {}, "takes no bool"),
    ("not", [J], [J], {}, "takes no i64"),
    ("and", [V, V], [V], {}, "takes no f32"),
    ("shl", [B, B], [B], {}, "takes no bool"),
    ("add", [V, S], [V], {}, "takes tensor[N; f32] and f32, which differ"),
    (
        "add",
        [V, tensor(N, dtype=DType.F16)],
        [V],
        {},
        "takes tensor[N; f32] and tensor[N; f16], which differ",
    ),
    ("lt", [B, B], [B], {}, "takes no bool"),
    ("eq", [V, V], [V], {}, "gives tensor[N; f32], not tensor[N; bool]"),
    ("select", [Type(BOOL), V, V], [V], {}, "chooses by bool, not tensor[N; bool]"),
    (
        "select",
        [B, V, B],
        [V],
        {},
        "chooses between tensor[N; f32] and tensor[N; bool], which differ",
    ),
    ("cast", [V], [tensor(4, dtype=I64)], {}, "gives tensor[4; i64], not tensor[N; i64]"),
    # shape
    (
        "reshape",
        [X],
        [tensor(N, 3)],
        {},
        "turns tensor[N, 4; f32] into tensor[N, 3; f32], which has another number of elements",
    ),
    ("reshape", [V], [B], {}, "gives bool, not f32"),
    ("permute", [X], [X], {"axes": (0, 0)}, "axes (0, 0) are no permutation of 2 axes"),
    ("permute", [X], [X], {"axes": (1, 0)}, "gives tensor[N, 4; f32], not tensor[4, N; f32]"),
    (
        "broadcast",
        [V],
        [X],
        {"axes": ()},
        "axes () do not place tensor[N; f32] in tensor[N, 4; f32]",
    ),
    (
        "broadcast",
        [X],
        [tensor(4, N)],
        {"axes": (1, 0)},
        "axes (1, 0) do not place tensor[N, 4; f32] in tensor[4, N; f32]",
    ),
    ("broadcast", [V], [X], {"axes": (1,)}, "extent N does not become 4"),
    ("broadcast", [V], [tensor(N, dtype=I64)], {"axes": (0,)}, "gives i64, not f32"),
    ("concat", [X, X], [X], {"axis": 2}, "axis 2 is not one of 2"),
    ("concat", [X, V], [X], {"axis": 0}, "joins tensor[N, 4; f32] and tensor[N; f32]"),
    (
        "concat",
        [X, tensor(N, 3)],
        [tensor(2 * D(N), 4)],
        {"axis": 0},
        "joins tensor[N, 4; f32] and tensor[N, 3; f32] along axis 0",
    ),
    ("concat", [X, X], [X], {"axis": 0}, "gives tensor[N, 4; f32], not tensor[2 * N, 4; f32]"),
    ("slice", [V], [V], CUT, "needs a start, a stop and a step for each of 1 axes"),
    ("slice", [X], [X], CUT | {"step": (1, 0)}, "steps (1, 0) are not all positive"),
    *(
        ("slice", [X], [tensor(N, stop - start)], cut(start, stop), what)
        for start, stop, what in [
            (-1, 3, "-1:3 is not within an axis of 4"),
            (1, 5, "1:5 is not within an axis of 4"),
        ]
    ),
    ("slice", [X], [X], CUT | {"step": (1, 3)}, "gives tensor[N, 4; f32], not tensor[N, 2; f32]"),
    (
        "index",
        [X, J],
        [V],
        {"axes": (0, 1)},
        "axes (0, 1) do not fit 1 positions in tensor[N, 4; f32]",
    ),
    ("index", [X, Type(I32)], [V], {"axes": (1,)}, "a position is i32, not an i64 scalar"),
    ("index", [X, J], [V], {"axes": (0,)}, "gives tensor[N; f32], not tensor[4; f32]"),
    ("gather", [X], [V], {"axes": (("axis", 0),)}, "says where 1 axes come from; the base has 2"),
    (
        "gather",
        [V, J],
        [V],
        {"axes": (("index", 0),)},
        "an index tensor is i64; the result has 1 axes",
    ),
    (
        "gather",
        [V, tensor(3, dtype=I64)],
        [V],
        {"axes": (("index", 0),)},
        "an index tensor has extent 3 where the result has N",
    ),
    (
        "gather",
        [V, tensor(N, dtype=I64)],
        [V],
        {"axes": (("axis", 0),)},
        "axes (('axis', 0),) do not use each of 1 index tensors",
    ),
    (
        "gather",
        [V],
        [tensor(4)],
        {"axes": (("axis", 0),)},
        "extent N is walked by an axis of extent 4",
    ),
    ("gather", [V], [V], {"axes": (("axis", 1),)}, "result axis 1 is not one of 1"),
    ("gather", [V], [B], {"axes": (("axis", 0),)}, "gives bool, not f32"),
    (
        "gather",
        [V],
        [V],
        {"axes": (("row", 0),)},
        "attribute axes is (('row', 0),), not of kind sources",
    ),
    # reductions
    ("reduce", [X], [V], SUM | {"op": "mean"}, "there is no reduction 'mean'"),
    ("reduce", [X], [V], SUM | {"op": "any"}, "any takes no f32"),
    ("reduce", [B], [Type(BOOL)], SUM | {"axes": (0,)}, "sum takes no bool"),
    ("reduce", [X], [X], SUM | {"axes": ()}, "axes () are not axes of tensor[N, 4; f32]"),
    ("reduce", [X], [tensor(4)], SUM, "gives tensor[4; f32], not tensor[N; f32]"),
    ("reduce", [X], [V], SUM | {"accumulator": I64}, "f32 is kept in i64"),
    (
        "reduce",
        [B],
        [Type(BOOL)],
        SUM | {"op": "any", "axes": (0,), "accumulator": I64},
        "bool is kept in i64",
    ),
    ("contract", [X, tensor(4)], [V], DOT | {"accumulator": I64}, "f32 is kept in i64"),
    ("contract", [X, tensor(4)], [tensor(N, dtype=I64)], DOT, "i64 is kept in f32"),
    (
        "contract",
        [X, tensor(4)],
        [V],
        DOT | {"inputs": ((0, -1), (-1,))},
        "an index of ((0, -1), (-1,)) is negative",
    ),
    ("contract", [X], [V], DOT, "has indices for 2 operands, not 1"),
    ("contract", [X, tensor(4, dtype=I64)], [V], DOT, "takes f32 and i64"),
    ("contract", [X, X], [V], DOT, "indices (1,) do not fit tensor[N, 4; f32]"),
    ("contract", [X, tensor(3)], [V], DOT, "index 1 has extents 4 and 3"),
    (
        "contract",
        [X, tensor(4)],
        [V],
        DOT | {"output": (2,)},
        "output indices (2,) are not distinct indices of the operands",
    ),
    ("contract", [X, tensor(4)], [tensor(4)], DOT, "gives tensor[4; f32], not tensor[N; f32]"),
    ("cumsum", [V], [V], RUN | {"axis": 1}, "axis 1 of tensor[N; f32] has no running sum"),
    ("cumsum", [V], [B], RUN, "gives tensor[N; bool], not tensor[N; f32]"),
    ("cumsum", [V], [V], RUN | {"accumulator": I64}, "f32 is kept in i64"),
    # structure
    ("param", [], [V], {"path": ("layers", "$l", "w")}, "no `each` around it has the variable $l"),
    ("param", [], [V], {"path": ()}, "() names no member"),
    ("param", [], [V], {"path": ("layers", 0)}, "('layers', 0) names no member"),
    ("param", [], [V], {"path": ("l", -1, "w")}, "-1 is no number of a block"),
    ("param", [], [V], {"path": (0, "w")}, "0 in (0, 'w') is no element of an array"),
    (
        "state_read",
        [],
        [V],
        {"path": ("l", 0, 1, "w")},
        "1 in ('l', 0, 1, 'w') is no element of an array",
    ),
    ("state_write", [V], [], {"path": ("", "w")}, "a name in ('', 'w') is empty"),
    ("call", [V], [V], {"callee": "f", "at": ()}, "there is no function 'f'"),
]


@pytest.mark.parametrize(("name", "operands", "results", "attrs", "problem"), BROKEN)
def test_broken_rows(
    name: str, operands: list[Type], results: list[Type], attrs: dict[str, Any], problem: str
) -> None:
    assert f"{name}: {problem}" in alone(name, operands, results, attrs)


def test_types_that_are_none() -> None:
    b = Builder()
    b.emit("fill", [b.param(S)], tensor(N, -1))
    b.emit("fill", [b.params[0]], Type(F32, ()))
    assert problems(main(b)) == [
        "main: the extent -1 is negative",
        "main: %2 is a tensor without axes, which is a scalar",
    ]


def test_rows_that_hold() -> None:
    assert alone("slice", [X], [tensor(N, 2)], CUT | {"step": (1, 3)}) == []
    assert alone("slice", [X], [tensor(N, 0)], cut(3, 2) | {"step": (1, 2)}) == []
    assert alone("reshape", [Type(F32)], [tensor(1, 1)]) == []
    assert alone("index", [V, J], [Type(F32)], {"axes": (0,)}) == []
    assert alone("gather", [X], [tensor(N, N, 4)], {"axes": (("axis", 1), ("axis", 2))}) == []
    diagonal = {"axes": (("axis", 0), ("axis", 0))}
    assert alone("gather", [tensor(N, N)], [V], diagonal) == []
    assert (
        alone(
            "contract",
            [X, Type(F32)],
            [Type(DType.BF16)],
            DOT | {"inputs": ((0, 1), ()), "output": ()},
        )
        == []
    )


def test_generic_dtypes() -> None:
    t, u = DTypeVar("T", "Float"), DTypeVar("U", "Numeric")
    for var, name, expected in [
        (t, "exp", []),
        (u, "neg", []),
        (u, "exp", ["exp: takes no U"]),
        (u, "shl", ["shl: takes no U"]),
    ]:
        type = tensor(N, dtype=var)  # pyright: ignore[reportArgumentType]
        operands = [type] * (2 if name == "shl" else 1)
        assert alone(name, operands, [type]) == expected
    assert alone("constant", [], [Type(u)], {"value": 1}) == []
    anything = DTypeVar("A", "DType")
    assert alone("constant", [], [Type(anything)], {"value": True}) == [
        "constant: True is no value of A"
    ]
    for accumulator, expected in [
        (u, []),
        (F32, ["reduce: U is kept in f32"]),
        (t, ["reduce: U is kept in T"]),
    ]:
        attrs = {"op": "sum", "axes": (0,), "accumulator": accumulator}
        assert alone("reduce", [tensor(N, dtype=u)], [Type(u)], attrs) == expected  # pyright: ignore
    attrs = {"op": "sum", "axes": (0,), "accumulator": F32}
    assert alone("reduce", [tensor(N, dtype=t)], [Type(t)], attrs) == []  # pyright: ignore
    assert alone("constant", [], [Type(u)], {"value": "1.0"}) == [
        "constant: '1.0' is no value of U"
    ]


# --- the whole ---------------------------------------------------------------


def neg(b: Builder, x: Value, y: Value) -> Operation:
    return b.append(Operation("neg", (x,), (y,)))


def test_use_before_definition() -> None:
    b = Builder()
    x, y = b.value(V), b.value(V)
    neg(b, x, y)
    neg(b, y, x)
    assert problems(main(b)) == ["main: neg: operand %0 is not defined here"]


def test_defined_twice() -> None:
    b = Builder()
    x = b.param(V)
    neg(b, x, x)
    assert problems(main(b)) == ["main: %0 is defined twice"]


def test_used_with_another_type() -> None:
    b = Builder()
    x = b.param(V)
    neg(b, Value(x.id, X), b.value(X))
    assert problems(main(b)) == [
        "main: neg: operand %0 is tensor[N, 4; f32], defined as tensor[N; f32]"
    ]


def test_a_region_hides_its_values() -> None:
    b = Builder()
    c, x = b.param(Type(BOOL)), b.param(V)
    inner, other = b.nested(), b.nested()
    hidden = inner.emit("neg", [x], V)
    regions = [inner.region([hidden]), other.region([x])]
    b.emit("if", [c], V, regions=regions)
    found = problems(main(b, hidden))
    assert found == ["main: the result %2 is not defined here"]


def region(params: list[Type], yields: list[Type]) -> Callable[[Builder], Region]:
    """A region that yields fresh tensors or its parameters where they have the types."""

    def build(b: Builder) -> Region:
        inner = b.nested()
        have = [inner.param(t) for t in params]
        made = [inner.emit("param", [], t, {"path": ("w",)}) for t in yields]
        return inner.region(
            [h if h.type == m.type else m for h, m in zip(have, made, strict=False)]
            if len(have) == len(made)
            else made
        )

    return build


C = Type(BOOL)
REGIONS: list[tuple[str, dict[str, Any], list[Type], list[Any], str]] = [
    (
        "if",
        {},
        [V],
        [region([], [V]), region([], [V])],
        "the condition is tensor[N; f32], not bool",
    ),
    (
        "if",
        {},
        [C],
        [region([], [V]), region([], [X])],
        "what a region yields: tensor[N, 4; f32], not tensor[N; f32]",
    ),
    ("if", {}, [C], [region([V], [V]), region([], [V])], "its regions have parameters"),
    (
        "while",
        {},
        [V],
        [region([V], [V]), region([V], [V])],
        "what a region yields: tensor[N; f32], not bool",
    ),
    ("while", {}, [V], [region([V], [C]), region([V], [V, V])], "what a region yields: 2, not 1"),
    (
        "loop",
        {"start": D(0), "stop": D(N)},
        [V],
        [region([V], [V])],
        "parameters of a region: 1, not 2",
    ),
    (
        "each",
        {"array": ("l",), "count": D(N), "var": "l"},
        [V],
        [region([X], [V])],
        "parameters of a region: tensor[N, 4; f32], not tensor[N; f32]",
    ),
]


@pytest.mark.parametrize(("name", "attrs", "operands", "regions", "problem"), REGIONS)
def test_broken_regions(
    name: str, attrs: dict[str, Any], operands: list[Type], regions: list[Any], problem: str
) -> None:
    b = Builder()
    params = [b.param(t) for t in operands]
    b.emit(name, params, V, attrs, [build(b) for build in regions])
    assert f"main: {name}: {problem}" in problems(main(b))


def callee(*results: Type) -> Function:
    b = Builder()
    b.param(V)
    return b.function("f", None, [b.emit("param", [], t, {"path": ("w",)}) for t in results])


@pytest.mark.parametrize(
    ("operand", "function", "problem"),
    [
        (X, callee(V), "arguments of f: tensor[N, 4; f32], not tensor[N; f32]"),
        (V, callee(X), "results: tensor[N; f32], not tensor[N, 4; f32]"),
        (V, callee(V, V), "results: 1, not 2"),
    ],
)
def test_broken_calls(operand: Type, function: Function, problem: str) -> None:
    b = Builder()
    b.emit("call", [b.param(operand)], V, {"callee": "f", "at": ()})
    module = Module("main", (N,), {"main": b.function("main", None, []), "f": function})
    assert problems(module) == [f"main: call: {problem}"]


def test_recursion() -> None:
    b = Builder()
    b.emit_all("call", [], [], {"callee": "main", "at": ()})
    assert problems(main(b)) == ["these functions call each other: ['main']"]


def test_module_outline() -> None:
    function = Builder().function("f", None, [])
    module = Module("main", (N, N), {"g": function})
    assert problems(module) == [
        "the entry 'main' is not a function",
        "a symbol is listed twice among ['N', 'N']",
        "function f is listed as g",
    ]


def test_facts_settle_extents() -> None:
    m = Symbol("M")
    b = Builder()
    b.emit("neg", [b.param(tensor(2 * D(m)))], tensor(N))
    module = replace(main(b), symbols=(N, m))
    assert problems(module) == ["main: neg: gives tensor[N; f32], not tensor[2 * M; f32]"]
    assert problems(module, Facts([Relation("==", D(N), 2 * D(m))])) == []


def test_places_are_named() -> None:
    b = Builder(place="a.linnet:3")
    b.emit("neg", [b.param(V)], X)
    (found,) = problems(main(b))
    assert found == "main: neg (a.linnet:3): gives tensor[N, 4; f32], not tensor[N; f32]"


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (
            LibraryOp(
                "o",
                (),
                (("x", 0), ("y", Parts((("a", 1), ("b", Absent()))))),
            ),
            None,
        ),
        (LibraryOp("o", (), (("x", 0),)), "o is passed [0] of 2 parameters"),
        (LibraryOp("o", (), (("x", 1), ("y", 0))), "o is passed [1, 0] of 2 parameters"),
        (
            LibraryOp("o", (), (("x", 0), ("x", 1))),
            "a parameter of o is named twice among ['x', 'x']",
        ),
        (
            LibraryOp("o", (("N", Dim.of(N)), ("N", DType.F32)), (("x", 0), ("y", 1))),
            "a generic of o is named twice among ['N', 'N']",
        ),
        (
            LibraryOp("o", (("S", (Dim.of(Symbol("Q")),)),), (("x", 0), ("y", 1))),
            "Q is no symbol of the module",
        ),
        (
            LibraryOp("o", (("N", Dim.of(-1)),), (("x", 0), ("y", 1))),
            "the extent -1 is negative",
        ),
    ],
)
def test_the_op_of_a_function(op: LibraryOp, expected: str | None) -> None:
    b = Builder()
    function = b.function("main", op, [b.param(X), b.param(X)])
    found = problems(Module("main", (N,), {"main": function}))
    assert found == ([] if expected is None else [f"main: {expected}"])
