"""Every rule of scalar expressions refuses one that breaks it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.ir.scalar import (
    Access,
    Apply,
    Const,
    DimValue,
    Index,
    Operand,
    Reduce,
    Scalar,
)
from linnet.ir.types import Type
from tests.ir.modules import alone
from tests.ir.samples import BOOL, F32, I64, N, tensor

D = Dim.of
I32 = DType.I32
X, V = tensor(N, 4), tensor(N)


def of_indexed(expr: Scalar, result: Type = V) -> list[str]:
    attrs = {"indices": tuple(result.shape), "expr": expr}
    return alone("indexed", [X, Type(F32)], [result], attrs)


def at(*positions: Scalar, dtype: DType = F32) -> Access:
    return Access(0, positions, dtype)


def i(number: int) -> Index:
    return Index(number, I64)


def total(body: Scalar, number: int = 1, extent: Dim | None = None, **other: Any) -> Reduce:
    found = Reduce("sum", F32, ((number, extent or D(4)),), (body,), body.dtype)
    return replace(found, **other)


GOOD = total(at(i(0), i(1)))
BROKEN_INDEXED: list[tuple[Scalar, str]] = [
    (Const(1, BOOL), "1 is no value of bool"),
    (DimValue(D(N), BOOL), "gives bool, not a scalar number"),
    (DimValue(D(Symbol("M")), F32), "M is no symbol of the module"),
    (total(at(i(0), i(1)), extent=D(3)), "index 1 of extent 3 walks an axis of 4"),
    (at(i(0), i(1)), "index 1 is not bound here"),
    (at(i(0)), "1 positions in 2 axes of operand 0"),
    (at(i(0), Const("1.0", F32)), "a position is f32, no integer"),
    (at(i(0), Const(1, I64), dtype=I64), "operand 0 is f32, read as i64"),
    (at(i(0), Const(4, I64)), "position 4 is not within an axis of 4"),
    (at(Const(-1, I64), i(0)), "position -1 is not within an axis of N"),
    (Operand(2, F32), "there is no operand 2"),
    (Operand(0, F32), "operand 0 is tensor[N, 4; f32], no scalar"),
    (Apply("fold", (Operand(1, F32),), F32), "there is no elementwise 'fold'"),
    (Apply("reshape", (Operand(1, F32),), F32), "there is no elementwise 'reshape'"),
    (Apply("add", (Operand(1, F32),), F32), "add takes 2 operands, not 1"),
    (Apply("add", (Operand(1, F32), Const(1, I64)), F32), "add takes f32 and i64, which differ"),
    (Apply("lt", (Operand(1, F32), Operand(1, F32)), F32), "lt gives f32, not bool"),
    (total(GOOD), "index 1 is bound already"),
    (
        Apply("add", (GOOD, total(at(i(0), Const(0, I64)), extent=D(3))), F32),
        "index 1 has extents 4 and 3",
    ),
    (replace(GOOD, op="mean"), "there is no reduction 'mean'"),
    (replace(GOOD, op="any"), "any takes no f32"),
    (replace(GOOD, dtype=DType.F16), "sum of f32 is no f16"),
    (replace(GOOD, accumulator=BOOL), "sum of f32 is kept in bool"),
    (replace(GOOD, accumulator=I64), "sum of f32 is kept in i64"),
    (replace(GOOD, factors=()), "sum of 0 factors"),
    (replace(GOOD, factors=(Const(1, F32), Const(1, I64))), "sum of i64 is no f32"),
    (replace(GOOD, op="max", factors=GOOD.factors * 2), "max of 2 factors"),
    (replace(GOOD, indices=()), "sum binds no index"),
    (replace(GOOD, indices=GOOD.indices * 2), "index 1 is bound already"),
    (at(Index(0, I32), Const(0, I64)), "index 0 is a position as i32, not i64"),
    (Apply("cast", (GOOD,), I64), "gives tensor[N; f32], not tensor[N; i64]"),
]


def test_well_formed_expression() -> None:
    assert of_indexed(GOOD) == []
    assert of_indexed(Operand(1, F32), Type(F32)) == []
    assert of_indexed(Apply("mul", (GOOD, GOOD), F32)) == []
    assert of_indexed(replace(GOOD, factors=GOOD.factors * 3)) == []


@pytest.mark.parametrize(("expr", "problem"), BROKEN_INDEXED)
def test_broken_expressions(expr: Scalar, problem: str) -> None:
    assert f"indexed: {problem}" in of_indexed(expr)
