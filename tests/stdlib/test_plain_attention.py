"""Attention without sinks against PyTorch in f64, and its window mask."""

from __future__ import annotations

import numpy as np
import pytest

from .compare import FLOATS, UNIT, draw, near, tensor, torch
from .conftest import Array, Run, tensor_type

attend = torch.nn.functional.scaled_dot_product_attention
# B, Hq, Hk, Q, K, D.
SIZES = [(1, 1, 1, 1, 1, 1), (2, 6, 2, 3, 5, 7), (3, 4, 4, 1, 9, 4), (0, 2, 1, 3, 2, 2)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("masked", ["no", "shared", "rows"])
def test_attention(
    run: Run, size: tuple[int, int, int, int, int, int], masked: str, dtype: str
) -> None:
    b, hq, hk, q, k, d = size
    query = draw(0, (b, hq, q, d), dtype)
    key, value = draw(1, (b, hk, k, d), dtype), draw(2, (b, hk, k, d), dtype)
    mask = np.random.default_rng(3).random((b, q, k) if masked == "rows" else (q, k)) < 0.6
    # The first query sees nothing.
    mask[..., 0, :] = False
    inputs: dict[str, Array] = {} if masked == "no" else {"mask": mask}
    op = "attention" if hq == hk else "grouped_attention"
    op += "_rows" if masked == "rows" else ""
    last = {"no": "", "shared": ", some(mask)", "rows": ", mask"}[masked]
    got = run(
        f"std.nn.attention::{{{op}}}",
        f"{op}(q, k, v, scale{last})",
        tensor_type(query.shape, dtype),
        q=query,
        k=key,
        v=value,
        scale=np.float32(0.5),
        **inputs,
    )
    seen = np.broadcast_to(True if masked == "no" else mask, (b, q, k))
    want = attend(
        tensor(query),
        tensor(key).repeat_interleave(hq // hk, 1),
        tensor(value).repeat_interleave(hq // hk, 1),
        attn_mask=torch.from_numpy(seen.copy())[:, None],
        scale=0.5,
    ).nan_to_num(nan=0.0)
    if masked != "no":
        assert (got[:, :, 0] == 0).all()
    # As that of sink_attention.
    reach, most = 0.0, 0.0
    if query.size:
        reach, most = 0.5 * d * float(abs(query).max() * abs(key).max()), float(abs(value).max())
    wide = (2 * d * reach + 4 * k + 8) * UNIT["f32"] * most
    near(got, want, UNIT[dtype] * want.abs() + wide)


@pytest.mark.parametrize(("q", "k"), [(1, 1), (3, 3), (2, 7), (5, 2), (0, 3), (3, 0)])
@pytest.mark.parametrize("window", [-1, 0, 1, 3, 2**31 - 1])
def test_window_mask(run: Run, q: int, k: int, window: int) -> None:
    result, call = tensor_type((q, k), "bool"), f"window_mask<{q}, {k}>(w)"
    got = run("std.nn.attention::{window_mask}", call, result, w=np.int32(window))
    every = torch.ones(q, k, dtype=torch.bool)
    want = every.tril(k - q) & every.triu(k - q - min(window, 100) + 1)
    assert got.tobytes() == want.numpy().tobytes()
