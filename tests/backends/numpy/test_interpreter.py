"""Every operation of the tensor IR against exact values, as `docs/ir.md` defines them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from linnet.backends.base import RuntimeFault
from linnet.backends.numpy.dtypes import NUMPY, cast
from linnet.backends.numpy.interpreter import DISPATCH, run
from linnet.check.dims import Dim, Symbol
from linnet.check.dtypes import FLOATS, INTEGERS, DType
from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module
from linnet.ir.ops import OPS
from linnet.ir.types import Type

BF16 = ml_dtypes.bfloat16
SIGNED = sorted((d for d in INTEGERS if d.is_signed), key=str)
UNSIGNED = sorted((d for d in INTEGERS if not d.is_signed), key=str)
FLOAT_LIST = sorted(FLOATS, key=str)


def type_of(array: np.ndarray[Any, Any]) -> Type:
    dtype = next(d for d, n in NUMPY.items() if n == array.dtype)
    return Type(dtype, tuple(Dim.of(n) for n in array.shape) if array.ndim else None)


def tensor(shape: Sequence[int], dtype: DType) -> Type:
    return Type(dtype, tuple(Dim.of(n) for n in shape))


def module(function: Function, *more: Function, symbols: tuple[Symbol, ...] = ()) -> Module:
    return Module(function.name, symbols, {f.name: f for f in (function, *more)})


def apply(name: str, args: Sequence[Any], result: Type, **attrs: Any) -> np.ndarray[Any, Any]:
    """One operation on arrays."""
    arrays = [np.asarray(a) for a in args]
    b = Builder()
    operands = [b.param(type_of(a)) for a in arrays]
    (value,) = run(module(b.function("f", None, [b.emit(name, operands, result, attrs)])), arrays)
    assert value.dtype == NUMPY[result.dtype]  # type: ignore[index]
    assert value.shape == tuple(d.as_int() for d in result.shape)
    return value


def unary(name: str, values: Any, dtype: DType) -> list[Any]:
    x = np.asarray(values, NUMPY[dtype])
    return apply(name, [x], type_of(x)).tolist()


def binary(name: str, a: Any, b: Any, dtype: DType) -> list[Any]:
    x, y = np.asarray(a, NUMPY[dtype]), np.asarray(b, NUMPY[dtype])
    return apply(name, [x, y], type_of(x)).tolist()


def test_every_operation_but_indexed_has_a_meaning() -> None:
    assert set(OPS) - {"indexed"} == set(DISPATCH)


# --- sources -----------------------------------------------------------------


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


# --- elementwise -------------------------------------------------------------


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
@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh"])
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


# --- cast --------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), [*product(FLOAT_LIST, [*SIGNED, *UNSIGNED])])
def test_float_to_integer_truncates_and_saturates(source: DType, target: DType) -> None:
    low, high = target.integer_range()
    x = np.asarray([2.75, -2.75, np.inf, -np.inf, np.nan, -0.5, 0.0], NUMPY[source])
    expected = [2, max(low, -2), high, low, 0, 0, 0]
    assert cast(x, target).tolist() == expected


def test_float_to_integer_at_the_edges() -> None:
    edges = np.asarray([2.0**63, np.nextafter(2.0**63, 0), -(2.0**63), 2.0**64], np.float64)
    high = 2**63 - 1
    assert cast(edges, DType.I64).tolist() == [high, 2**63 - 1024, -(2**63), high]
    assert cast(edges, DType.U64).tolist() == [2**63, 2**63 - 1024, 0, 2**64 - 1]
    bytes_ = np.asarray([127.9, 128, -128.9, -129, 255.9, 256], np.float32)
    assert cast(bytes_, DType.I8).tolist() == [127, 127, -128, -128, 127, 127]
    assert cast(bytes_, DType.U8).tolist() == [127, 128, 0, 0, 255, 255]
    assert cast(np.asarray([2.0**31], np.float32), DType.I32).tolist() == [2**31 - 1]


@pytest.mark.parametrize(
    ("source", "target"), [*product([*SIGNED, *UNSIGNED], [*SIGNED, *UNSIGNED])]
)
def test_integer_to_integer_wraps(source: DType, target: DType) -> None:
    values = [*source.integer_range(), 1, 100]
    low, _ = target.integer_range()
    expected = [(v - low) % (1 << target.bits) + low for v in values]
    assert cast(np.asarray(values, NUMPY[source]), target).tolist() == expected


@pytest.mark.parametrize("source", list(DType))
def test_to_and_from_bool(source: DType) -> None:
    x = np.asarray([0, 1, 1 if source is DType.BOOL else 2], NUMPY[source])
    assert cast(x, DType.BOOL).tolist() == [False, True, True]
    assert cast(np.asarray([True, False]), source).tolist() == [1, 0]


def test_nan_is_true() -> None:
    assert cast(np.asarray([np.nan, -0.0]), DType.BOOL).tolist() == [True, False]


# Nearest even, NaN stays NaN, overflow is infinite; bits that others got wrong.
ROUNDING = [
    (0.2691408770292272, 0x3E8A),
    (1.00390625, 0x3F80),
    (1.01171875, 0x3F82),
    (1.0078125, 0x3F81),
    (3.4e38, 0x7F80),
    (-3.4e38, 0xFF80),
    (3.3895313892515355e38, 0x7F7F),
    (float("inf"), 0x7F80),
    (-0.0, 0x8000),
    (1e-45, 0x0000),
    (9.183549615799121e-41, 0x0001),
]


@pytest.mark.parametrize(("value", "bits"), ROUNDING)
def test_f32_to_bf16(value: float, bits: int) -> None:
    x = np.asarray([value], np.float32)
    assert cast(x, DType.BF16).view(np.uint16).tolist() == [bits]


def test_nan_stays_nan_in_bf16() -> None:
    x = np.asarray([0x7F800001, 0x7FFFFFFF, 0xFFC00000], np.uint32).view(np.float32)
    bits = cast(x, DType.BF16).view(np.uint16)
    assert bits[0] == 0x7FC0
    assert ((bits & 0x7F80) == 0x7F80).all() and (bits & 0x7F).all()


@pytest.mark.parametrize(
    ("source", "value", "expected"),
    [
        (DType.F64, 1 + 2**-8 + 2**-40, 1 + 2**-7),
        (DType.F64, 1 + 2**-8, 1.0),
        (DType.F64, 1 + 2**-8 - 2**-40, 1.0),
        (DType.F64, -(1 + 2**-8 + 2**-40), -(1 + 2**-7)),
        (DType.F64, 1e300, float("inf")),
        (DType.F64, -1e300, float("-inf")),
        (DType.F64, 1e-300, 0.0),
        (DType.I64, 2**62 + 2**54 + 1, 2.0**62 + 2.0**55),
        (DType.I64, 2**62 + 2**54, 2.0**62),
        (DType.I64, -(2**62 + 2**54 + 1), -(2.0**62 + 2.0**55)),
        (DType.I64, -(2**63), -(2.0**63)),
        (DType.U64, 2**64 - 1, 2.0**64),
        (DType.I32, 2**30 + 2**22 + 1, 2.0**30 + 2.0**23),
        (DType.U32, 2**31 + 2**23, 2.0**31),
        (DType.F16, 1 + 2**-8, 1.0),
    ],
)
def test_bf16_is_rounded_once(source: DType, value: Any, expected: float) -> None:
    assert cast(np.asarray([value], NUMPY[source]), DType.BF16).tolist() == [expected]


def test_between_floats() -> None:
    assert cast(np.asarray([65519.0, 65520.0, 1e-8], np.float64), DType.F16).tolist() == [
        65504.0, float("inf"), 0.0,
    ]  # fmt: skip
    assert cast(np.asarray([3e38], BF16), DType.F16).tolist() == [float("inf")]
    assert cast(np.asarray([16777217], np.int64), DType.F32).tolist() == [16777216.0]


# --- moving elements ---------------------------------------------------------


@pytest.mark.parametrize("dtype", list(DType))
def test_reshape_permute_broadcast_concat_slice(dtype: DType) -> None:
    x = (np.arange(6) % 2).astype(NUMPY[dtype]).reshape(2, 3)
    assert apply("reshape", [x], tensor([3, 2], dtype)).tolist() == x.reshape(3, 2).tolist()
    permuted = apply("permute", [x], tensor([3, 2], dtype), axes=(1, 0))
    assert permuted.tolist() == x.T.tolist()
    spread = apply("broadcast", [x], tensor([2, 4, 3], dtype), axes=(0, 2))
    assert spread.tolist() == [[row] * 4 for row in x.tolist()]
    joined = apply("concat", [x, x[:, :1], x[:, :0]], tensor([2, 4], dtype), axis=1)
    assert joined.tolist() == [row + row[:1] for row in x.tolist()]
    bounds = {"start": (0, 1), "stop": (1, 3), "step": (1, 2)}
    dims = {k: tuple(map(Dim.of, v)) for k, v in bounds.items() if k != "step"}
    cut = apply("slice", [x], tensor([1, 1], dtype), **dims, step=(1, 2))
    assert cut.tolist() == [x.tolist()[0][1:3:2]]


def test_reshape_to_and_from_a_scalar() -> None:
    assert apply("reshape", [np.float32(3)], tensor([1, 1], DType.F32)).tolist() == [[3.0]]
    assert apply("reshape", [np.ones((1, 1), np.int32)], Type(DType.I32)).tolist() == 1
    assert apply("broadcast", [np.float32(3)], tensor([2], DType.F32), axes=()).tolist() == [3, 3]
    one = np.ones((1, 2), np.float32)
    assert (
        apply("broadcast", [one], tensor([3, 2], DType.F32), axes=(0, 1)).tolist() == [[1, 1]] * 3
    )


def test_empty_extents() -> None:
    none = np.zeros((0, 3), np.float32)
    assert apply("reshape", [none], tensor([3, 0], DType.F32)).shape == (3, 0)
    assert apply("exp", [none], tensor([0, 3], DType.F32)).shape == (0, 3)
    stop = (Dim.of(0), Dim.of(3))
    start = (Dim.of(0), Dim.of(3))
    cut = apply("slice", [none], tensor([0, 0], DType.F32), start=start, stop=stop, step=(1, 1))
    assert cut.shape == (0, 0)


def test_index() -> None:
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    at = [np.int64(1), np.int64(3)]
    found = apply("index", [x, *at], tensor([3], DType.I32), axes=(0, 2))
    assert found.tolist() == [15, 19, 23]
    every = [np.int64(1), np.int64(0), np.int64(2)]
    assert apply("index", [x, *every], Type(DType.I32), axes=(0, 1, 2)).item() == 14
    for bad in (-1, 2):
        with pytest.raises(RuntimeFault, match=f"index {bad} is out of range for axis 0 of 2"):
            apply("index", [x, np.int64(bad)], tensor([3, 4], DType.I32), axes=(0,))


def gathered(base: Any, indices: Any, axes: Any, shape: Any) -> np.ndarray[Any, Any]:
    return apply("gather", [base, *indices], tensor(shape, type_of(base).dtype), axes=axes)  # type: ignore[arg-type]


def naive_gather(base: Any, indices: Any, axes: Any, shape: Any) -> np.ndarray[Any, Any]:
    out = np.empty(shape, base.dtype)
    for o in np.ndindex(*shape):
        spread = [np.broadcast_to(i, shape) for i in indices]
        out[o] = base[tuple(o[n] if kind == "axis" else spread[n][o] for kind, n in axes)]
    return out


GATHERS = [
    # rows of a table
    ((5, 3), [(4, 1)], (("index", 0), ("axis", 1)), (4, 3)),
    # the same, ids of two axes, the table's row axis last
    ((3, 5), [(2, 4, 1)], (("axis", 2), ("index", 0)), (2, 4, 3)),
    # a runtime position that differs for each row
    ((4, 5), [(4, 1)], (("axis", 0), ("index", 0)), (4, 1)),
    ((4, 5, 3), [(4, 2, 1)], (("axis", 0), ("index", 0), ("axis", 2)), (4, 2, 3)),
    # the index varies along an axis that the base has too
    ((3, 5), [(2, 3)], (("axis", 1), ("index", 0)), (2, 3)),
    # two index tensors that are spread against each other
    ((4, 5, 3), [(2, 1, 1), (1, 6, 1)], (("index", 0), ("index", 1), ("axis", 2)), (2, 6, 3)),
    # a diagonal, and axes that nothing reads
    ((3, 3), [], (("axis", 1), ("axis", 1)), (2, 3)),
    ((3,), [(1, 1)], (("index", 0),), (2, 4)),
    # a permutation
    ((2, 3), [], (("axis", 1), ("axis", 0)), (3, 2)),
    # fewer than the base has
    ((5, 3), [(2, 1)], (("index", 0), ("axis", 1)), (2, 2)),
    ((5, 3), [(0, 1)], (("index", 0), ("axis", 1)), (0, 3)),
]


@pytest.mark.parametrize(("base", "indices", "axes", "shape"), GATHERS)
@pytest.mark.parametrize("dtype", [DType.BF16, DType.U8, DType.I64])
def test_gather(base: Any, indices: Any, axes: Any, shape: Any, dtype: DType) -> None:
    generator = np.random.default_rng(0)
    data = generator.integers(0, 100, base).astype(NUMPY[dtype])
    extents = [
        base[a] for j in range(len(indices)) for a, s in enumerate(axes) if s == ("index", j)
    ]
    at = [generator.integers(0, n, i) for n, i in zip(extents, indices, strict=True)]
    found = gathered(data, at, axes, shape)
    assert found.tolist() == naive_gather(data, at, axes, shape).tolist()


@pytest.mark.parametrize("bad", [-1, 5])
def test_gather_out_of_range(bad: int) -> None:
    table = np.zeros((5, 3), np.float32)
    with pytest.raises(RuntimeFault, match=f"index {bad} is out of range for axis 0 of 5"):
        gathered(table, [np.asarray([[0], [bad]])], (("index", 0), ("axis", 1)), (2, 3))


def test_a_gather_of_nothing_reads_nothing() -> None:
    table = np.zeros((5, 3), np.float32)
    axes = (("index", 0), ("axis", 1))
    assert gathered(table, [np.asarray([[9]])], axes, (1, 0)).shape == (1, 0)
    assert (
        gathered(np.zeros((0, 3), np.float32), [np.zeros((0, 1), np.int64)], axes, (0, 3)).size == 0
    )


# --- sums --------------------------------------------------------------------


def reduced(op: str, x: Any, axes: Any, accumulator: DType) -> np.ndarray[Any, Any]:
    shape = [n for a, n in enumerate(x.shape) if a not in axes]
    result = tensor(shape, type_of(x).dtype) if shape else Type(type_of(x).dtype)  # type: ignore[arg-type]
    return apply("reduce", [x], result, op=op, axes=axes, accumulator=accumulator)


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED, *FLOAT_LIST])
def test_reduce(dtype: DType) -> None:
    x = np.asarray([[1, 2, 3], [4, 5, 6]], NUMPY[dtype])
    accumulator = DType.F32 if dtype in (DType.F16, DType.BF16) else dtype
    assert reduced("sum", x, (0,), accumulator).tolist() == [5, 7, 9]
    assert reduced("sum", x, (0, 1), accumulator).item() == 21
    assert reduced("prod", x, (1,), accumulator).tolist() == [6, 120]
    assert reduced("max", x, (1,), accumulator).tolist() == [3, 6]
    assert reduced("min", x, (0,), accumulator).tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED, *FLOAT_LIST])
def test_empty_reductions_give_the_identity(dtype: DType) -> None:
    none = np.zeros((2, 0), NUMPY[dtype])
    accumulator = DType.F32 if dtype in (DType.F16, DType.BF16) else dtype
    low, high = (-np.inf, np.inf) if dtype.is_float else dtype.integer_range()
    for op, identity in {"sum": 0, "prod": 1, "max": low, "min": high}.items():
        assert reduced(op, none, (1,), accumulator).tolist() == [identity] * 2


def test_any_and_all() -> None:
    x = np.asarray([[True, False], [False, False], [True, True]])
    assert reduced("any", x, (1,), DType.BOOL).tolist() == [True, False, True]
    assert reduced("all", x, (1,), DType.BOOL).tolist() == [False, False, True]
    none = np.zeros((1, 0), np.bool_)
    assert reduced("any", none, (1,), DType.BOOL).tolist() == [False]
    assert reduced("all", none, (1,), DType.BOOL).tolist() == [True]


@pytest.mark.parametrize("dtype", FLOAT_LIST)
def test_extremes_keep_nan(dtype: DType) -> None:
    x = np.asarray([1, np.nan, 3], NUMPY[dtype])
    for op in ("max", "min"):
        assert np.isnan(reduced(op, x, (0,), dtype).astype(np.float64))


def test_integer_sums_wrap_in_the_accumulator() -> None:
    x = np.full(3, 100, np.int8)
    assert reduced("sum", x, (0,), DType.I8).item() == 44
    assert reduced("prod", x, (0,), DType.I8).item() == 64
    assert reduced("sum", x, (0,), DType.I64).item() == 44


def test_halves_are_summed_in_f32_and_rounded_once() -> None:
    # 256 + 1 is 256 in bf16: a running bf16 sum would stay there.
    x = np.asarray([256] + [1] * 10, BF16)
    assert reduced("sum", x, (0,), DType.F32).item() == 266
    y = np.asarray([60000, 60000, -60000], np.float16)
    assert reduced("sum", y, (0,), DType.F32).item() == 60000
    z = np.asarray([256, 1, 1, 1], BF16)
    assert apply("cumsum", [z], tensor([4], DType.BF16), axis=0).tolist() == [256, 256, 258, 260]


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED, *FLOAT_LIST])
def test_cumsum(dtype: DType) -> None:
    x = np.asarray([[1, 2, 3], [4, 5, 6]], NUMPY[dtype])
    assert apply("cumsum", [x], type_of(x), axis=1).tolist() == [[1, 3, 6], [4, 9, 15]]
    assert apply("cumsum", [x], type_of(x), axis=0).tolist() == [[1, 2, 3], [5, 7, 9]]
    none = x[:, :0]
    assert apply("cumsum", [none], type_of(none), axis=1).shape == (2, 0)


def contracted(
    operands: Any, inputs: Any, output: Any, accumulator: DType, dtype: DType | None = None
) -> np.ndarray[Any, Any]:
    extents = {
        i: n
        for x, ix in zip(operands, inputs, strict=True)
        for i, n in zip(ix, x.shape, strict=True)
    }
    found = dtype or type_of(operands[0]).dtype
    result = tensor([extents[i] for i in output], found) if output else Type(found)  # type: ignore[arg-type]
    attrs = {"inputs": inputs, "output": output, "accumulator": accumulator}
    return apply("contract", operands, result, **attrs)


CONTRACTIONS = [
    "bk,ok->bo", "bk,ok->ob", "bik,bkj->bij", "k,k->", "i,j->ij", "ij,ij->ij", "ij,j->i",
    "ij,kj->ik", "bhqd,bhkd->bhqk", "bhqk,bhkd->bqhd", "ij->j", "ij->", "ii->i", "ii->",
    "iji->ji", "ij,jk,kl->il", "ij,ij,ij->", "ia,ib->i", "ij,k->i", "bsei,bse->bsi", "i,->i",
]  # fmt: skip


@pytest.mark.parametrize("text", CONTRACTIONS)
@pytest.mark.parametrize("dtype", [DType.I32, DType.U8, DType.F32, DType.F64, DType.BF16])
@pytest.mark.parametrize("size", [0, 1, 3])
def test_contract(text: str, dtype: DType, size: int) -> None:
    letters = sorted(set(text) & set("abcdefghijklmnopqrstuvwxyz"))
    number = {c: i for i, c in enumerate(letters)}
    extent = {c: size + i % 2 if size else (i % 2) * 2 for i, c in enumerate(letters)}
    left, output = text.split("->")
    generator = np.random.default_rng(1)
    terms = left.split(",")
    operands = [
        generator.integers(0, 4, [extent[c] for c in t]).astype(NUMPY[dtype]) for t in terms
    ]
    accumulator = DType.F32 if dtype is DType.BF16 else dtype
    inputs = tuple(tuple(number[c] for c in t) for t in terms)
    found = contracted(operands, inputs, tuple(number[c] for c in output), accumulator)
    exact = np.einsum(text, *(x.astype(np.int64) for x in operands))
    assert found.tolist() == cast(np.asarray(exact), dtype).tolist()


def test_contract_accumulates_wide_and_rounds_once() -> None:
    x, ones = np.asarray([256] + [1] * 10, BF16), np.ones(11, BF16)
    assert contracted([x, ones], ((0,), (0,)), (), DType.F32).item() == 266
    y = np.asarray([100, 100], np.int8)
    assert contracted([y, y], ((0,), (0,)), (), DType.I8).item() == 20000 % 256 - 256 * (
        20000 % 256 > 127
    )
    wide = contracted([y, y], ((0,), (0,)), (), DType.I32, DType.I32)
    assert wide.item() == 20000


def test_a_product_is_formed_before_it_is_summed() -> None:
    # Summing `b` alone first would be infinite.
    a, b = np.full(2, 1e-30, np.float32), np.full(4, 3e38, np.float32)
    found = contracted([a, b], ((0,), (1,)), (0,), DType.F32)
    np.testing.assert_allclose(found, 1.2e9, rtol=1e-6)
