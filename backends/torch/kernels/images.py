"""Kernels of `std.nn.conv` and `std.nn.pool`."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.backends.code import Code, group, infix, method, name
from linnet.backends.kernels import CallSite, Kernel
from linnet.backends.torch.kernels.functions import pool as functions
from linnet.backends.torch.kernels.records import (
    Condition,
    Emit,
    Extent,
    Word,
    call_of,
    calling,
    extent,
    kernel,
    known,
    not_on,
)

ROUNDING = "it may compute in TF32, or add up parts of a product in 16 bits"


def not_empty(*generics: str) -> Condition:
    """The framework has no windows of nothing, and no channels of nothing."""

    def condition(site: CallSite) -> str | None:
        empty = next((g for g in generics if site.extent(g) == 0), None)
        return f"`{empty}` is 0" if empty else None

    return condition


def pair(site: CallSite, generics: Sequence[str]) -> Word:
    """`(2, 3)`, or `2` of one."""
    found = [name(str(extent(site, generic))) for generic in generics]
    return Word(found[0].text if len(found) == 1 else group(found).text)


def convolved(function: str, strides: Sequence[str], pads: Sequence[str], apart: bool) -> Emit:
    """`function(x, weight, bias, stride=.., padding=..)`, or the bias added to the rounded sum."""

    def emit(site: CallSite, operands: Sequence[Code]) -> Sequence[Code]:
        named = {"stride": pair(site, strides), "padding": pair(site, pads)}
        bias = site.pick("bias", operands)
        if not apart or bias is None:
            return [call_of(function, site, operands, "x", "weight", "bias", **named)]
        found = call_of(function, site, operands, "x", "weight", **named)
        shape = [name("-1"), *[name("1")] * (2 if function == "F.conv2d" else 1)]
        return [infix(found, "+", method(bias, "reshape", *shape))]

    return emit


def convolution(
    op: str, function: str, strides: Sequence[str], pads: Sequence[str], extents: Sequence[str]
) -> tuple[Kernel, Kernel]:
    """The op with its bias inside the sum, and with that added afterwards as the body does."""
    where = (known(*strides, *pads), not_empty("C", "Out", *extents))
    fused = convolved(function, strides, pads, apart=False)
    apart = convolved(function, strides, pads, apart=True)
    name = f"std.nn.conv::{op}"
    return (
        kernel(name, f"torch.{op}", "fast", fused, *where, why="one convolution of the framework"),
        kernel(
            name,
            f"torch.{op}_then_bias",
            "equivalent",
            apart,
            *where,
            not_on("cuda", ROUNDING),
            why="one convolution of the framework, and the bias added after its rounding",
        ),
    )


def two_pads_fit(site: CallSite) -> str | None:
    """The framework pads a mean by no more than half a window."""
    pad, size = extent(site, "Pad"), extent(site, "K")
    return None if 2 * pad <= size else f"`Pad` is {pad}, more than half of `K`, {size}"


WINDOW = ("K", "Stride", "Pad")

KERNELS = (
    *convolution("conv1d", "F.conv1d", ["Stride"], ["Pad"], ["K"]),
    *convolution("conv2d", "F.conv2d", ["Stride"], ["Pad"], ["K"]),
    *convolution("conv2d_rect", "F.conv2d", ["StrideH", "StrideW"], ["PadH", "PadW"], ["KH", "KW"]),
    # Not exact: of two zeros it may take the other.
    kernel(
        "std.nn.pool::max_pool2d",
        "torch.max_pool2d",
        "equivalent",
        calling("F.max_pool2d", "x", *map(Extent, WINDOW)),
        known(*WINDOW),
        not_empty("C"),
        why="one operation of the framework",
    ),
    kernel(
        "std.nn.pool::average_pool2d",
        "torch.average_pool2d",
        "equivalent",
        calling(functions.average_pool2d, "x", *map(Extent, WINDOW)),
        known(*WINDOW),
        not_empty("C"),
        two_pads_fit,
        why="one operation of the framework",
    ),
    kernel(
        "std.nn.pool::global_average_pool2d",
        "torch.global_average_pool2d",
        "equivalent",
        calling(functions.global_average_pool2d, "x"),
        why="one mean over both axes",
    ),
)
