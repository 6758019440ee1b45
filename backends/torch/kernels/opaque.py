"""Kernels that read on the host what a run computes, for a compiler that cannot look into them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from linnet.backends.torch.kernels.functions.attention import (
    blocked_sink_attention,
    blocked_sink_attention_f32,
)
from linnet.backends.torch.kernels.functions.experts import (
    combine_experts,
    linear_experts,
    mxfp4_combine_experts,
    mxfp4_experts,
)


def _linear(x: Tensor, weight: Tensor, experts: Tensor) -> Tensor:
    return x.new_empty(experts.shape[0], experts.shape[1], weight.shape[1])


def _combine(x: Tensor, weight: Tensor, experts: Tensor, weights: Tensor) -> Tensor:
    return x.new_empty(experts.shape[0], weight.shape[1])


def _mxfp4_linear(x: Tensor, blocks: Tensor, scales: Tensor, experts: Tensor) -> Tensor:
    return _linear(x, blocks, experts)


def _mxfp4_combine(
    x: Tensor, blocks: Tensor, scales: Tensor, experts: Tensor, weights: Tensor
) -> Tensor:
    return _combine(x, blocks, experts, weights)


def _as_query(
    query: Tensor, key: Tensor, value: Tensor, sinks: Tensor, scale: Tensor, mask: Tensor
) -> Tensor:
    return query.new_empty(query.shape)


SHAPES: dict[Callable[..., Tensor], Callable[..., Tensor]] = {
    linear_experts: _linear,
    combine_experts: _combine,
    mxfp4_experts: _mxfp4_linear,
    mxfp4_combine_experts: _mxfp4_combine,
    blocked_sink_attention: _as_query,
    blocked_sink_attention_f32: _as_query,
}
"""By kernel, what gives a tensor of the shape and dtype of its result."""


@cache
def operation(kernel: Callable[..., Tensor]) -> Any:
    """A kernel of `SHAPES` as an operation of PyTorch, of tensors alone, which has no gradient."""
    taken = ", ".join(f"Tensor {name}" for name in signature(kernel).parameters)
    made: Any = torch.library.custom_op(
        f"linnet::{kernel.__name__}", kernel, mutates_args=(), schema=f"({taken}) -> Tensor"
    )
    made.register_fake(SHAPES[kernel])
    return made


def as_operation(kernel: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What calls the operation as the kernel is called, with a Python number for a scalar."""
    made = operation(kernel)

    def call(*given: Tensor | float) -> Tensor:
        return made(*(g if isinstance(g, Tensor) else torch.tensor(g) for g in given))

    return call
