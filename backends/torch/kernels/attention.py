"""Kernels of `std.nn.attention`."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch.nn.attention import flex_attention

from linnet.backends.kernels import CallSite
from linnet.backends.torch.kernels.functions import attention as functions
from linnet.backends.torch.kernels.functions import flex
from linnet.backends.torch.kernels.records import (
    SIXTEEN_BITS,
    calling,
    extent,
    kernel,
    known,
    of_dtype,
    on,
)
from linnet.dtypes import FLOATS

WAITING = "it reads on the host which keys are seen, for which a device would be waited for"
SINKS = ("query", "key", "value", "sinks", "scale", "mask")
PLAIN = ("query", "key", "value", "scale", "mask")


def many_queries(site: CallSite) -> str | None:
    """Making the block mask costs more than one query's attention."""
    return "`Q` is 1: a block mask is not worth it" if site.extent("Q") == 1 else None


def power_of_two(site: CallSite) -> str | None:
    """Head dimensions that its tiles have."""
    width = extent(site, "D")
    fits = width >= 16 and width & (width - 1) == 0
    return None if fits else f"`D` is {width}, not 16, 32, 64, .."


def available(site: CallSite) -> str | None:
    """A FlexAttention that tells of its denominator, as that of PyTorch 2.9, and its compiler."""
    if not hasattr(flex_attention, "AuxRequest"):
        return f"FlexAttention of PyTorch {torch.__version__} has no `AuxRequest`"
    return None if find_spec("triton") else "Triton, which compiles it, is not installed"


SINK_KERNELS = (
    kernel(
        "std.nn.attention::sink_attention",
        "torch.flex_sink_attention",
        "fast",
        calling(flex.flex_sink_attention, *SINKS),
        on("cuda", "FlexAttention is compiled for GPUs"),
        of_dtype("T", *SIXTEEN_BITS),
        known("D"),
        power_of_two,
        many_queries,
        available,
        why="compiled for the GPU, and skips the blocks of keys that the mask hides",
    ),
    kernel(
        "std.nn.attention::sink_attention",
        "cpu.sink_attention",
        "fast",
        calling(functions.blocked_sink_attention, *SINKS),
        on("cpu", WAITING),
        of_dtype("T", *SIXTEEN_BITS),
        why="products in the dtype, the softmax in f32, of the keys alone that are seen",
    ),
    kernel(
        "std.nn.attention::sink_attention",
        "cpu.sink_attention_f32",
        "equivalent",
        calling(functions.blocked_sink_attention_f32, *SINKS),
        on("cpu", WAITING),
        of_dtype("T", *FLOATS),
        why="products and softmax in f32, of the keys alone that are seen",
    ),
    kernel(
        "std.nn.attention::sink_attention",
        "torch.sink_attention",
        "fast",
        calling(functions.sink_attention, *SINKS),
        of_dtype("T", *SIXTEEN_BITS),
        why="products in the dtype, the softmax in f32; no key is repeated for its queries",
    ),
    kernel(
        "std.nn.attention::sink_attention",
        "torch.sink_attention_f32",
        "equivalent",
        calling(functions.sink_attention_f32, *SINKS),
        of_dtype("T", *FLOATS),
        why="products and softmax in f32; no key is repeated for its queries",
    ),
)
PLAIN_KERNELS = tuple(
    one
    for op in ("attention", "grouped_attention", "attention_rows", "grouped_attention_rows")
    for one in (
        kernel(
            f"std.nn.attention::{op}",
            "torch.scaled_attention",
            "fast",
            calling(functions.scaled_attention, *PLAIN),
            why="the framework's fused attention",
        ),
        kernel(
            f"std.nn.attention::{op}",
            "torch.attention_f32",
            "equivalent",
            calling(functions.attention_f32, *PLAIN),
            why="products and softmax in f32; no key is repeated for its queries",
        ),
    )
)
KERNELS = (*SINK_KERNELS, *PLAIN_KERNELS)
