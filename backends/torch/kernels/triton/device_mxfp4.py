"""Weights of MXFP4 in registers: 32-bit words of eight codes, the first in the lowest bits.

A code's value in f16, times `2 ** -14`, is its three bits of magnitude at the lower end of the
exponent and the upper end of the mantissa, half a unit among the subnormal numbers included. Two
codes are placed at once, four bits apart in each half of a word.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def code_pair(words, p: tl.constexpr):
    """Codes `p` and `p + 4` of each word in f32, each times `2 ** -14`; `p` is 0 to 3."""
    if p < 3:
        halves = ((words << (9 - 4 * p)) & 0x0E000E00) | ((words << (12 - 4 * p)) & 0x80008000)
    else:
        halves = ((words >> 3) & 0x0E000E00) | (words & 0x80008000)
    low = (halves & 0xFFFF).to(tl.uint16).to(tl.float16, bitcast=True)
    high = (halves >> 16).to(tl.uint16).to(tl.float16, bitcast=True)
    return low.to(tl.float32), high.to(tl.float32)


@triton.jit
def pair_factor(scale):
    """What `code_pair` is to be multiplied by, `2 ** (scale - 113)` in f32: scales 0 to 240."""
    return ((scale + 14) << 23).to(tl.float32, bitcast=True)


@triton.jit
def weight_bits(code, scale):
    """The bits of a weight in f32, for every scale from 0 to 254; infinite beyond f32.

    No multiplication, which would lose the subnormal weights where hardware flushes them.
    """
    magnitude = code & 7
    exponent = scale + (magnitude >> 1) - 1
    half = tl.where(magnitude == 1, 0, magnitude & 1)
    normal = (exponent << 23) | (half << 22)
    # A weight below 2 ** -126 counts units of 2 ** -149.
    subnormal = (2 + half) << (tl.minimum(exponent, 0) + 21)
    bits = tl.where(exponent > 0, normal, subnormal)
    bits = tl.where(exponent > 254, 0x7F800000, bits)
    bits = tl.where(magnitude == 0, 0, bits)
    return bits.to(tl.uint32) | ((code & 8).to(tl.uint32) << 28)


@triton.jit
def weight(code, scale, T: tl.constexpr):
    """A weight, rounded to `T` once: exact in bf16 and f32."""
    bits = weight_bits(code, scale)
    if T == tl.bfloat16:
        return (bits >> 16).to(tl.uint16).to(tl.bfloat16, bitcast=True)
    else:
        return bits.to(tl.float32, bitcast=True).to(T)


@triton.jit
def word_code(words, n: tl.constexpr):
    """Code `n` of each word, 0 to 15."""
    return ((words >> (4 * n)) & 15).to(tl.int32)


@triton.jit
def interleave(v0, v1, v2, v3, v4, v5, v6, v7):
    """`[*S]` of each of a word's eight codes as `[*S, 2, 2, 2]`, in their order."""
    even = tl.join(tl.join(v0, v4), tl.join(v2, v6))
    odd = tl.join(tl.join(v1, v5), tl.join(v3, v7))
    return tl.join(even, odd)


@triton.jit
def rounded(x, T: tl.constexpr):
    """f32 to `T`, to the nearest, ties to even. For bf16 in integers: Triton's interpreter would
    cut instead of rounding."""
    if T == tl.bfloat16:
        bits = x.to(tl.uint32, bitcast=True)
        nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        nearest = tl.where(x == x, nearest, 0x7FC0)
        return nearest.to(tl.uint16).to(tl.bfloat16, bitcast=True)
    else:
        return x.to(T)
