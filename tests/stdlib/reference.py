"""What is exact in the standard library, written again with NumPy in float64 and plain loops.

Nothing here is shared with the compiler; each function follows the op's documentation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
Wide = NDArray[np.float64]

E2M1 = np.array(
    [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0]
)


def wide(x: Array) -> Wide:
    """Any dtype, bfloat16 included, as float64."""
    return np.asarray(x).astype(np.float64)


def linear(x: Array, weight: Array, bias: Array | None = None) -> Wide:
    product = wide(x) @ wide(weight).T
    return product if bias is None else product + wide(bias)


def write(cache: Array, entries: list[tuple[int, int, Array]]) -> Array:
    """`cache` after `(row, position, value [H, D])` in order, those outside it left out."""
    out = cache.copy()
    for row, position, value in entries:
        if 0 <= row < cache.shape[0] and 0 <= position < cache.shape[2]:
            out[row, :, position] = value
    return out


def dequantize_mxfp4(blocks: NDArray[np.uint8], scales: NDArray[np.uint8]) -> Wide:
    """Table and `ldexp`, exact in float64."""
    codes = np.stack([blocks & 15, blocks >> 4], axis=-1).reshape(*blocks.shape[:-1], 32)
    values = np.ldexp(E2M1[codes], scales.astype(np.int64)[..., None] - 127)
    return values.reshape(*blocks.shape[:-2], blocks.shape[-2] * 32)


def expert_products(x: Array, weight: Wide, experts: NDArray[np.int64]) -> Wide:
    """`x [R, K, In]` (or `[R, 1, In]`) through `weight[experts[r, k]]`, `[R, K, Out]`."""
    rows, chosen = experts.shape
    inputs = np.broadcast_to(wide(x), (rows, chosen, x.shape[-1]))
    out = np.zeros((rows, chosen, weight.shape[1]))
    for r, k in np.ndindex(rows, chosen):
        out[r, k] = weight[experts[r, k]] @ inputs[r, k]
    return out
