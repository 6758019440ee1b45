"""std.linalg: floats against PyTorch in f64, integers, which wrap, exactly against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from .compare import FLOATS, UNIT, draw, near, same_bits, summing, tensor, torch
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
# Leading axes, then M, K and N.
SIZES = [((), 1, 1, 1), ((3,), 2, 7, 5), ((2, 3), 1, 33, 4), ((0,), 3, 2, 2), ((2,), 3, 0, 2)]
Size = tuple[tuple[int, ...], int, int, int]


def whole(seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    """Integers over the whole range of the dtype, so that products wrap."""
    ends = np.iinfo(NUMPY_DTYPES[dtype])
    rng = np.random.default_rng(seed)
    return rng.integers(ends.min, ends.max, shape, NUMPY_DTYPES[dtype], endpoint=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_products(run: Run, size: Size, dtype: str) -> None:
    leading, m, k, n = size
    a, b = draw(0, (*leading, m, k), dtype), draw(1, (*leading, k, n), dtype)
    use, result = "std.linalg::{batched_matmul}", tensor_type((*leading, m, n), dtype)
    got = run(use, "batched_matmul(a, b)", result, a=a, b=b)
    want = torch.matmul(tensor(a), tensor(b))
    terms = torch.matmul(tensor(a).abs(), tensor(b).abs())
    # k products, k sums, and the result's rounding.
    bound = UNIT[dtype] * want.abs() + 2 * k * summing(dtype) * terms
    near(got, want, bound)
    if leading:
        return
    use, result = "std.linalg::{matmul}", tensor_type((m, n), dtype)
    near(run(use, "matmul(a, b)", result, a=a, b=b), want, bound)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("size", SIZES)
def test_products_of_integers(run: Run, size: Size, dtype: str) -> None:
    leading, m, k, n = size
    a, b = whole(0, (*leading, m, k), dtype), whole(1, (*leading, k, n), dtype)
    use, result = "std.linalg::{batched_matmul}", tensor_type((*leading, m, n), dtype)
    got = run(use, "batched_matmul(a, b)", result, a=a, b=b)
    assert got.tobytes() == np.matmul(a, b).astype(a.dtype).tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [0, 1, 7, 129])
def test_dot_and_outer(run: Run, n: int, dtype: str) -> None:
    a, b = draw(2, (n,), dtype), draw(3, (n,), dtype)
    got = run("std.linalg::{dot}", "dot(a, b)", dtype, a=a, b=b)
    want = torch.dot(tensor(a), tensor(b))
    terms = torch.dot(tensor(a).abs(), tensor(b).abs())
    near(got, want, UNIT[dtype] * want.abs() + 2 * n * summing(dtype) * terms)
    c = draw(4, (5,), dtype)
    got = run("std.linalg::{outer}", "outer(a, c)", tensor_type((n, 5), dtype), a=a, c=c)
    same_bits(got, torch.outer(tensor(a, dtype), tensor(c, dtype)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_dot_outer_and_matmul_of_integers(run: Run, dtype: str) -> None:
    a, b, c = whole(5, (7,), dtype), whole(6, (7,), dtype), whole(7, (7, 3), dtype)
    got = run("std.linalg::{dot}", "dot(a, b)", dtype, a=a, b=b)
    assert got.tobytes() == np.dot(a, b).astype(a.dtype).tobytes()
    got = run("std.linalg::{outer}", "outer(a, b)", tensor_type((7, 7), dtype), a=a, b=b)
    assert got.tobytes() == np.outer(a, b).astype(a.dtype).tobytes()
    got = run("std.linalg::{matmul}", "matmul(c, d)", tensor_type((7, 7), dtype), c=c, d=c.T.copy())
    assert got.tobytes() == (c @ c.T).astype(a.dtype).tobytes()


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (2, 0, 5), (2, 3, 4, 5)])
def test_transpose(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    x = draw(8, shape, dtype) if dtype in FLOATS else whole(8, shape, dtype)
    want = np.swapaxes(x, -1, -2)
    got = run("std.linalg::{transpose}", "transpose(x)", tensor_type(want.shape, dtype), x=x)
    assert got.shape == want.shape and got.tobytes() == want.tobytes()
