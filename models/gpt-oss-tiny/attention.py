"""Attention with sinks through the fused kernel, for a training of minutes and not of hours.

The kernel has no sinks. One key more that scores a head's sink with every query, and hands over
nothing, is the same: each query gets one number more, 1, and each key 0, but the new key the sink.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

NAME = "fused_sinks"


def fused_sinks(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """`query` `[B, heads, S, D]`, the others `[B, shared, S, D]`, a boolean mask `[B, 1, S, S]`,
    without which a token sees itself and all before it.

    Returns `[B, S, heads, D]`.
    """
    rows, heads, length, width = query.shape
    shared = heads // key.shape[1]
    key, value = (functional.pad(x, (0, 1)).repeat_interleave(shared, 1) for x in (key, value))
    sink = functional.pad(kwargs["s_aux"][:, None] / scaling, (width, 0))
    key = torch.cat([sink.expand(rows, heads, width + 1)[:, :, None], key], 2)
    value = functional.pad(value, (0, 0, 1, 0))
    query = functional.pad(query, (0, 1), value=1.0)
    if attention_mask is None:
        attention_mask = torch.ones(length, length, dtype=torch.bool).tril()
    mask = functional.pad(attention_mask, (1, 0), value=True)
    found = functional.scaled_dot_product_attention(query, key, value, mask, scale=scaling)
    return found[..., :width].transpose(1, 2).contiguous(), None


def register() -> None:
    """Makes `NAME` a name that transformers knows, with the masks of its own fused kernel."""
    AttentionInterface.register(NAME, fused_sinks)
    AttentionMaskInterface.register(NAME, sdpa_mask)
