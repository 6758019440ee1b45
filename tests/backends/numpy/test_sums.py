"""Reductions, contractions and running sums, against exact values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linnet.backends.numpy.dtypes import NUMPY, cast
from linnet.dtypes import DType
from linnet.ir.types import Type
from tests.backends.numpy.harness import BF16, FLOAT_LIST, SIGNED, UNSIGNED, apply, tensor, type_of


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


def running(x: np.ndarray[Any, Any], axis: int, accumulator: DType) -> np.ndarray[Any, Any]:
    return apply("cumsum", [x], type_of(x), axis=axis, accumulator=accumulator)


def test_halves_are_summed_in_f32_and_rounded_once() -> None:
    # 256 + 1 is 256 in bf16: a running bf16 sum would stay there.
    x = np.asarray([256] + [1] * 10, BF16)
    assert reduced("sum", x, (0,), DType.F32).item() == 266
    y = np.asarray([60000, 60000, -60000], np.float16)
    assert reduced("sum", y, (0,), DType.F32).item() == 60000
    z = np.asarray([256, 1, 1, 1], BF16)
    assert running(z, 0, DType.F32).tolist() == [256, 256, 258, 260]
    assert running(z, 0, DType.BF16).tolist() == [256] * 4


@pytest.mark.parametrize("dtype", [*SIGNED, *UNSIGNED, *FLOAT_LIST])
def test_cumsum(dtype: DType) -> None:
    x = np.asarray([[1, 2, 3], [4, 5, 6]], NUMPY[dtype])
    assert running(x, 1, dtype).tolist() == [[1, 3, 6], [4, 9, 15]]
    assert running(x, 0, dtype).tolist() == [[1, 2, 3], [5, 7, 9]]
    assert running(x[:, :0], 1, dtype).shape == (2, 0)


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
    "ij,kj->ik", "bhqd,bhkd->bhqk", "bhqk,bhkd->bqhd", "ij->j", "ij->", "ij,jk,kl->il",
    "ij,kl,jk->il", "i,j,ij,jk->k", "ij,ij,ij->", "ia,ib->i", "ij,k->i", "bsei,bse->bsi", "i,->i",
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
