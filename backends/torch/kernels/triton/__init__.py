"""Kernels written in Triton, as records. Importing this loads neither Triton nor a GPU's driver."""

from __future__ import annotations

from linnet.backends.kernels import Kernel, Tier
from linnet.backends.torch.kernels.records import Condition, Element, Emit, calling, kernel
from linnet.backends.torch.kernels.triton.attention import triton_sink_attention
from linnet.backends.torch.kernels.triton.mxfp4 import (
    triton_dequantize_mxfp4,
    triton_mxfp4_combine_experts,
    triton_mxfp4_combine_experts_grouped,
    triton_mxfp4_experts,
    triton_mxfp4_experts_grouped,
)
from linnet.backends.torch.kernels.triton.reasons import (
    few_queries,
    few_rows,
    float_up_to_32,
    narrow_heads,
    on_gpu,
    sixteen_bits,
)

FEW = "reads the packed bytes of the chosen experts in place, and of no other"
MANY = "groups rows by expert; packed bytes are unpacked in tiles on the chip"

PACKED = ("x", "blocks", "scales", "experts")


def record(op: str, name: str, tier: Tier, why: str, emit: Emit, *conditions: Condition) -> Kernel:
    """A kernel that is called `triton.name`, for GPUs."""
    return kernel(op, f"triton.{name}", tier, emit, on_gpu, *conditions, why=why)


def products(op: str, for_few: str, for_many: str) -> tuple[Kernel, Kernel]:
    """The kernels of a product with experts, under these names; that for few rows comes first."""
    few, many = triton_mxfp4_experts, triton_mxfp4_experts_grouped
    parameters = PACKED
    if op == "mxfp4_combine_experts":
        few, many = triton_mxfp4_combine_experts, triton_mxfp4_combine_experts_grouped
        parameters = (*PACKED, "weights")
    emits = (calling(few, *parameters), calling(many, *parameters))
    op = f"std.quant::{op}"
    return (
        record(op, for_few, "equivalent", FEW, emits[0], float_up_to_32, few_rows),
        record(op, for_many, "equivalent", MANY, emits[1], sixteen_bits),
    )


KERNELS = (
    *products("mxfp4_experts", "mxfp4_experts", "mxfp4_experts_grouped"),
    *products("mxfp4_experts_shared", "mxfp4_experts_shared", "mxfp4_experts_shared_grouped"),
    *products(
        "mxfp4_linear_experts_shared",
        "mxfp4_linear_experts_shared_few_rows",
        "mxfp4_linear_experts_shared",
    ),
    *products("mxfp4_combine_experts", "mxfp4_combine_experts_few_rows", "mxfp4_combine_experts"),
    record(
        "std.quant::dequantize_mxfp4",
        "dequantize_mxfp4",
        "exact",
        "unpacks in one pass",
        calling(triton_dequantize_mxfp4, "blocks", "scales", Element("T")),
        float_up_to_32,
    ),
    record(
        "std.nn.attention::sink_attention",
        "sink_attention",
        "equivalent",
        "splits the keys of few queries among programs; mask and sinks in the same pass",
        calling(triton_sink_attention, "query", "key", "value", "sinks", "scale", "mask"),
        float_up_to_32,
        few_queries,
        narrow_heads,
    ),
)
