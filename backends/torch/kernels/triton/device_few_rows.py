# pyright: basic, reportArgumentType=false, reportAssignmentType=false, reportGeneralTypeIssues=false
# Triton compiles this: what looks like a type is a stage, and a number fits it.
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
    power_of_two,
    rounded,
    weight_pair,
    widened,
)


@triton.jit
def load_blocks(words, scales, at, seen, unseen: tl.constexpr):
    """The words `[BO, BG, 4; u32]` of the blocks at `at [BO, BG]`, and their scales."""
    word = at[:, :, None] * 4 + tl.arange(0, 4)[None, None, :]
    w = tl.load(words + word, mask=seen[:, :, None], other=0).to(tl.uint32, bitcast=True)
    return w, tl.load(scales + at, mask=seen, other=unseen).to(tl.int32)


@triton.jit
def load_two(x, word, i: tl.constexpr, mask, T: tl.constexpr):
    """Inputs `2 * i` and `2 * i + 1` of each word in f32; `x` is of i32, two inputs each, where
    `T` has 16 bits."""
    if T == tl.float32:
        at = x + word * 8 + 2 * i
        low, high = tl.load(at, mask=mask, other=0.0), tl.load(at + 1, mask=mask, other=0.0)
    else:
        two = tl.load(x + word * 4 + i, mask=mask, other=0).to(tl.uint32, bitcast=True)
        if T == tl.bfloat16:
            low = (two << 16).to(tl.float32, bitcast=True)
            high = (two & 0xFFFF0000).to(tl.float32, bitcast=True)
        else:
            low = (two & 0xFFFF).to(tl.uint16).to(T, bitcast=True).to(tl.float32)
            high = (two >> 16).to(tl.uint16).to(T, bitcast=True).to(tl.float32)
    return low[None, :, :], high[None, :, :]


@triton.jit
def add_products(total, words, power, x0, x1, x2, x3, x4, x5, x6, x7, T: tl.constexpr):
    """`total` and each word's products with its eight inputs: of weights in `T`, or of codes
    times `2 ** -14` where `power` is None."""
    if power is None:
        a0, a4 = code_pair(words, 0)
        a1, a5 = code_pair(words, 1)
        a2, a6 = code_pair(words, 2)
        a3, a7 = code_pair(words, 3)
    else:
        a0, a4 = weight_pair(words, 0, power, T)
        a1, a5 = weight_pair(words, 1, power, T)
        a2, a6 = weight_pair(words, 2, power, T)
        a3, a7 = weight_pair(words, 3, power, T)
    total = tl.fma(widened(a0), x0, total)
    total = tl.fma(widened(a1), x1, total)
    total = tl.fma(widened(a2), x2, total)
    total = tl.fma(widened(a3), x3, total)
    total = tl.fma(widened(a4), x4, total)
    total = tl.fma(widened(a5), x5, total)
    total = tl.fma(widened(a6), x6, total)
    return tl.fma(widened(a7), x7, total)


@triton.jit
def outputs(
    x,
    words,
    scales,
    row,
    seen_row,
    first,
    last,
    G,
    LOW: tl.constexpr,
    EXACT: tl.constexpr,
    T: tl.constexpr,
    BO: tl.constexpr,
    BG: tl.constexpr,
):
    """Weight rows `row [BO]` times the inputs of blocks `first` to `last`, by the place of blocks
    in their tile, `[BO, BG; f32]`; and how far a scale is above `LOW`, the same."""
    total = tl.zeros([BO, BG], tl.float32)
    worst = tl.zeros([BO, BG], tl.uint32)
    for start in range(first, last, BG):
        g = start + tl.arange(0, BG)
        word = g[:, None] * 4 + tl.arange(0, 4)[None, :]
        inside = (g < last)[:, None]
        at = row[:, None] * G + g[None, :]
        w, scale = load_blocks(words, scales, at, seen_row[:, None] & (g < last)[None, :], LOW)
        x0, x1 = load_two(x, word, 0, inside, T)
        x2, x3 = load_two(x, word, 1, inside, T)
        x4, x5 = load_two(x, word, 2, inside, T)
        x6, x7 = load_two(x, word, 3, inside, T)
        products = tl.zeros([BO, BG, 4], tl.float32)
        if EXACT:
            power = power_of_two(scale)[:, :, None]
            products = add_products(products, w, power, x0, x1, x2, x3, x4, x5, x6, x7, T)
            total += tl.sum(products, 2)
        else:
            products = add_products(products, w, None, x0, x1, x2, x3, x4, x5, x6, x7, T)
            factor = ((scale + 14) << 23).to(tl.float32, bitcast=True)
            total = tl.fma(tl.sum(products, 2), factor, total)
            worst = tl.maximum(worst, (scale - LOW).to(tl.uint32))
    return total, worst


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
    T: tl.constexpr,
    BO: tl.constexpr,
    BG: tl.constexpr,
):
    """`x [pairs / share, G * 32; T]`, as i32 where `T` has 16 bits, `words [E, Out, G, 4; i32]`,
    `scales [E, Out, G; u8]`, `experts [pairs; i64]`, `out [splits, pairs, Out]`, of `T` where
    there is one split, else f32.

    Programs: outputs in tiles of `BO`, pairs, splits of `span` blocks each. With scales from
    `LOW` to `HIGH`, at most 240, `T` rounds no weight; where `HIGH` is less, there are none such.
    """
    pair = tl.program_id(1).to(tl.int64)
    part = tl.program_id(2)
    o = tl.program_id(0) * BO + tl.arange(0, BO)
    expert = tl.minimum(tl.maximum(tl.load(experts + pair), 0), E - 1)
    row = expert * Out + tl.minimum(o, Out - 1)
    numbers: tl.constexpr = 32 if T == tl.float32 else 16
    x += pair // share * G * numbers
    first = part * span
    last = tl.minimum(first + span, G)
    if HIGH >= LOW:
        total, worst = outputs(
            x, words, scales, row, o < Out, first, last, G, LOW, False, T, BO, BG
        )
        if tl.max(worst) > HIGH - LOW:
            total, worst = outputs(
                x, words, scales, row, o < Out, first, last, G, LOW, True, T, BO, BG
            )
    else:
        total, worst = outputs(x, words, scales, row, o < Out, first, last, G, LOW, True, T, BO, BG)
    place = out + (part * pairs + pair) * Out + o
    tl.store(place, rounded(tl.sum(total, 1), out.dtype.element_ty), mask=o < Out)


@triton.jit(do_not_specialize=["size", "splits"])
def add_splits_kernel(partial, out, size, splits, B: tl.constexpr):
    """`partial [splits, size; f32]`, `out [size; T]`: the sum over the splits, in their order."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for part in range(splits):
        total += tl.load(partial + part * size + i, mask=i < size, other=0.0)
    tl.store(out + i, rounded(total, out.dtype.element_ty), mask=i < size)
