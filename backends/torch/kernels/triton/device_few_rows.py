"""Products of few rows with their experts' MXFP4 weights, which are read once, in place.

A program has `BO` outputs of one expert and `BG` blocks of 32 inputs at a time. It adds up a
block's 32 products of codes in f32 and multiplies the sum by the block's scale; where a scale is
so near an end of its range that `T` rounds a weight, all of the program's outputs are computed
again from the rounded weights.
"""

from __future__ import annotations

import triton
import triton.language as tl

from linnet.backends.torch.kernels.triton.device_mxfp4 import (
    code_pair,
    pair_factor,
    rounded,
    weight,
    word_code,
)


@triton.jit
def block_of_inputs(x, word, n: tl.constexpr, mask):
    """Input `n` of each word in f32."""
    return tl.load(x + word * 8 + n, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def load_blocks(words, scales, at, seen, unseen: tl.constexpr):
    """The words `[BO, BG, 4; u32]` of the blocks at `at [BO, BG]`, and their scales."""
    word = at[:, :, None] * 4 + tl.arange(0, 4)[None, None, :]
    w = tl.load(words + word, mask=seen[:, :, None], other=0).to(tl.uint32, bitcast=True)
    return w, tl.load(scales + at, mask=seen, other=unseen).to(tl.int32)


@triton.jit(do_not_specialize=["pairs", "share"])
def few_rows_kernel(
    x,
    words,
    scales,
    experts,
    out,
    pairs,
    share,
    E,
    Out,
    G,
    span,
    LOW: tl.constexpr,
    HIGH: tl.constexpr,
    BO: tl.constexpr,
    BG: tl.constexpr,
    PARTIAL: tl.constexpr,
):
    """`x [pairs / share, G * 32; T]`, `words [E, Out, G, 4; i32]`, `scales [E, Out, G; u8]`,
    `experts [pairs; i64]`, `out [pairs, Out; T]`, or `[splits, pairs, Out; f32]` where `PARTIAL`.
    Programs: outputs in tiles of `BO`, pairs, splits of `span` blocks each. Without a weight that
    `T` rounds are scales from `LOW` to `HIGH`; where `HIGH` is less, no scale is.
    """
    pair = tl.program_id(1).to(tl.int64)
    part = tl.program_id(2)
    o = tl.program_id(0) * BO + tl.arange(0, BO)
    word_in_block = tl.arange(0, 4)
    expert = tl.minimum(tl.maximum(tl.load(experts + pair), 0), E - 1)
    row = expert * Out + tl.minimum(o, Out - 1)
    x += pair // share * G * 32
    T: tl.constexpr = x.dtype.element_ty
    first = part * span
    last = tl.minimum(first + span, G)
    total = tl.zeros([BO, BG], tl.float32)
    if HIGH >= LOW:
        worst = tl.zeros([BO, BG], tl.uint32)
        for start in range(first, last, BG):
            g = start + tl.arange(0, BG)
            word = g[:, None] * 4 + word_in_block[None, :]
            at = row[:, None] * G + g[None, :]
            seen = (g < last)[None, :] & (o < Out)[:, None]
            w, scale = load_blocks(words, scales, at, seen, LOW)
            products = tl.zeros([BO, BG, 4], tl.float32)
            for p in tl.static_range(4):
                a, b = code_pair(w, p)
                products += a * block_of_inputs(x, word, p, (g < last)[:, None])[None, :, :]
                products += b * block_of_inputs(x, word, p + 4, (g < last)[:, None])[None, :, :]
            total += tl.sum(products, 2) * pair_factor(scale)
            worst = tl.maximum(worst, (scale - LOW).to(tl.uint32))
        again = tl.max(worst) > HIGH - LOW
    else:
        again = True
    if again:
        total = tl.zeros([BO, BG], tl.float32)
        for start in range(first, last, BG):
            g = start + tl.arange(0, BG)
            word = g[:, None] * 4 + word_in_block[None, :]
            at = row[:, None] * G + g[None, :]
            seen = (g < last)[None, :] & (o < Out)[:, None]
            w, scale = load_blocks(words, scales, at, seen, 127)
            products = tl.zeros([BO, BG, 4], tl.float32)
            for n in tl.static_range(8):
                value = weight(word_code(w, n), scale[:, :, None], T).to(tl.float32)
                products += value * block_of_inputs(x, word, n, (g < last)[:, None])[None, :, :]
            total += tl.sum(products, 2)
    result = tl.sum(total, 1)
    place = out + (part * pairs + pair) * Out + o
    if PARTIAL:
        tl.store(place, result, mask=o < Out)
    else:
        tl.store(place, rounded(result, T), mask=o < Out)


@triton.jit(do_not_specialize=["size", "splits"])
def add_splits_kernel(partial, out, size, splits, B: tl.constexpr):
    """`partial [splits, size; f32]`, `out [size; T]`: the sum over the splits, in their order."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for part in range(splits):
        total += tl.load(partial + part * size + i, mask=i < size, other=0.0)
    tl.store(out + i, rounded(total, out.dtype.element_ty), mask=i < size)
