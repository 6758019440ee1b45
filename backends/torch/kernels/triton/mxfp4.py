"""MXFP4 products and weights as custom operators of PyTorch, whose kernels are Triton's.

Every launch follows from shapes alone: nothing waits for the device, nothing is tuned while a
graph is captured, and compilers of PyTorch see an operator with a known result. An expert that
does not exist is read as the nearest that does. Triton is loaded when one first runs.
"""

from __future__ import annotations

from typing import Any

import torch

from linnet.backends.torch.kernels.triton import plans

_EXACT = {torch.bfloat16: (0, 240), torch.float16: (104, 140)}
"""Scale bytes at which the dtype has every weight, and the f32 factors are normal numbers."""


def triton_mxfp4_experts(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """`x [R, K, G * 32]`, or `[R, 1, G * 32]` or `[R, G * 32]` where a row's experts share its
    input, `blocks [E, Out, G, 16; u8]`, `scales [E, Out, G; u8]`, `experts [R, K; i64]`; result
    `[R, K, Out]`. For few rows: every pair of a row and an expert reads that expert."""
    return torch.ops.linnet_triton.few_rows(x.flatten(0, -2), blocks, scales, experts)


def triton_mxfp4_experts_grouped(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """As `triton_mxfp4_experts`, for many rows: pairs are sorted by expert."""
    return torch.ops.linnet_triton.grouped(x.flatten(0, -2), blocks, scales, experts)


def triton_mxfp4_combine_experts(
    x: torch.Tensor,
    blocks: torch.Tensor,
    scales: torch.Tensor,
    experts: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """`x [R, K, G * 32]`, `weights [R, K]`; result `[R, Out]`. For few rows."""
    products = triton_mxfp4_experts(x, blocks, scales, experts)
    return torch.ops.linnet_triton.combine(products, weights)


def triton_mxfp4_combine_experts_grouped(
    x: torch.Tensor,
    blocks: torch.Tensor,
    scales: torch.Tensor,
    experts: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """As `triton_mxfp4_combine_experts`, for many rows."""
    products = triton_mxfp4_experts_grouped(x, blocks, scales, experts)
    return torch.ops.linnet_triton.combine(products, weights)


def triton_dequantize_mxfp4(
    blocks: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor:
    """`blocks [E, Out, G, 16; u8]`, `scales [E, Out, G; u8]`; result `[E, Out, G * 32]`."""
    return torch.ops.linnet_triton.dequantize(blocks, scales, dtype)


def words_of(x: torch.Tensor) -> torch.Tensor:
    """What is narrower, in words of 32 bits along the last axis: in place where it is aligned."""
    packed = x.contiguous()
    return (packed if packed.data_ptr() % 4 == 0 else packed.clone()).view(torch.int32)


def interpreted() -> bool:
    """Whether Triton runs its kernels in Python. Its products of bf16 are wrong there."""
    from triton import knobs

    return bool(knobs.runtime.interpret)


def language(dtype: torch.dtype) -> Any:
    """A dtype of PyTorch as Triton's."""
    import triton.language as tl

    return getattr(tl, str(dtype).removeprefix("torch."))


_PRODUCT = "(Tensor x, Tensor blocks, Tensor scales, Tensor experts) -> Tensor"


@torch.library.custom_op("linnet_triton::few_rows", mutates_args=(), schema=_PRODUCT)
def few_rows(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """`x [R * K, G * 32]`, or `[R, G * 32]`; the rest as in `triton_mxfp4_experts`."""
    from linnet.backends.torch.kernels.triton import device_few_rows as device

    count, out, groups, _ = blocks.shape
    pairs = experts.numel()
    result = unspecified(x, blocks, scales, experts)
    if result.numel() == 0 or blocks.numel() == 0:
        return result.zero_()
    plan = plans.few_rows(pairs, out, groups)
    split = plan.splits > 1
    partial = x.new_empty((plan.splits, pairs, out), dtype=torch.float32) if split else result
    low, high = _EXACT.get(x.dtype, (1, 0))
    device.few_rows_kernel[(plans.tiles(out, plan.outputs), pairs, plan.splits)](
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
        BO=plan.outputs,
        T=language(x.dtype),
        BG=plan.blocks,
        num_warps=4,
    )
    if split:
        size = result.numel()
        device.add_splits_kernel[(plans.tiles(size, 256),)](
            partial, result, size, plan.splits, B=256, num_warps=4
        )
    return result


@torch.library.custom_op("linnet_triton::grouped", mutates_args=(), schema=_PRODUCT)
def grouped(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """`x [R * K, G * 32]`, or `[R, G * 32]`; the rest as in `triton_mxfp4_experts`."""
    from linnet.backends.torch.kernels.triton import device_grouped as device

    count, out, groups, _ = blocks.shape
    pairs = experts.numel()
    result = unspecified(x, blocks, scales, experts)
    if result.numel() == 0 or blocks.numel() == 0:
        return result.zero_()
    order, starts = sorted_by_expert(experts, count)
    plan = plans.grouped(pairs, count, out, groups)
    device.grouped_kernel[(plan.tiles, plans.tiles(out, plan.outputs))](
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
        num_warps=4,
        num_stages=3,
    )
    return result


def sorted_by_expert(experts: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The pairs sorted by expert, `[R * K; i32]`, and where each expert's begin and the last
    end, `[count + 1; i32]`."""
    from linnet.backends.torch.kernels.triton import device_grouped as device

    pairs = experts.numel()
    order = experts.new_empty(pairs, dtype=torch.int32)
    starts = experts.new_empty(count + 1, dtype=torch.int32)
    device.sort_kernel[(count,)](
        experts.contiguous(), order, starts, pairs, count, B=1024, num_warps=4
    )
    return order, starts


@torch.library.custom_op(
    "linnet_triton::combine", mutates_args=(), schema="(Tensor products, Tensor weights) -> Tensor"
)
def combine(products: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """`products [R, K, Out]`, `weights [R, K]`; result `[R, Out]`."""
    from linnet.backends.torch.kernels.triton import device_grouped as device

    rows, chosen, out = products.shape
    result = unspecified_sum(products, weights)
    if result.numel() > 0:
        tile = min(1024, plans.power(out))
        device.combine_kernel[(rows, plans.tiles(out, tile))](
            products.contiguous(), weights.contiguous(), result, chosen, out, B=tile, num_warps=4
        )
    return result


@torch.library.custom_op(
    "linnet_triton::dequantize",
    mutates_args=(),
    schema="(Tensor blocks, Tensor scales, ScalarType dtype) -> Tensor",
)
def dequantize(blocks: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """As `triton_dequantize_mxfp4`."""
    from linnet.backends.torch.kernels.triton import device_dequantize as device

    result = unspecified_weights(blocks, scales, dtype)
    if result.numel() > 0:
        words = words_of(blocks)
        device.dequantize_kernel[(plans.tiles(words.numel(), 512),)](
            words,
            scales.contiguous(),
            result,
            words.numel(),
            T=language(dtype),
            B=512,
            num_warps=4,
        )
    return result


@few_rows.register_fake
@grouped.register_fake
def unspecified(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """The result of a product before there is one."""
    return x.new_empty((*experts.shape, blocks.shape[1]))


@combine.register_fake
def unspecified_sum(products: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The result of `combine` before there is one."""
    return products.new_empty((products.shape[0], products.shape[2]))


@dequantize.register_fake
def unspecified_weights(
    blocks: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor:
    """The result of `dequantize` before there is one."""
    experts, out, groups, _ = blocks.shape
    return blocks.new_empty((experts, out, groups * 32), dtype=dtype)
