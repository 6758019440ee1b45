"""Choosing among scores. NaN is greater than any number; of equals the first wins."""

from __future__ import annotations

import torch


def first_greatest(x: torch.Tensor) -> torch.Tensor:
    """Where the greatest number of the last axis is, in i32."""
    return x.argmax(-1).to(torch.int32)


def top_k(x: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The `count` greatest numbers of the last axis, in order, and where they are, in i32."""
    places = descending(x)[..., :count]
    if x.dtype == torch.bfloat16 and not x.requires_grad:
        # `gather` changes the bits of a NaN in bf16; but bits have no gradient.
        values = x.view(torch.int16).gather(-1, places).view(x.dtype)
    else:
        values = x.gather(-1, places)
    return values, places.to(torch.int32)


def top_k_routing(scores: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """`scores [R, E]`: the `count` best experts `[R, K]` in i64, and the softmax of their scores
    alone, in f32 and rounded to the dtype."""
    experts = descending(scores)[..., :count]
    best = scores.gather(-1, experts)
    return experts, torch.softmax(best, -1, dtype=torch.float32).to(scores.dtype)


def descending(x: torch.Tensor) -> torch.Tensor:
    """The places of the last axis by what is there, the greatest first."""
    if x.dtype.is_floating_point:
        # A sort by bits would tell zeros apart, and NaNs by their sign.
        x = torch.where(x == x, x + 0.0, torch.nan)
    return x.sort(dim=-1, descending=True, stable=True).indices
