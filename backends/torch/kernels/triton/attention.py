"""Attention with sinks of few queries, as an operator of PyTorch, and what generated source
calls."""

from __future__ import annotations

import torch

from linnet.backends.torch.kernels.triton import plans
from linnet.backends.torch.kernels.triton.launch import launch, operator


def triton_sink_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    scale: torch.Tensor | float,
    mask: torch.Tensor,
) -> torch.Tensor:
    """`query [B, Hq, Q, D]`, `key` and `value` `[B, Hk, K, D]`, `sinks [Hq]`, `scale` in f32,
    `mask [B, Q, K; bool]`; result as `query`. Strided views are read in place."""
    if isinstance(scale, torch.Tensor) and scale.device == query.device:
        return sink_attention(query, key, value, sinks, scale, 0.0, mask)
    return sink_attention(query, key, value, sinks, None, float(scale), mask)


def result_of(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    loaded: torch.Tensor | None,
    scale: float,
    mask: torch.Tensor,
) -> torch.Tensor:
    """The result before there are values in it."""
    return query.new_empty(query.shape)


@operator(
    "(Tensor query, Tensor key, Tensor value, Tensor sinks, Tensor? loaded, float scale,"
    " Tensor mask) -> Tensor",
    result_of,
)
def sink_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    loaded: torch.Tensor | None,
    scale: float,
    mask: torch.Tensor,
) -> torch.Tensor:
    """As `triton_sink_attention`; `loaded` is the scale where it stands on the device."""
    result = result_of(query, key, value, sinks, loaded, scale, mask)
    if result.numel() == 0 or key.numel() == 0:
        return result.zero_()
    batch, _, queries, width = query.shape
    heads, keys = key.shape[1:3]
    rows = query.shape[1] // heads * queries
    plan = plans.attention(batch * heads, rows, keys, width)
    per_row = (batch * heads, plan.splits, rows)
    peaks, totals = (query.new_empty(per_row, dtype=torch.float32) for _ in range(2))
    mixed = query.new_empty((*per_row, width), dtype=torch.float32)
    launch(
        "attention.splits_kernel",
        (batch * heads, plan.splits, plans.tiles(rows, plan.rows)),
        *(query, key, value, mask.view(torch.uint8)),
        scale if loaded is None else loaded,
        *(peaks, totals, mixed),
        *(heads, queries, keys, width, rows, plan.span),
        *query.stride(),
        *key.stride(),
        *value.stride(),
        *mask.stride(),
        LOADED=loaded is not None,
        BM=plan.rows,
        BN=plan.keys,
        BD=plan.width,
    )
    launch(
        "attention.join_kernel",
        (batch * heads, rows),
        *(peaks, totals, mixed, sinks.contiguous(), result),
        *(heads, queries, width, rows, plan.splits),
        BS=plans.power(plan.splits),
        BD=plan.width,
    )
    return result
