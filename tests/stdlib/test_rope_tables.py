"""Tables of rotary positions, whose frequencies are those of transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .compare import FLOATS, UNIT, near, torch
from .conftest import RunAll, tensor_type

transformers = pytest.importorskip("transformers")
utils = pytest.importorskip("transformers.modeling_rope_utils")

POSITIONS = np.array([0, 1, 2, 7, 1000, 4095, 131071], np.int32)


def settings(d: int, theta: float, **more: Any) -> Any:
    parameters = {"rope_theta": theta, **more}
    return transformers.LlamaConfig(
        hidden_size=d,
        num_attention_heads=1,
        head_dim=d,
        max_position_embeddings=131072,
        rope_parameters=parameters,
    )


# What is between a speed of transformers and the exact one: a power in f32, whose exponent has
# three roundings that the logarithm of theta, at most 14, makes more of, and six for the slowing.
POWER = 3 * 14 + 6


def check(
    run_all: RunAll, call: str, d: int, dtype: str, speed: Any, length: float = 1.0, off: int = 0
) -> None:
    """`speed` is the reference, `off` how many units of f32 it may be wrong."""
    result = tensor_type((len(POSITIONS), d), dtype)
    op = call[: call.index("(")]
    use = f"std.nn.rope::{{{op}}}"
    call = call.replace("(", f"<{len(POSITIONS)}, {d}, {dtype}>(", 1)
    got = run_all(use, call, f"({result}, {result})", p=POSITIONS)
    angle = torch.from_numpy(POSITIONS).double()[:, None] * speed.double().repeat(2)
    for value, function in zip(got, (torch.cos, torch.sin), strict=True):
        want = length * function(angle)
        # The angle and its speed round here too, then a cosine within two units, and its length.
        wide = length * (angle * (off + 3) + 4) * UNIT["f32"]
        near(value, want, wide + UNIT[dtype] * want.abs())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("d", [2, 6, 64])
def test_plain(run_all: RunAll, d: int, dtype: str) -> None:
    pair = torch.arange(0, d, 2, dtype=torch.float64)
    check(run_all, "rope_tables(p)", d, dtype, 10000.0 ** (-pair / d))
    check(run_all, "rope_tables(p, 500000.0)", d, dtype, 500000.0 ** (-pair / d))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("d", [2, 6, 128])
@pytest.mark.parametrize(("low", "high"), [(1.0, 4.0), (2.0, 8.0)])
def test_llama3(run_all: RunAll, d: int, low: float, high: float, dtype: str) -> None:
    config = settings(
        d,
        500000.0,
        rope_type="llama3",
        factor=8.0,
        low_freq_factor=low,
        high_freq_factor=high,
        original_max_position_embeddings=8192,
    )
    speed, length = utils.ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    turns = "" if low == 1.0 else f", {low}, {high}"
    call = f"llama3_tables(p, 500000.0, 8.0, 8192.0{turns})"
    check(run_all, call, d, dtype, speed, length, POWER)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("d", [2, 6, 64])
@pytest.mark.parametrize("truncate", [False, True])
@pytest.mark.parametrize(("theta", "trained"), [(150000.0, 4096), (10000.0, 37), (100.0, 100000)])
def test_yarn(
    run_all: RunAll, d: int, theta: float, trained: int, truncate: bool, dtype: str
) -> None:
    config = settings(
        d,
        theta,
        rope_type="yarn",
        factor=32.0,
        beta_fast=32.0,
        beta_slow=1.0,
        truncate=truncate,
        original_max_position_embeddings=trained,
    )
    speed, length = utils.ROPE_INIT_FUNCTIONS["yarn"](config, "cpu")
    last = "" if truncate else ", truncate = false"
    call = f"yarn_tables(p, {theta}, 32.0, {float(trained)}{last})"
    check(run_all, call, d, dtype, speed, length, POWER)
