"""Weights of MXFP4, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.backends.torch.triton.harness import call, same_bits
from tests.stdlib import reference
from tests.stdlib.conftest import NUMPY_DTYPES

DTYPES = ["bf16", "f16", "f32"]
# All sixteen codes in order, twice.
CODES = np.array([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE] * 2, np.uint8)


def compare(blocks: NDArray[np.uint8], scales: NDArray[np.uint8], dtype: str) -> None:
    """The kernel, the body and a table give the same bits."""
    made = call("std.quant::dequantize_mxfp4", dtype, blocks=blocks, scales=scales)
    with np.errstate(over="ignore", under="ignore"):
        got, body = made.kernel("dequantize_mxfp4"), made.body()
        want = reference.dequantize_mxfp4(blocks, scales).astype(NUMPY_DTYPES[dtype])
    same_bits(got, want)
    same_bits(got, body)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_code_at_every_scale(dtype: str) -> None:
    scales = np.arange(255, dtype=np.uint8).reshape(1, 255, 1)
    compare(np.broadcast_to(CODES, (1, 255, 1, 16)).copy(), scales, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "size", [(1, 1, 1), (3, 5, 7), (2, 9, 16), (0, 2, 3), (2, 0, 1), (2, 3, 0)]
)
def test_sizes(size: tuple[int, int, int], dtype: str) -> None:
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 256, (*size, 16), dtype=np.uint8)
    compare(blocks, rng.integers(110, 140, size, dtype=np.uint8), dtype)
