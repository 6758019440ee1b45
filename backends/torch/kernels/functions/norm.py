"""Normalization, in f32 whatever the dtype, as the ops of `std.nn.norm` state."""

from __future__ import annotations

import torch


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: torch.Tensor) -> torch.Tensor:
    """`x [*S, H]`, `weight [H]`; what is normed rounds to the dtype before the weight comes in."""
    wide = x.to(torch.float32)
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return (wide * scale).to(x.dtype) * weight


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, eps: torch.Tensor
) -> torch.Tensor:
    """`x [*S, H]`, `weight [H]`, `bias [H]`; rounds to the dtype once."""
    wide = x.to(torch.float32)
    centered = wide - wide.mean(-1, keepdim=True)
    scale = torch.rsqrt(centered.square().mean(-1, keepdim=True) + eps)
    scaled = centered * scale * weight.to(torch.float32)
    if bias is not None:
        scaled = scaled + bias.to(torch.float32)
    return scaled.to(x.dtype)


def group_norm(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: torch.Tensor,
    groups: int,
) -> torch.Tensor:
    """`x [B, C, H, W]`, `weight [C]`, `bias [C]`; rounds to the dtype once."""
    batch, channels, height, width = x.shape
    per_group = channels // groups * height * width
    wide = x.to(torch.float32).reshape(batch, groups, per_group)
    centered = wide - wide.mean(-1, keepdim=True)
    variance = centered.square().mean(-1, keepdim=True)
    normed = (centered * torch.rsqrt(variance + eps)).reshape(x.shape)
    scale, offset = (v.to(torch.float32).reshape(channels, 1, 1) for v in (weight, bias))
    return (normed * scale + offset).to(x.dtype)


def batch_norm(
    x: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: torch.Tensor,
) -> torch.Tensor:
    """`x [B, C, H, W]`, the others `[C]`; rounds to the dtype once."""
    scale = torch.rsqrt(variance.to(torch.float32) + eps) * weight.to(torch.float32)
    center, factor, offset = (v.to(torch.float32).reshape(-1, 1, 1) for v in (mean, scale, bias))
    return ((x.to(torch.float32) - center) * factor + offset).to(x.dtype)
