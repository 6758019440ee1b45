"""`cast` between any two dtypes, rounded once."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from linnet.backends.numpy.dtypes import NUMPY, cast
from linnet.dtypes import DType
from tests.backends.numpy.harness import BF16, FLOAT_LIST, SIGNED, UNSIGNED


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
