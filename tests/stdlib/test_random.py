"""std.random against jax.random: bits, keys and uniform numbers exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from .compare import FLOATS, UNIT, near, tensor, torch
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

jax: Any = pytest.importorskip("jax")

KEYS = [(0, 0), (0, 42), (0xFFFFFFFF, 0xFFFFFFFF), (0x80000000, 7), (123456789, 3141592653)]
COUNTS = [0, 1, 7, 1000]


def key_of(key: tuple[int, int]) -> Any:
    return jax.random.wrap_key_data(np.array(key, np.uint32))


def draw(run: Run, call: str, result: str, key: tuple[int, int], **more: Any) -> Array:
    op = call[: min(call.find(c) for c in "<(" if c in call)]
    return run(f"std.random::{{{op}}}", call, result, key=np.array(key, np.int64), **more)


@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("key", KEYS)
def test_bits_and_split(run: Run, key: tuple[int, int], n: int) -> None:
    got = draw(run, f"bits<{n}>(key)", f"Tensor[{n}; u32]", key)
    want = np.asarray(jax.random.bits(key_of(key), (n,), np.uint32))
    assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
    got = draw(run, f"split<{n}>(key)", f"Tensor[{n}, 2; i64]", key)
    want = np.asarray(jax.random.key_data(jax.random.split(key_of(key), n)))
    assert got.tobytes() == want.astype(np.int64).tobytes()


def test_known_answer(run: Run) -> None:
    """From the tests of Random123: key and counter of zeros."""
    got = draw(run, "split<1>(key)", "Tensor[1, 2; i64]", (0, 0))
    assert got.tolist() == [[0x6B200159, 0x99BA4EFE]]


@pytest.mark.parametrize("data", [0, 1, 2**31, 2**32 - 1])
@pytest.mark.parametrize("key", KEYS)
def test_fold_in(run: Run, key: tuple[int, int], data: int) -> None:
    got = draw(run, "fold_in(key, data)", "Tensor[2; i64]", key, data=np.uint32(data))
    want = np.asarray(jax.random.key_data(jax.random.fold_in(key_of(key), np.uint32(data))))
    assert got.tobytes() == want.astype(np.int64).tobytes()


def of_jax(function: Any, *args: Any, dtype: str) -> Array:
    with jax.enable_x64(dtype == "f64"):
        return np.asarray(function(*args, NUMPY_DTYPES[dtype]))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("key", KEYS)
def test_uniform(run: Run, key: tuple[int, int], n: int, dtype: str) -> None:
    got = draw(run, f"uniform<{n}, {dtype}>(key)", tensor_type((n,), dtype), key)
    want = of_jax(jax.random.uniform, key_of(key), (n,), dtype=dtype)
    assert got.dtype == want.dtype and got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", COUNTS)
@pytest.mark.parametrize("key", KEYS[:3])
def test_normal(run: Run, key: tuple[int, int], n: int, dtype: str) -> None:
    got = draw(run, f"normal<{n}, {dtype}>(key)", tensor_type((n,), dtype), key)
    with jax.enable_x64(dtype == "f64"):
        low = np.nextafter(NUMPY_DTYPES[dtype].type(-1), NUMPY_DTYPES[dtype].type(0))
        spread = jax.random.uniform(key_of(key), (n,), NUMPY_DTYPES[dtype], low, 1.0)
    root = torch.special.erfinv(tensor(np.asarray(spread)))
    want = root * math.sqrt(2)
    # The square of the number rounds, which the slope makes more of; the polynomials are within
    # 4e-7, and in f64 the last step of Newton's method has the roundings of erfc, as the root of
    # the reference has. In `T`, the root, the factor and the product round.
    slope = torch.exp(root.square()) * math.sqrt(math.pi / 2)
    inside = 64 * UNIT["f64"] if dtype == "f64" else 4e-7
    square = min(UNIT[dtype], UNIT["f32"])
    bound = (inside + 3.01 * UNIT[dtype]) * want.abs() + 2 * square * slope
    near(got, want, bound)
    near(of_jax(jax.random.normal, key_of(key), (n,), dtype=dtype), want, bound)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(("rows", "n"), [(1, 1), (0, 3), (100, 7), (3, 501)])
def test_categorical(run: Run, rows: int, n: int, dtype: str) -> None:
    logits = np.random.default_rng(0).standard_normal((rows, n)) * 3
    logits = logits.astype(NUMPY_DTYPES[dtype])
    call = "categorical(key, logits)"
    got = draw(run, call, f"Tensor[{rows}; i32]", (0, 42), logits=logits)
    with jax.enable_x64(dtype == "f64"):
        want = jax.random.categorical(key_of((0, 42)), logits)
    assert got.tolist() == want.tolist()


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_categorical_of_few_bits(run: Run, dtype: str) -> None:
    """JAX may round at other places, so what is chosen has nearly the greatest sum."""
    logits = np.random.default_rng(1).standard_normal((100, 7)).astype(NUMPY_DTYPES[dtype])
    call = "categorical(key, logits)"
    got = draw(run, call, "Tensor[100; i32]", (0, 42), logits=logits)
    drawn = of_jax(jax.random.uniform, key_of((0, 42)), (100, 7), dtype=dtype).astype(np.float64)
    least = {"f16": 2.0**-14, "bf16": 2.0**-126}[dtype]
    inner = -np.log((drawn + least).astype(NUMPY_DTYPES[dtype]).astype(np.float64))
    sums = logits.astype(np.float64) - np.log(inner)
    # The inner logarithm rounds, an absolute error of the outer one, which rounds, then the sum.
    unit = 1.01 * UNIT[dtype]
    error = unit * (1 + np.abs(np.log(inner)) + np.abs(sums)) + 1e-3 * unit
    chosen = np.take_along_axis(sums + error, got[:, None].astype(np.int64), axis=1)
    assert (chosen >= (sums - error).max(axis=1, keepdims=True)).all()
