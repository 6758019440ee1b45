"""mlp"""

from __future__ import annotations

import torch
from linnet.backends.torch.semantics import square_root
from torch import Tensor, nn


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    h = x.shape[-1]
    normed = x * (1 / square_root(torch.einsum("sh,sh->s", x, x) / h + 1e-05))[:, None]  # [s0, h]
    return normed * weight


def linear(x: Tensor, weight: Tensor) -> Tensor:
    product = x @ weight.T  # [s0, out]
    return product


def linear_2(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    product = x @ weight.T  # [s0, out]
    return product + bias


def silu(x: Tensor) -> Tensor:
    return x / (1.0 + torch.exp(-x))


class Layer(nn.Module):
    def __init__(self, d: int, inner: int) -> None:
        super().__init__()
        self.norm = nn.Parameter(torch.empty(d, dtype=torch.float32))
        self.up = nn.Parameter(torch.empty(inner, d, dtype=torch.float32))
        self.down = nn.Parameter(torch.empty(d, inner, dtype=torch.float32))
        self.bias = nn.Parameter(torch.empty(d, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        h = rms_norm(x, self.norm)  # [b, d]
        return x + linear_2(silu(linear(h, self.up)), self.down, self.bias)


class Model(nn.Module):
    def __init__(self, d: int, inner: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(d, inner) for _ in range(depth))
        self.head = nn.Parameter(torch.empty(2, d, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            h = layer(x)  # [b, d]
            x = h
        return linear(x, self.head)


def model() -> Model:
    """The model, its parameters not set."""
    return Model(d=8, inner=16, depth=3)
