"""Activations that the framework has in a less accurate form only."""

from __future__ import annotations

import torch


def gelu_by_erfc(x: torch.Tensor) -> torch.Tensor:
    """`x` times the share of a normal distribution below it, with a small relative error on both
    sides: in f32 and rounded once, in f64 where `x` is."""
    wide = x if x.dtype == torch.float64 else x.to(torch.float32)
    return (wide * (0.5 * torch.erfc(wide * -0.7071067811865476))).to(x.dtype)
