"""Products of many rows with their experts' MXFP4 weights: rows in groups by expert, one product
of matrices a group, weights unpacked on the way to the tensor cores.

`pairs` are the rows' choices, row after row; `share` of them have one input.
"""

from __future__ import annotations

import triton
import triton.language as tl

from linnet.backends.torch.kernels.triton.device_mxfp4 import (
    code_pair,
    interleave,
    pair_factor,
    rounded,
    weight,
    word_code,
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
def matrix(words, scale, T: tl.constexpr, EXACT: tl.constexpr, BO: tl.constexpr, BG: tl.constexpr):
    """Weights `[BO, BG * 32; T]` of `words [BO, BG, 4; u32]` and `scale [BO, BG; i32]`. Where not
    `EXACT`, `T` must not round any."""
    if EXACT:
        s = scale[:, :, None]
        values = interleave(
            weight(word_code(words, 0), s, T),
            weight(word_code(words, 1), s, T),
            weight(word_code(words, 2), s, T),
            weight(word_code(words, 3), s, T),
            weight(word_code(words, 4), s, T),
            weight(word_code(words, 5), s, T),
            weight(word_code(words, 6), s, T),
            weight(word_code(words, 7), s, T),
        )
    else:
        factor = pair_factor(scale)[:, :, None]
        v0, v4 = code_pair(words, 0)
        v1, v5 = code_pair(words, 1)
        v2, v6 = code_pair(words, 2)
        v3, v7 = code_pair(words, 3)
        values = interleave(
            (v0 * factor).to(T),
            (v1 * factor).to(T),
            (v2 * factor).to(T),
            (v3 * factor).to(T),
            (v4 * factor).to(T),
            (v5 * factor).to(T),
            (v6 * factor).to(T),
            (v7 * factor).to(T),
        )
    return tl.reshape(values, [BO, BG * 32])


@triton.jit
def tile_product(
    x,
    words,
    scales,
    row,
    inputs,
    G,
    LOW: tl.constexpr,
    EXACT: tl.constexpr,
    WIDE: tl.constexpr,
    BO: tl.constexpr,
    BT: tl.constexpr,
    BG: tl.constexpr,
):
    """Weight rows `row [BO]` times the inputs at `inputs [BT]` (less than 0: none), and how far
    any scale is above `LOW`."""
    T: tl.constexpr = x.dtype.element_ty
    total = tl.zeros([BO, BT], tl.float32)
    worst = tl.zeros([BO, BG], tl.uint32)
    for start in range(0, G, BG):
        g = start + tl.arange(0, BG)
        k = start * 32 + tl.arange(0, BG * 32)
        at = row[:, None] * G + g[None, :]
        word = at[:, :, None] * 4 + tl.arange(0, 4)[None, None, :]
        w = tl.load(words + word, mask=(g < G)[None, :, None], other=0)
        scale = tl.load(scales + at, mask=(g < G)[None, :], other=LOW).to(tl.int32)
        b = tl.load(
            x + inputs[None, :] * (G * 32) + k[:, None],
            mask=(inputs >= 0)[None, :] & (k < G * 32)[:, None],
            other=0.0,
        )
        a = matrix(w.to(tl.uint32, bitcast=True), scale, T, EXACT, BO, BG)
        worst = tl.maximum(worst, (scale - LOW).to(tl.uint32))
        if WIDE:
            total = tl.dot(a.to(tl.float32), b.to(tl.float32), total)
        else:
            total = tl.dot(a, b, total)
    return total, worst


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
    LOW: tl.constexpr,
    HIGH: tl.constexpr,
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
        total, worst = tile_product(
            x, words, scales, row, inputs, G, LOW, False, WIDE, BO, BT, BG
        )
        if tl.max(worst) > HIGH - LOW:
            total, worst = tile_product(
                x, words, scales, row, inputs, G, LOW, True, WIDE, BO, BT, BG
            )
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
        factor = tl.load(weights + r * K + k).to(tl.float32)
        value = tl.load(products + (r * K + k) * Out + o, mask=o < Out, other=0.0)
        total += factor * value.to(tl.float32)
    tl.store(out + r * Out + o, rounded(total, out.dtype.element_ty), mask=o < Out)
