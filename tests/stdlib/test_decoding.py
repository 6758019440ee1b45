"""argmax and top_k against JAX, ties and NaN included; there is no rounding."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import NUMPY_DTYPES, Array, Run, RunAll, tensor_type

jax = pytest.importorskip("jax")

DTYPES = ["f16", "bf16", "f32", "i8", "i32", "u8", "u32"]
SHAPES = [(1,), (7,), (3, 33), (0, 4), (2, 3, 5)]


def scores(shape: tuple[int, ...], dtype: str) -> Array:
    """Few numbers, so that many are equal, and in floats some NaN."""
    rng = np.random.default_rng(0)
    x = rng.integers(0 if dtype.startswith("u") else -3, 4, shape).astype(NUMPY_DTYPES[dtype])
    if dtype in ("f16", "bf16", "f32"):
        x[rng.random(shape) < 0.1] = np.nan
        x[rng.random(shape) < 0.1] = -np.inf
    return x


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_argmax(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    # No tensor has rank 0: a single row is a batch of one.
    x = scores(shape if shape[1:] else (1, *shape), dtype)
    result = tensor_type(x.shape[:-1], "i32")
    got = run("std.nn.decoding::{argmax}", "argmax(x)", result, x=x)
    want = np.asarray(jax.numpy.argmax(x, axis=-1))
    assert got.shape == want.shape and got.tolist() == want.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [0, 1, 4])
def test_top_k(run_all: RunAll, shape: tuple[int, ...], k: int, dtype: str) -> None:
    x, k = scores(shape, dtype), min(k, shape[-1])
    out = (*shape[:-1], k)
    pack = f"[{', '.join(map(str, shape[:-1]))}]"
    values, found = run_all(
        "std.nn.decoding::{top_k}",
        f"top_k<{pack}, {shape[-1]}, {k}, {dtype}>(x)",
        f"({tensor_type(out, dtype)}, {tensor_type(out, 'i32')})",
        x=x,
    )
    want_values, want = jax.lax.top_k(x, k)
    assert found.shape == out and found.tolist() == want.tolist()
    np.testing.assert_array_equal(
        values.astype(np.float64), np.asarray(want_values).astype(np.float64)
    )
