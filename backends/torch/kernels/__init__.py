"""The kernels of the PyTorch backend, in order of preference.

A file a family holds the records; `functions` what they call.
"""

from __future__ import annotations

from linnet.backends.kernels import Kernel
from linnet.backends.torch.kernels import (
    activations,
    attention,
    cache,
    decoding,
    experts,
    images,
    linear,
    loss,
    norm,
    rope,
    triton,
)

KERNELS: tuple[Kernel, ...] = (
    *triton.KERNELS,
    *linear.KERNELS,
    *norm.KERNELS,
    *loss.KERNELS,
    *rope.KERNELS,
    *activations.KERNELS,
    *attention.KERNELS,
    *cache.KERNELS,
    *decoding.KERNELS,
    *experts.KERNELS,
    *images.KERNELS,
)
