"""Comparison of an op's result with one that PyTorch computed in f64 from the same inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .conftest import NUMPY_DTYPES, Array

torch: Any = pytest.importorskip("torch")

# The most that a rounding to a dtype changes, relative to the value.
UNIT = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}
FLOATS = list(UNIT)
TORCH = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}


def draw(seed: int, shape: tuple[int, ...], dtype: str, scale: float = 1.0) -> Array:
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return values.astype(NUMPY_DTYPES[dtype])


def tensor(x: Array, dtype: str | None = None) -> Any:
    """The same values as a tensor: of `dtype`, which holds them, or in f64."""
    return torch.from_numpy(np.asarray(x).astype(np.float64)).to(TORCH[dtype or "f64"])


def same_bits(got: Array, want: Any) -> None:
    assert got.astype(np.float64).tobytes() == want.to(torch.float64).numpy().tobytes()


def near(got: Array, want: Any, bound: Any) -> None:
    """`bound` is the greatest error of each element, without that of subnormal results."""
    assert got.shape == tuple(want.shape)
    error = (torch.from_numpy(got.astype(np.float64)) - want).abs()
    # Half the distance of the subnormal numbers of f16; the other dtypes have smaller ones.
    assert (error <= bound + 2.0**-25 * (got.dtype == np.float16)).all()


def summing(dtype: str) -> float:
    """The rounding of an accumulator."""
    return min(UNIT[dtype], UNIT["f32"])
