"""Attention with a mask, where a query that sees nothing gives zeros.

Query heads share key/value heads in consecutive groups. Here a group is part of the query axis,
so keys and values are multiplied as they are and never repeated.
"""

from __future__ import annotations

from collections.abc import Callable

import torch


def sink_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    scale: torch.Tensor,
    mask: torch.Tensor,
) -> torch.Tensor:
    """`query [B, Hq, Q, D]`, `key` and `value` `[B, Hk, K, D]`, `sinks [Hq]`, `mask [B, Q, K]`,
    result as `query`. Products in the tensors' dtype, the softmax in f32."""
    batch, heads, queries, width = query.shape
    kv_heads, keys = key.shape[1], key.shape[2]
    groups = heads // kv_heads
    if keys == 0:
        return query.new_zeros(query.shape)  # in the layout of every other result
    rows = query.reshape(batch, kv_heads, groups * queries, width)
    scores = torch.matmul(rows, key.transpose(-1, -2)).to(torch.float32) * scale
    scores = scores.reshape(batch, kv_heads, groups, queries, keys)
    scores = scores.masked_fill(~mask[:, None, None], -torch.inf)
    sink = sinks.to(torch.float32).reshape(kv_heads, groups, 1, 1)
    # Finite where nothing is visible and the sink is -inf.
    peak = torch.maximum(scores.amax(-1, keepdim=True), sink).clamp_min(-3e38)
    weights = torch.exp(scores - peak)
    # At least one, because something attains the peak, but where nothing is visible and the sink
    # is -inf: all weights are zero there.
    total = (weights.sum(-1, keepdim=True) + torch.exp(sink - peak)).clamp_min(1.0)
    shares = (weights / total).to(query.dtype).reshape(batch, kv_heads, groups * queries, keys)
    return torch.matmul(shares, value).reshape(query.shape)


def in_f32(
    attend: Callable[..., torch.Tensor],
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *others: torch.Tensor,
) -> torch.Tensor:
    """`attend` of all in f32, rounded to the dtype of `query`."""
    queries, keys, values = (t.to(torch.float32) for t in (query, key, value))
    return attend(queries, keys, values, *others).to(query.dtype)


QUERIES = 64
"""How many queries are looked at together: their scores stay near the processor."""


def blocked_sink_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    scale: torch.Tensor,
    mask: torch.Tensor,
) -> torch.Tensor:
    """`sink_attention` of a few queries after the other, for which keys in front of the first that
    any of them sees, and behind the last, are not read. It asks the mask for these on the host."""
    found: list[torch.Tensor] = []
    # An empty prompt is one block too.
    for start in range(0, max(query.shape[2], 1), QUERIES):
        part = slice(start, start + QUERIES)
        rows, queries = mask[:, part], query[:, :, part]
        seen = rows.any(0).any(0).nonzero()
        first, last = (int(seen[0]), int(seen[-1]) + 1) if len(seen) else (0, 0)
        keys, values = key[:, :, first:last], value[:, :, first:last]
        visible = rows[:, :, first:last]
        found.append(sink_attention(queries, keys, values, sinks, scale, visible))
    return torch.cat(found, 2) if len(found) > 1 else found[0]


def blocked_sink_attention_f32(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    scale: torch.Tensor,
    mask: torch.Tensor,
) -> torch.Tensor:
    """`blocked_sink_attention` in f32 whatever the dtype, rounded to it once."""
    return in_f32(blocked_sink_attention, query, key, value, sinks, scale, mask)


def sink_attention_f32(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    scale: torch.Tensor,
    mask: torch.Tensor,
) -> torch.Tensor:
    """`sink_attention` in f32 whatever the dtype, rounded to it once."""
    return in_f32(sink_attention, query, key, value, sinks, scale, mask)


def attention_f32(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """`sink_attention_f32` without sinks; `mask [B, Q, K]`, or `[Q, K]` for all rows, or none."""
    if mask is None:
        mask = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device)
    rows = mask if mask.dim() == 3 else mask.unsqueeze(0)
    sinks = torch.full((query.shape[1],), -torch.inf, device=query.device)
    return sink_attention_f32(query, key, value, sinks, scale, rows)


def scaled_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """`attention_f32` through the framework's own, in the tensors' dtype. The scale may stand on
    the device, where the framework wants a number: the queries are multiplied by it instead."""
    scaled = (query.to(torch.float32) * scale).to(query.dtype)
    if key.shape[2] == 0:
        return torch.zeros_like(query)
    if mask is None:
        return torch.nn.functional.scaled_dot_product_attention(
            scaled, key, value, scale=1.0, enable_gqa=True
        )
    rows = mask.unsqueeze(1) if mask.dim() == 3 else mask[None, None]
    mixed = torch.nn.functional.scaled_dot_product_attention(
        scaled, key, value, attn_mask=rows, scale=1.0, enable_gqa=True
    )
    # Not every implementation behind it gives zeros where nothing is visible.
    return mixed.masked_fill(~rows.any(-1, keepdim=True), 0.0)
