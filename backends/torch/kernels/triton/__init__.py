"""Kernels written in Triton, as records. Importing this loads neither Triton nor a GPU's driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from linnet.backends.code import Code, call, name
from linnet.backends.kernels import CallSite, Kernel, Tier
from linnet.backends.torch.dtypes import TORCH
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
from linnet.dtypes import DType

Condition: TypeAlias = Callable[[CallSite], str | None]
Emit: TypeAlias = Callable[[CallSite, Sequence[Code]], Sequence[Code]]

FEW = "reads the packed bytes of the chosen experts in place, and of no other"
MANY = "groups rows by expert; packed bytes are unpacked in tiles on the chip"

PACKED = ("x", "blocks", "scales", "experts")


def record(op: str, name: str, tier: Tier, why: str, emit: Emit, *conditions: Condition) -> Kernel:
    """A kernel that applies where all conditions hold; the first that does not is the reason.
    `why` is what it is good for."""

    def applies(site: CallSite) -> str | None:
        found = (condition(site) for condition in (on_gpu, *conditions))
        return next((reason for reason in found if reason is not None), None)

    return Kernel(op, f"triton.{name}", tier, applies, emit, why=why)


def calling(function: Callable[..., Any], *parameters: str) -> Emit:
    """Calls `function` with these parameters of the op, none of them optional."""

    def emit(site: CallSite, operands: Sequence[Code]) -> Sequence[Code]:
        picked = (site.pick(parameter, operands) for parameter in parameters)
        return [call(function, *(code for code in picked if code is not None))]

    return emit


def emit_dequantize(site: CallSite, operands: Sequence[Code]) -> Sequence[Code]:
    """The dtype is no operand."""
    dtype = site.generic("T")
    assert isinstance(dtype, DType), f"`T` is {dtype}, which `float_up_to_32` refuses"
    packed = (site.pick(parameter, operands) for parameter in ("blocks", "scales"))
    given = (code for code in packed if code is not None)
    return [call(triton_dequantize_mxfp4, *given, name(str(TORCH[dtype])))]


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
        emit_dequantize,
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
