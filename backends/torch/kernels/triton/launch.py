"""Operators of PyTorch whose kernels are Triton's, which is loaded when one first runs.

Every launch follows from shapes alone: nothing waits for the device, nothing is tuned while a
graph is captured, and compilers of PyTorch see an operator with a known result. What they see
depends on shapes, strides and dtypes, so a first call with them compiles: before a capture.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

import torch

F = TypeVar("F", bound=Callable[..., torch.Tensor])


def operator(schema: str, fake: F) -> Callable[[F], F]:
    """Makes a function an operator, `linnet_triton::` and its name; `fake` gives a result of the
    right shape and dtype, its values unspecified."""

    def register(function: F) -> F:
        name = f"linnet_triton::{function.__name__}"
        made: Any = torch.library.custom_op(name, function, mutates_args=(), schema=schema)
        made.register_fake(fake)
        return made

    return register


def launch(kernel: str, grid: tuple[int, ...], *arguments: Any, **constants: Any) -> None:
    """Runs `kernel`, `few_rows.few_rows_kernel` of `device_few_rows.py`, for each place in `grid`,
    where the first argument is, a tensor.

    Products and sums are fused where they may be, whatever the default of the version is.
    """
    module, _, name = kernel.partition(".")
    device = import_module(f"linnet.backends.torch.kernels.triton.device_{module}")
    with torch.cuda.device_of(arguments[0]):
        getattr(device, name)[grid](*arguments, **constants, num_warps=4, enable_fp_fusion=True)


def words_of(x: torch.Tensor) -> torch.Tensor:
    """What is narrower, in words of 32 bits along the last axis: in place where it is aligned."""
    packed = x.contiguous()
    return (packed if packed.data_ptr() % 4 == 0 else packed.clone()).view(torch.int32)


def language(dtype: torch.dtype) -> Any:
    """A dtype of PyTorch as Triton's."""
    return getattr(import_module("triton.language"), str(dtype).removeprefix("torch."))


def interpreted() -> bool:
    """Whether Triton runs its kernels in Python, which was decided when it was imported. Its
    products of bf16 are wrong there."""
    triton: Any = import_module("triton")
    return not isinstance(triton.language.sum, triton.JITFunction)
