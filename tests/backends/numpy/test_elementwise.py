"""Constants and elementwise operations against exact values, as `docs/ir.md` defines them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linnet.backends.base import RuntimeFault
from linnet.backends.interpret.walk import STRUCTURE
from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.numpy.interpreter import DISPATCH, run
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.ops import OPS, UNARY_FLOAT
from linnet.ir.types import Type
from tests.backends.numpy.harness import (
    FLOAT_LIST,
    SIGNED,
    UNSIGNED,
    apply,
    binary,
    module,
    tensor,
    type_of,
    unary,
)


def test_every_operation_but_indexed_has_a_meaning() -> None:
    assert set(OPS) - {"indexed"} == DISPATCH.keys() | STRUCTURE.keys()


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (7, DType.I8, 7),
        (-1, DType.I64, -1),
        (2**64 - 1, DType.U64, 2**64 - 1),
        (True, DType.BOOL, True),
        ("1.5", DType.F16, 1.5),
        ("-1e30", DType.F32, float(np.float32(-1e30))),
        ("1e400", DType.F64, float("inf")),
        ("-1e39", DType.F32, float("-inf")),
        ("1e39", DType.BF16, float("inf")),
        ("65520", DType.F16, float("inf")),
        ("65519", DType.F16, 65504.0),
        ("0.2691408770292272", DType.BF16, 0.26953125),
        # Halfway between two values of the dtype but for the last digit: no rounding on the way.
        ("1.00390625000000000000000000001", DType.BF16, 1.0078125),
        ("1.00390625", DType.BF16, 1.0),
        ("1.000000059604644775390625", DType.F32, 1.0),
        ("1.0000000596046447753906250000000001", DType.F32, 1.00000011920928955078125),
        (16777217, DType.F32, 16777216.0),
        (2**62 + 2**54 + 1, DType.BF16, 2.0**62 + 2.0**55),
        ("3.141_592", DType.F64, 3.141592),
    ],
)
def test_constant(value: Any, dtype: DType, expected: Any) -> None:
    assert apply("constant", [], Type(dtype), value=value).item() == expected


def test_dim_is_the_value_under_the_shapes() -> None:
    s, n = Symbol("S"), Symbol("N")
    b = Builder()
    x = b.param(Type(DType.F32, (Dim.of(s), Dim.of(s) * 2 + n)), "x")
    results = [
        b.emit("dim", [], Type(DType.I32), {"dim": Dim.of(n) - s}),
        b.emit("dim", [], Type(DType.BF16), {"dim": Dim.of(s) * 100 + 1}),
        b.emit("dim", [], Type(DType.U8), {"dim": Dim.of(s) - n - 3}),
    ]
    m = module(b.function("f", None, [*results, x]), symbols=(s, n))
    first, second, third, _ = run(m, [np.zeros((3, 10), np.float32)])
    assert (first.item(), first.dtype) == (1, np.int32)
    assert (second.item(), second.dtype) == (300.0, NUMPY[DType.BF16])
    assert third.item() == 252
    with pytest.raises(RuntimeFault, match="no `N`"):
        run(m, [np.zeros((3, 5), np.float32)])


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED, *FLOAT_LIST])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_iota_and_fill(dtype: DType, n: int) -> None:
    assert apply("iota", [], tensor([n], dtype)).tolist() == list(range(n))
    filled = apply("fill", [np.asarray(3, NUMPY[dtype])], tensor([2, n], dtype))
    assert filled.tolist() == [[3] * n] * 2


def test_iota_wraps_beyond_its_dtype() -> None:
    assert apply("iota", [], tensor([130], DType.I8)).tolist()[127:] == [127, -128, -127]


@pytest.mark.parametrize("dtype", SIGNED)
def test_signed_integers_wrap(dtype: DType) -> None:
    low, high = dtype.integer_range()
    assert binary("add", [high, 1], [1, 2], dtype) == [low, 3]
    assert binary("sub", [low, 1], [1, 2], dtype) == [high, -1]
    assert binary("mul", [high, -3], [2, 4], dtype) == [-2, -12]
    assert unary("neg", [low, 5, 0], dtype) == [low, -5, 0]
    assert unary("abs", [low, -5, 5], dtype) == [low, 5, 5]
    assert binary("div", [7, -7, 7, -7, low, 9], [2, 2, -2, -2, -1, 0], dtype) == [
        3, -3, -3, 3, low, 0,
    ]  # fmt: skip
    assert binary("rem", [7, -7, 7, -7, low, 9], [2, 2, -2, -2, -1, 0], dtype) == [
        1, -1, 1, -1, 0, 9,
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_integers_wrap(dtype: DType) -> None:
    _, high = dtype.integer_range()
    assert binary("add", [high, 1], [1, 2], dtype) == [0, 3]
    assert binary("sub", [0, 5], [1, 2], dtype) == [high, 3]
    assert binary("mul", [high, 3], [2, 4], dtype) == [high - 1, 12]
    assert unary("neg", [1, 0], dtype) == [high, 0]
    assert unary("abs", [high, 1], dtype) == [high, 1]
    assert binary("div", [high, 7, 7], [2, 2, 0], dtype) == [high // 2, 3, 0]
    assert binary("rem", [high, 7, 7], [2, 4, 0], dtype) == [1, 3, 7]


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_scalars_wrap_as_tensors_do(dtype: DType) -> None:
    low, high = dtype.integer_range()
    assert binary("add", high, 1, dtype) == low
    assert binary("div", high, 0, dtype) == 0


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_shifts(dtype: DType) -> None:
    bits = dtype.bits
    assert binary("shl", [1, 3, 1, 1], [3, bits - 1, bits, 100], dtype)[:1] == [8]
    assert binary("shl", [1, 1, 1], [bits, bits + 1, 100], dtype) == [0, 0, 0]
    assert binary("shr", [100, 100, 100], [2, bits, 100], dtype) == [25, 0, 0]
    if dtype.is_signed:
        low = dtype.integer_range()[0]
        assert binary("shl", [1, 3, 5], [bits - 1, bits - 1, -1], dtype) == [low, low, 0]
        assert binary("shr", [-100, -100, -1, -8, 8], [2, bits, 1, -1, -1], dtype) == [
            -25, -1, -1, -1, 0,
        ]  # fmt: skip
    else:
        assert binary("shr", [dtype.integer_range()[1]], [bits - 1], dtype) == [1]


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED])
def test_bitwise(dtype: DType) -> None:
    assert binary("and", [12, 0], [10, 5], dtype) == [8, 0]
    assert binary("or", [12, 0], [10, 5], dtype) == [14, 5]
    assert binary("xor", [12, 0], [10, 5], dtype) == [6, 5]


def test_logic_of_bool() -> None:
    a, b = [True, True, False, False], [True, False, True, False]
    assert binary("and", a, b, DType.BOOL) == [True, False, False, False]
    assert binary("or", a, b, DType.BOOL) == [True, True, True, False]
    assert binary("xor", a, b, DType.BOOL) == [False, True, True, False]
    assert unary("not", a, DType.BOOL) == [False, False, True, True]


@pytest.mark.parametrize("dtype", FLOAT_LIST)
def test_float_arithmetic(dtype: DType) -> None:
    nan = float("nan")
    assert binary("add", [1.5, 2], [0.25, -2], dtype) == [1.75, 0]
    assert binary("sub", [1.5], [0.25], dtype) == [1.25]
    assert binary("mul", [1.5], [-4], dtype) == [-6]
    assert binary("div", [1.5, 1, -1], [2, 0, 0], dtype) == [0.75, float("inf"), float("-inf")]
    assert binary("rem", [7.5, -7.5, 7.5], [2, 2, -2], dtype) == [1.5, -1.5, 1.5]
    assert binary("min", [1, -2], [3, -4], dtype) == [1, -4]
    assert binary("max", [1, -2], [3, -4], dtype) == [3, -2]
    for name in ("min", "max"):
        assert np.isnan(binary(name, [nan, 1, nan], [1, nan, nan], dtype)).all()
    assert unary("neg", [1.5, -2], dtype) == [-1.5, 2]
    assert unary("abs", [1.5, -2], dtype) == [1.5, 2]
    assert unary("sqrt", [4, 2.25], dtype) == [2, 1.5]
    assert unary("rsqrt", [4, 0.25], dtype) == [0.5, 2]
    assert unary("exp", [0, float("-inf")], dtype) == [1, 0]
    assert unary("log", [1, 0], dtype) == [0, float("-inf")]
    assert unary("sin", [0], dtype) == [0]
    assert unary("cos", [0], dtype) == [1]
    assert unary("tanh", [0, 100, -100], dtype) == [0, 1, -1]
    assert np.isnan(unary("log", [-1.0], dtype)).all()


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
@pytest.mark.parametrize("name", UNARY_FLOAT)
def test_half_functions_are_f32_rounded_once(dtype: DType, name: str) -> None:
    x = np.linspace(0.01, 9.7, 1001).astype(NUMPY[dtype])
    wide = x.astype(np.float32)
    f32 = 1 / np.sqrt(wide) if name == "rsqrt" else getattr(np, name)(wide)
    found = apply(name, [x], type_of(x))
    assert found.tobytes() == f32.astype(NUMPY[dtype]).tobytes()


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED, *FLOAT_LIST])
def test_comparisons(dtype: DType) -> None:
    a, b = np.asarray([1, 2, 3], NUMPY[dtype]), np.asarray([2, 2, 2], NUMPY[dtype])
    expected = {
        "eq": [False, True, False],
        "ne": [True, False, True],
        "lt": [True, False, False],
        "le": [True, True, False],
        "gt": [False, False, True],
        "ge": [False, True, True],
    }
    for name, values in expected.items():
        assert apply(name, [a, b], tensor([3], DType.BOOL)).tolist() == values


@pytest.mark.parametrize("dtype", FLOAT_LIST)
def test_nothing_compares_with_nan_but_ne(dtype: DType) -> None:
    a = np.asarray([np.nan], NUMPY[dtype])
    for name in ("eq", "lt", "le", "gt", "ge", "ne"):
        assert apply(name, [a, a], tensor([1], DType.BOOL)).tolist() == [name == "ne"]


@pytest.mark.parametrize("dtype", list(DType))
def test_select(dtype: DType) -> None:
    a, b = np.asarray([1, 1, 1], NUMPY[dtype]), np.asarray([0, 0, 0], NUMPY[dtype])
    c = np.asarray([True, False, True])
    assert apply("select", [c, a, b], type_of(a)).tolist() == [1, 0, 1]
