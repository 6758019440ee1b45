"""The kernels of the PyTorch backend, in order of preference."""

from __future__ import annotations

from linnet.backends.kernels import Kernel

KERNELS: tuple[Kernel, ...] = ()
