"""Kernels of the experts of `std.nn.moe` and of `std.quant`."""

from __future__ import annotations

import torch

from linnet.backends.kernels import CallSite, Kernel
from linnet.backends.torch.kernels.functions import experts as functions
from linnet.backends.torch.kernels.records import (
    Element,
    Function,
    Made,
    calling,
    extent,
    kernel,
    known,
    of_dtype,
    on,
    preparing,
)
from linnet.dtypes import FLOATS, DType

WAITING = "it reads the chosen experts on the host, for which a device would be waited for"
ROUTED = ("x", "weight", "experts")
PACKED = ("blocks", "scales")


def aligned(site: CallSite) -> str | None:
    """Rows of 16 bytes, which a grouped product wants."""
    for generic in ("In", "Out"):
        width = extent(site, generic)
        if width == 0 or width % 8:
            return f"`{generic}` is {width}, no multiple of 8"
    return None


def available(site: CallSite) -> str | None:
    """What came with PyTorch 2.10, for GPUs of NVIDIA's Ampere and later."""
    if not hasattr(torch.nn.functional, "grouped_mm"):
        return f"PyTorch {torch.__version__} has no `grouped_mm`"
    index = torch.device(site.device).index or 0
    # The device may be another machine's.
    here = index < torch.cuda.device_count()
    if here and torch.cuda.get_device_capability(index) < (8, 0):
        return "the device has no grouped product"
    return None


def grouped(op: str, function: Function, *arguments: str) -> Kernel:
    """The op as one grouped product of the framework on a GPU."""
    return kernel(
        f"std.nn.moe::{op}",
        "torch.grouped_mm",
        "fast",
        calling(function, *arguments),
        on("cuda", "grouped products are for GPUs"),
        of_dtype("T", DType.BF16),
        known("In", "Out"),
        aligned,
        available,
        why="one grouped product for all experts, for which the host does not wait",
    )


def routed(op: str, function: Function, *arguments: str) -> Kernel:
    """The op as a product for each chosen expert."""
    call = calling(function, *arguments)
    name = "cpu.chosen_experts"
    why = "one product for each expert that is chosen, and none for others"
    return kernel(f"std.nn.moe::{op}", name, "equivalent", call, on("cpu", WAITING), why=why)


def routed_mxfp4(op: str, function: Function, unpacked: Function, *arguments: str) -> Kernel:
    """The op as a product for each chosen expert, whose weights are unpacked for it, or by
    `unpacked` with those of all experts."""
    return kernel(
        f"std.quant::{op}",
        "cpu.chosen_mxfp4_experts",
        "equivalent",
        calling(function, "x", *PACKED, "experts", *arguments),
        on("cpu", WAITING),
        preparing=preparing(
            functions.dequantize_mxfp4,
            (*PACKED, Element("T")),
            unpacked,
            "x",
            Made(),
            "experts",
            *arguments,
        ),
        why="unpacks each expert that is chosen once, and no other",
    )


KERNELS = (
    grouped("linear_experts", functions.grouped_linear_experts, *ROUTED),
    grouped("linear_experts_shared", functions.grouped_linear_experts, *ROUTED),
    grouped("combine_experts", functions.grouped_combine_experts, *ROUTED, "weights"),
    *(
        routed(op, functions.linear_experts, *ROUTED)
        for op in ("linear_experts", "linear_experts_shared")
    ),
    routed("combine_experts", functions.combine_experts, *ROUTED, "weights"),
    kernel(
        "std.quant::dequantize_mxfp4",
        "torch.dequantize_mxfp4",
        "exact",
        calling(functions.dequantize_mxfp4, *PACKED, Element("T")),
        of_dtype("T", *FLOATS),
        why="looks up two weights for each byte in a table",
    ),
    *(
        routed_mxfp4(op, functions.mxfp4_experts, functions.linear_experts)
        for op in ("mxfp4_experts", "mxfp4_experts_shared", "mxfp4_linear_experts_shared")
    ),
    routed_mxfp4(
        "mxfp4_combine_experts",
        functions.mxfp4_combine_experts,
        functions.combine_experts,
        "weights",
    ),
)
