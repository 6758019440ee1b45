"""Logarithms of probabilities and losses, in f32 whatever the dtype."""

from __future__ import annotations

import torch


def token_log_probs(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """`logits [N, V]`, `targets [N]` of i64, result `[N]` in f32."""
    logs = torch.log_softmax(logits, -1, dtype=torch.float32)
    return logs[torch.arange(logits.shape[0], device=logits.device), targets]


def cross_entropy(
    logits: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """`logits [N, V]`, `targets [N]` of i64, `weights [N]` in f32, result a scalar."""
    return -(token_log_probs(logits, targets) * weights).sum() / weights.sum()


def entropy(logits: torch.Tensor) -> torch.Tensor:
    """`logits [*S, V]`, result `[*S]` in f32; what has no probability adds nothing."""
    logs = torch.log_softmax(logits, -1, dtype=torch.float32)
    share = logs.exp()
    return -torch.where(share > 0.0, share * logs, 0.0).sum(-1)


def linear_cross_entropy(
    x: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """`cross_entropy` of `x [N, H] @ weight [V, H]`, the logits in f32 and never all at once."""
    wide = x.to(torch.float32)
    words = 4096
    parts: list[torch.Tensor] = []
    for start in range(0, weight.shape[0], words):
        logits = torch.matmul(wide, weight[start : start + words].to(torch.float32).T)
        parts.append(torch.logsumexp(logits, -1))
    total = torch.logsumexp(torch.stack(parts), 0)
    chosen = (wide * weight[targets].to(torch.float32)).sum(-1)
    return ((total - chosen) * weights).sum() / weights.sum()
