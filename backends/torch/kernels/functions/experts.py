"""Products of tokens with the experts that they are routed to, and the weights of MXFP4 experts.

On the CPU the tokens are sorted by expert, and each expert that is chosen has one product; its
weights are read, or unpacked, once. On a GPU one grouped product does all, because which experts
are chosen is not known on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

MXFP4_PART = 65536
"""How many blocks of 32 weights are unpacked together on the CPU."""
MXFP4_PAIRS: dict[tuple[torch.dtype, torch.device], torch.Tensor] = {}


# --- products ----------------------------------------------------------------


def by_expert(
    x: torch.Tensor,
    experts: torch.Tensor,
    sizes: tuple[int, int],
    weight_of: Callable[[int], torch.Tensor],
) -> torch.Tensor:
    """`weight_of(experts[r, k]) [Out, In] @ x[r, k]` as `[R, K, Out]`; `x` is `[R, K, In]`, or
    `[R, 1, In]` for all `K`. `sizes` are the number of experts and `Out`."""
    rows, chosen = experts.shape
    number, out = sizes
    if rows * chosen == 0:
        return x.new_empty(rows, chosen, out)
    places, order = experts.reshape(-1).sort(stable=True)
    if not 0 <= int(places[0]) <= int(places[-1]) < number:
        raise IndexError(f"an expert is not within 0..{number}")
    found: Any = torch.bincount(places, minlength=number)
    counts: list[int] = found.tolist()
    # Each row is moved to where its expert's are, and its product back, all in one go.
    source = order // chosen if x.shape[1] == 1 else order
    inputs = x.flatten(0, 1).index_select(0, source)
    products: list[torch.Tensor] = []
    start = 0
    for expert, count in enumerate(counts):
        if count:
            products.append(product(inputs[start : start + count], weight_of(expert)))
            start += count
    back = torch.empty_like(order).index_copy_(0, order, torch.arange(len(order)))
    return torch.cat(products).index_select(0, back).reshape(rows, chosen, out)


def product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """`x [N, In]` times `weight [Out, In]`. Several rows stand on the right: what a product packs
    for the processor is its right side, and they are fewer than those of the weight."""
    if x.shape[0] == 1:
        return torch.nn.functional.linear(x, weight)
    return torch.matmul(weight, x.t()).t()


def grouped_products(x: torch.Tensor, weight: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
    """`by_expert` with `weight [E, Out, In]` as one product, for which nothing waits."""
    rows, chosen = experts.shape
    inputs = x.expand(rows, chosen, x.shape[2]).reshape(rows * chosen, x.shape[2])
    numbers, order = experts.reshape(-1).sort(stable=True)
    every = torch.arange(weight.shape[0], device=x.device)
    ends = torch.searchsorted(numbers, every, right=True, out_int32=True)
    products = torch.nn.functional.grouped_mm(
        inputs.index_select(0, order), weight.transpose(1, 2), offs=ends
    )
    result = torch.empty_like(products).index_copy_(0, order, products)
    return result.reshape(rows, chosen, weight.shape[1])


def weighed_sum(products: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """`products [R, K, Out]` times `weights [R, K]`, added up over `K` in f32, or f64, and rounded
    once."""
    wide = torch.float64 if products.dtype == torch.float64 else torch.float32
    shares = weights.to(wide).unsqueeze(1)
    return torch.matmul(shares, products.to(wide)).squeeze(1).to(products.dtype)


def linear_experts(x: torch.Tensor, weight: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
    """`x [R, K, In]`, or `[R, In]` for all `K`; `weight [E, Out, In]`, `experts [R, K]`."""
    tokens = x if x.dim() == 3 else x.unsqueeze(1)
    return by_expert(tokens, experts, (weight.shape[0], weight.shape[1]), lambda e: weight[e])


def combine_experts(
    x: torch.Tensor, weight: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """`x [R, K, In]`, `weights [R, K]`, result `[R, Out]`; each product rounds before the sum."""
    products = by_expert(x, experts, (weight.shape[0], weight.shape[1]), lambda e: weight[e])
    return weighed_sum(products, weights)


def grouped_linear_experts(
    x: torch.Tensor, weight: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """`linear_experts` as one grouped product."""
    return grouped_products(x if x.dim() == 3 else x.unsqueeze(1), weight, experts)


def grouped_combine_experts(
    x: torch.Tensor, weight: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """`combine_experts` with one grouped product."""
    return weighed_sum(grouped_products(x, weight, experts), weights)


# --- MXFP4 -------------------------------------------------------------------


def dequantize_mxfp4(
    blocks: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor:
    """`blocks [*S, G, 16]` and `scales [*S, G]` of u8 as weights `[*S, G * 32]`."""
    pairs = mxfp4_pairs(dtype, blocks.device)
    codes, powers = blocks.reshape(-1, 16), scales.reshape(-1)
    count = powers.shape[0]
    found = torch.empty(count * 16, dtype=pairs.dtype, device=blocks.device)

    def unpack(start: int, stop: int) -> None:
        place = codes[start:stop].to(torch.int32)
        place += (powers[start:stop].to(torch.int32) << 8).unsqueeze(-1)
        out = found[start * 16 : stop * 16]
        torch.index_select(pairs, 0, place.reshape(-1), out=out)

    if blocks.device.type != "cpu" or torch.compiler.is_compiling():
        unpack(0, count)
    else:
        in_parts(unpack, count)
    return found.view(dtype).reshape(*scales.shape[:-1], scales.shape[-1] * 32)


def in_parts(unpack: Callable[[int, int], None], count: int) -> None:
    """`unpack` for parts of `count` rows, so that there are never places in the table for all bytes
    at once. PyTorch looks up in one thread; the parts are given to as many as it has."""
    starts = range(0, count, MXFP4_PART)
    stops = [min(start + MXFP4_PART, count) for start in starts]
    threads = min(torch.get_num_threads(), len(starts))
    if threads < 2:
        for start, stop in zip(starts, stops, strict=True):
            unpack(start, stop)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(unpack, starts, stops))


def mxfp4_pairs(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Element `scale * 256 + byte` holds the bits of the two weights of a byte, the low nibble's
    first."""
    found = MXFP4_PAIRS.get((dtype, device))
    if found is None:
        values = mxfp4_values(dtype)
        byte = torch.arange(256)
        both = torch.stack((values[:, byte & 15], values[:, byte >> 4]), -1)
        element = {2: torch.int32, 4: torch.int64, 8: torch.complex128}[dtype.itemsize]
        found = both.reshape(-1).view(element).to(device)
        MXFP4_PAIRS[dtype, device] = found
    return found


