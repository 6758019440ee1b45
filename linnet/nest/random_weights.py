"""Seeded random weights, for trying a model out without its checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from math import prod, sqrt
from typing import Any

import ml_dtypes
import numpy as np

from linnet.nest.checkpoint import ARRAY_DTYPES, CHUNK, Array
from linnet.nest.match import ParameterDecl
from linnet.nest.takes import TAKES

# Factors from 2^-9 to 2^-4 keep dequantized 4-bit weights near the size of the other weights.
SCALES = (118, 124)
NOISE = 0.02


def random_weights(
    parameters: Iterable[ParameterDecl],
    seed: int = 0,
    *,
    tied: Sequence[Sequence[str]] = (),
) -> Iterator[tuple[str, Array]]:
    """Each parameter with its values, one at a time.

    The values depend on the seed and the parameter's path alone, so another
    order or a subset gives the same. Tied parameters get the values of the
    first of their group. Matrices are normal with a deviation of one over the
    square root of their last dimension; vectors named `weight` are scales of
    norms, so they are near one; integers are random bytes.
    """
    source = {path: group[0] for group in tied for path in group}
    for parameter in parameters:
        path = source.get(parameter.path, parameter.path)
        yield parameter.path, _values(parameter, path, seed)


def array_dtype(dtype: str) -> np.dtype[Any]:
    """The NumPy dtype of a dtype of the language."""
    if dtype == "bf16":
        return np.dtype(ml_dtypes.bfloat16)
    (name,) = (n for n in TAKES[dtype] if not n.startswith("F8"))
    return ARRAY_DTYPES[name]


def _values(parameter: ParameterDecl, path: str, seed: int) -> Array:
    words = np.frombuffer(hashlib.sha256(path.encode()).digest(), np.uint32)
    generator = np.random.default_rng([seed, *(int(w) for w in words)])
    dtype = array_dtype(parameter.dtype)
    size = prod(parameter.shape)
    values = np.empty(size, dtype)
    for start in range(0, size, CHUNK):
        count = min(CHUNK, size - start)
        values[start : start + count] = _chunk(generator, parameter, path, count)
    values.flags.writeable = False
    return values.reshape(parameter.shape)


def _chunk(generator: np.random.Generator, parameter: ParameterDecl, path: str, n: int) -> Array:
    if parameter.dtype == "u8" and path.endswith("scales"):
        return generator.integers(SCALES[0], SCALES[1] + 1, n)
    if parameter.dtype == "bool":
        return generator.integers(0, 2, n)
    if parameter.dtype not in ("f16", "bf16", "f32", "f64"):
        # Up to 127: in range for every integer dtype but `u8`, which takes all its bytes.
        return generator.integers(0, 256 if parameter.dtype == "u8" else 128, n)
    noise = generator.standard_normal(n, np.float32)
    if len(parameter.shape) < 2:
        middle = 1.0 if path.endswith("weight") else 0.0
        return noise * np.float32(NOISE) + np.float32(middle)
    return noise * np.float32(1 / sqrt(max(1, parameter.shape[-1])))
