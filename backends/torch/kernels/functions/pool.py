"""Means over windows of images, in f32 whatever the dtype."""

from __future__ import annotations

import torch


def average_pool2d(x: torch.Tensor, size: int, stride: int, pad: int) -> torch.Tensor:
    """`x [B, C, H, W]`: the mean of each `size` by `size` window, the padding's zeros included."""
    wide = x.to(torch.float32)
    return torch.nn.functional.avg_pool2d(wide, size, stride, pad).to(x.dtype)


def global_average_pool2d(x: torch.Tensor) -> torch.Tensor:
    """`x [B, C, H, W]`: the mean of each channel, `[B, C]`."""
    return x.mean((2, 3), dtype=torch.float32).to(x.dtype)