def mxfp4_values(dtype: torch.dtype) -> torch.Tensor:
    """`[256, 16]`: the value of each code at each scale byte. The bits are put together from
    integers, because arithmetic may flush what is below the smallest normal number to zero."""
    code = torch.arange(16)
    half, exponent = code & 1, (code >> 1) & 3
    # 0.5 is the one value whose leading bit is its mantissa's.
    power = torch.where(exponent == 0, -1, exponent - 1) + torch.arange(256)[:, None] - 127
    mantissa = torch.where(exponent == 0, 0, half)
    zero, negative = (code & 7) == 0, code >> 3
    if dtype == torch.float64:
        bits = torch.where(zero, 0, (power + 1023 << 52) | mantissa << 51) | negative << 63
        return bits.view(torch.float64)
    normal = (power + 127 << 23) | mantissa << 22
    subnormal = (2 | mantissa) << 22 >> (-126 - power).clamp_min(0)
    bits = torch.where(power < -126, subnormal, normal)
    bits = torch.where(power > 127, 0x7F800000, bits)
    bits = torch.where(zero, 0, bits) | negative << 31
    if dtype == torch.bfloat16:
        return (bits >> 16).to(torch.int16).view(dtype)
    return bits.to(torch.int32).view(torch.float32).to(dtype)


def mxfp4_experts(
    x: torch.Tensor, blocks: torch.Tensor, scales: torch.Tensor, experts: torch.Tensor
) -> torch.Tensor:
    """`x [R, K, G * 32]`, or `[R, 1, G * 32]` or `[R, G * 32]` for all `K`;
    `blocks [E, Out, G, 16]`, `scales [E, Out, G]`, `experts [R, K]`, result `[R, K, Out]`."""
    tokens = x if x.dim() == 3 else x.unsqueeze(1)

    def unpacked(expert: int) -> torch.Tensor:
        return dequantize_mxfp4(blocks[expert], scales[expert], x.dtype)

    return by_expert(tokens, experts, (blocks.shape[0], blocks.shape[1]), unpacked)


def mxfp4_combine_experts(
    x: torch.Tensor,
    blocks: torch.Tensor,
    scales: torch.Tensor,
    experts: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """`x [R, K, G * 32]`, `weights [R, K]`, result `[R, Out]`; each product rounds first."""
    return weighed_sum(mxfp4_experts(x, blocks, scales, experts), weights)
