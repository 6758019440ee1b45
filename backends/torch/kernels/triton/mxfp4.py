"""MXFP4 products and weights as operators of PyTorch, and what generated source calls.

An expert that does not exist is read as the nearest that does.
"""

from __future__ import annotations

import torch

from linnet.backends.torch.kernels.triton import plans
from linnet.backends.torch.kernels.triton.launch import (
    interpreted,
    language,
    launch,
    operator,
    words_of,
)

_EXACT = {torch.bfloat16: (0, 240), torch.float16: (104, 140)}
"""Scale bytes at which the dtype has every weight, and the f32 factors are normal numbers."""
_PRODUCT = "(Tensor x, Tensor blocks, Tensor scales, Tensor experts) -> Tensor"


# --- what generated source calls ---------------------------------------------


def triton_mxfp4_experts(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """`x [R, K, G * 32]`, or `[R, 1, G * 32]` or `[R, G * 32]` where a row's experts share its
    input, `blocks [E, Out, G, 16; u8]`, `scales [E, Out, G; u8]`, `experts [R, K; i64]`; result
    `[R, K, Out]`. For few rows: every pair of a row and an expert reads that expert."""
    return few_rows(x.flatten(0, -2), blocks, scales, experts)


def triton_mxfp4_experts_grouped(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """As `triton_mxfp4_experts`, for many rows: pairs are sorted by expert."""
    return grouped(x.flatten(0, -2), blocks, scales, experts)


def triton_mxfp4_combine_experts(
    x: torch.Tensor,
    blocks: torch.Tensor,
    scales: torch.Tensor,
    experts: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """`x [R, K, G * 32]`, `weights [R, K]`; result `[R, Out]`. For few rows."""
    return combine(triton_mxfp4_experts(x, blocks, scales, experts), weights)


def triton_mxfp4_combine_experts_grouped(
    x: torch.Tensor,
    blocks: torch.Tensor,
    scales: torch.Tensor,
    experts: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """As `triton_mxfp4_combine_experts`, for many rows."""
    return combine(triton_mxfp4_experts_grouped(x, blocks, scales, experts), weights)


def triton_dequantize_mxfp4(
    blocks: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor:
    """`blocks [E, Out, G, 16; u8]`, `scales [E, Out, G; u8]`; result `[E, Out, G * 32]`."""
    return dequantize(blocks, scales, dtype)


# --- results before there are values in them ---------------------------------


def products_of(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    return x.new_empty((*experts.shape, blocks.shape[1]))


def sums_of(products: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return products.new_empty((products.shape[0], products.shape[2]))


def weights_of(blocks: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    experts, out, groups, _ = blocks.shape
    return blocks.new_empty((experts, out, groups * 32), dtype=dtype)


# --- operators ---------------------------------------------------------------


@operator(_PRODUCT, products_of)
def few_rows(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """`x [R * K, G * 32]`, or `[R, G * 32]`; the rest as in `triton_mxfp4_experts`."""
    count, out, groups, _ = blocks.shape
    pairs = experts.numel()
    result = products_of(x, blocks, scales, experts)
    if result.numel() == 0 or blocks.numel() == 0:
        return result.zero_()
    plan = plans.few_rows(pairs, out, groups)
    split = plan.splits > 1
    partial = x.new_empty((plan.splits, pairs, out), dtype=torch.float32) if split else result
    low, high = _EXACT.get(x.dtype, (1, 0))
    launch(
        "few_rows.few_rows_kernel",
        (plans.tiles(out, plan.outputs), pairs, plan.splits),
        x.contiguous() if x.dtype == torch.float32 else words_of(x),
        words_of(blocks),
        scales.contiguous(),
        experts.contiguous(),
        partial,
        pairs,
        pairs // x.shape[0],
        count,
        out,
        groups,
        plan.span,
        LOW=low,
        HIGH=high,
        T=language(x.dtype),
        BO=plan.outputs,
        BG=plan.blocks,
    )
    if split:
        size = result.numel()
        grid = (plans.tiles(size, 256),)
        launch("few_rows.add_splits_kernel", grid, partial, result, size, plan.splits, B=256)
    return result


@operator(_PRODUCT, products_of)
def grouped(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """`x [R * K, G * 32]`, or `[R, G * 32]`; the rest as in `triton_mxfp4_experts`."""
    count, out, groups, _ = blocks.shape
    pairs = experts.numel()
    result = products_of(x, blocks, scales, experts)
    if result.numel() == 0 or blocks.numel() == 0:
        return result.zero_()
    order, starts = sorted_by_expert(experts, count)
    plan = plans.grouped(pairs, count, out, groups)
    launch(
        "grouped.grouped_kernel",
        (plan.tiles, plans.tiles(out, plan.outputs)),
        x.contiguous(),
        words_of(blocks),
        scales.contiguous(),
        order,
        starts,
        result,
        pairs // x.shape[0],
        count,
        out,
        groups,
        WIDE=interpreted(),
        EP=plans.power(count),
        BO=plan.outputs,
        BT=plan.pairs,
        BG=plan.blocks,
    )
    return result


def sorted_by_expert(experts: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The pairs sorted by expert, `[R * K; i32]`, and where each expert's begin and the last
    end, `[count + 1; i32]`."""
    pairs = experts.numel()
    order = experts.new_empty(pairs, dtype=torch.int32)
    starts = experts.new_empty(count + 1, dtype=torch.int32)
    given = (experts.contiguous(), order, starts, pairs, count)
    launch("grouped.sort_kernel", (count,), *given, B=1024)
    return order, starts


@operator("(Tensor products, Tensor weights) -> Tensor", sums_of)
def combine(products: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """`products [R, K, Out]`, `weights [R, K]`; result `[R, Out]`."""
    rows, chosen, out = products.shape
    result = sums_of(products, weights)
    if result.numel() > 0:
        tile = min(1024, plans.power(out))
        given = (products.contiguous(), weights.contiguous(), result, chosen, out)
        launch("grouped.combine_kernel", (rows, plans.tiles(out, tile)), *given, B=tile)
    return result


@operator("(Tensor blocks, Tensor scales, ScalarType dtype) -> Tensor", weights_of)
def dequantize(blocks: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """As `triton_dequantize_mxfp4`."""
    result = weights_of(blocks, scales, dtype)
    if result.numel() > 0:
        words = words_of(blocks)
        size = words.numel()
        given = (words, scales.contiguous(), result, size)
        grid = (plans.tiles(size, 512),)
        launch("dequantize.dequantize_kernel", grid, *given, T=language(dtype), B=512)
    return result
