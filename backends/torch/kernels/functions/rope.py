"""Rotary position embedding, each product and each sum rounded to the dtype."""

from __future__ import annotations

import torch


def rope(x: torch.Tensor, cos_table: torch.Tensor, sin_table: torch.Tensor) -> torch.Tensor:
    """`x [B, H, S, D]`, the tables `[S, D]`."""
    first, second = x.chunk(2, -1)
    return x * cos_table + torch.cat((-second, first), -1) * sin_table


def rope_rows(x: torch.Tensor, cos_rows: torch.Tensor, sin_rows: torch.Tensor) -> torch.Tensor:
    """`x [B, H, S, D]`; each row of the batch has its tables in `[B, S, D]`."""
    first, second = x.chunk(2, -1)
    turned = torch.cat((-second, first), -1)
    return x * cos_rows.unsqueeze(1) + turned * sin_rows.unsqueeze(1)
