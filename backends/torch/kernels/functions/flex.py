"""Sink attention through FlexAttention, which is compiled for the device and skips the blocks that
a mask hides."""

from __future__ import annotations

from typing import Any

import torch

FLEX_COMPILED: list[Any] = []


def flex_sink_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    sinks: torch.Tensor,
    scale: torch.Tensor,
    mask: torch.Tensor,
) -> torch.Tensor:
    """`query [B, Hq, Q, D]`, `key` and `value` `[B, Hk, K, D]`, `sinks [Hq]`, `mask [B, Q, K]`,
    result as `query`."""
    from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention

    batch, _, queries, _ = query.shape
    keys = key.shape[2]
    if 0 in (batch, queries, keys):
        return torch.zeros_like(query)

    def visible(row: Any, _head: Any, q: Any, k: Any) -> Any:
        return mask[row, q, k]

    def scaled(score: Any, _row: Any, _head: Any, _q: Any, _k: Any) -> Any:
        return score * scale

    blocks = create_block_mask(visible, batch, None, queries, keys, device=query.device)
    attend: Any = flex_attention
    # Without a GPU it is taken as it is, which is slow and computes the same; what is part of a
    # compilation already is compiled with it.
    if query.device.type != "cpu" and not torch.compiler.is_compiling():
        if not FLEX_COMPILED:
            framework: Any = torch
            FLEX_COMPILED.append(framework.compile(flex_attention))
        attend = FLEX_COMPILED[0]
    mixed, found = attend(
        query,
        key,
        value,
        score_mod=scaled,
        block_mask=blocks,
        scale=1.0,
        enable_gqa=query.shape[1] != key.shape[1],
        return_aux=AuxRequest(lse=True),
    )
    # The softmax without the sink has the denominator `exp(lse)`, and with it `exp(sink)` more.
    # Where nothing is visible, `lse` is -inf.
    share = torch.sigmoid(found.lse - sinks.to(torch.float32)[:, None])
    share = torch.where(found.lse > -torch.inf, share, 0.0)
    return (mixed.to(torch.float32) * share.unsqueeze(-1)).to(query.dtype)
