# pyright: basic, reportArgumentType=false, reportAssignmentType=false, reportGeneralTypeIssues=false
# Triton compiles this: what looks like a type is a stage, and a number fits it.
"""Products of many rows with their experts' MXFP4 weights: rows in groups by expert, one product
of matrices a group, weights unpacked on the way to the tensor cores.

`pairs` are the rows' choices, row after row; `share` of them have one input.
"""

from __future__ import annotations

import triton
import triton.language as tl

from linnet.backends.torch.kernels.triton.device_mxfp4 import (
    power_of_two,
    rounded,
    weights,
    widened,
)


@triton.jit(do_not_specialize=["pairs"])
def sort_kernel(experts, order, starts, pairs, E, B: tl.constexpr):
    """`experts [pairs; i64]`, `order [pairs; i32]`, `starts [E + 1; i32]`: the pairs of expert
    `e`, in their order, are `order[starts[e]:starts[e + 1]]`. One program an expert, each of
    which reads every pair twice: it needs nothing from another.
    """
    expert = tl.program_id(0)
    place = tl.zeros([], tl.int32)
    for start in range(0, pairs, B):
        i = start + tl.arange(0, B)
        chosen = tl.minimum(tl.maximum(tl.load(experts + i, mask=i < pairs, other=0), 0), E - 1)
        place += tl.sum(((chosen < expert) & (i < pairs)).to(tl.int32), 0)
    tl.store(starts + expert, place)
    for start in range(0, pairs, B):
        i = start + tl.arange(0, B)
        chosen = tl.minimum(tl.maximum(tl.load(experts + i, mask=i < pairs, other=0), 0), E - 1)
        mine = (chosen == expert) & (i < pairs)
        count = mine.to(tl.int32)
        tl.store(order + place + tl.cumsum(count, 0) - 1, i, mask=mine)
        place += tl.sum(count, 0)
    tl.store(starts + expert + 1, place, mask=expert == E - 1)


@triton.jit
def tile_product(
    x,
    words,
    scales,
    row,
    inputs,
    G,
    WIDE: tl.constexpr,
    BO: tl.constexpr,
    BT: tl.constexpr,
    BG: tl.constexpr,
):
    """Weight rows `row [BO]` times the inputs at `inputs [BT]` (less than 0: none), in f32."""
    T: tl.constexpr = x.dtype.element_ty
    total = tl.zeros([BO, BT], tl.float32)
    for start in range(0, G, BG):
        g = start + tl.arange(0, BG)
        k = start * 32 + tl.arange(0, BG * 32)
        at = row[:, None] * G + g[None, :]
        word = at[:, :, None] * 4 + tl.arange(0, 4)[None, None, :]
        w = tl.load(words + word, mask=(g < G)[None, :, None], other=0)
        scale = tl.load(scales + at, mask=(g < G)[None, :], other=127).to(tl.int32)
        b = tl.load(
            x + inputs[None, :] * (G * 32) + k[:, None],
            mask=(inputs >= 0)[None, :] & (k < G * 32)[:, None],
            other=0.0,
        )
        power = power_of_two(scale)[:, :, None]
        a = tl.reshape(weights(w.to(tl.uint32, bitcast=True), power, T), [BO, BG * 32])
        if WIDE:
            total = tl.dot(widened(a), widened(b), total)
        else:
            total = tl.dot(a, b, total)
    return total


@triton.jit(do_not_specialize=["share"])
def grouped_kernel(
    x,
    words,
    scales,
    order,
    starts,
    out,
    share,
    E,
    Out,
    G,
    WIDE: tl.constexpr,
    EP: tl.constexpr,
    BO: tl.constexpr,
    BT: tl.constexpr,
    BG: tl.constexpr,
):
    """`x [pairs / share, G * 32; T]`, `words [E, Out, G, 4; i32]`, `scales [E, Out, G; u8]`, and
    what `sort_kernel` gives; `out [pairs, Out; T]`.

    Programs: tiles of `BT` pairs, as many as there may be, and tiles of `BO` outputs; `EP` is a
    power of two, at least `E`. `WIDE` multiplies in f32, where there are no products of bf16.
    """
    tile = tl.program_id(0)
    e = tl.arange(0, EP)
    begin = tl.load(starts + e, mask=e < E, other=0)
    count = tl.load(starts + e + 1, mask=e < E, other=0) - begin
    tiles = (count + BT - 1) // BT
    until = tl.cumsum(tiles, 0)
    if tile < tl.sum(tiles, 0):
        expert = tl.sum((until <= tile).to(tl.int32), 0)
        here = e == expert
        skipped = (tile - tl.sum(tl.where(here, until - tiles, 0), 0)) * BT
        i = skipped + tl.arange(0, BT)
        mine = i < tl.sum(tl.where(here, count, 0), 0)
        pair = tl.load(order + tl.sum(tl.where(here, begin, 0), 0) + i, mask=mine, other=0)
        inputs = tl.where(mine, pair // share, -1).to(tl.int64)
        o = tl.program_id(1) * BO + tl.arange(0, BO)
        row = expert.to(tl.int64) * Out + tl.minimum(o, Out - 1)
        total = tile_product(x, words, scales, row, inputs, G, WIDE, BO, BT, BG)
        place = out + pair.to(tl.int64)[None, :] * Out + o[:, None]
        tl.store(
            place,
            rounded(total, x.dtype.element_ty),
            mask=mine[None, :] & (o < Out)[:, None],
        )


@triton.jit
def combine_kernel(products, weights, out, K, Out, B: tl.constexpr):
    """`products [R, K, Out; T]`, `weights [R, K; T]`, `out [R, Out; T]`: the weighed sum over
    `K` in f32. Programs: rows, tiles of `B` outputs."""
    r = tl.program_id(0).to(tl.int64)
    o = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for k in range(K):
        factor = widened(tl.load(weights + r * K + k))
        value = tl.load(products + (r * K + k) * Out + o, mask=o < Out, other=0.0)
        total += factor * widened(value)
    tl.store(out + r * Out + o, rounded(total, out.dtype.element_ty), mask=o < Out)
