# pyright: basic, reportArgumentType=false, reportAssignmentType=false, reportGeneralTypeIssues=false
# Triton compiles this: what looks like a type is a stage, and a number fits it.
"""Weights of MXFP4 in registers: 32-bit words of eight codes, the first in the lowest bits.

A code's value in f16, times `2 ** -14`, is its three bits of magnitude at the lower end of the
exponent and the upper end of the mantissa; that of a half is among the subnormal numbers there,
and a normal number in f32. Two codes are placed at once, one in each half of a word.
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
def power_of_two(scale):
    """`2 ** (scale - 127)` in f32, for scales from 0 to 254."""
    return tl.where(scale == 0, 0x00400000, scale << 23).to(tl.float32, bitcast=True)


@triton.jit
def weight_pair(words, p: tl.constexpr, power, T: tl.constexpr):
    """The weights of codes `p` and `p + 4`, where `power` is the block's `power_of_two`: exact in
    bf16 and f32, rounded once in f16; infinite beyond `T`.

    One product of the three below 2 ** -126 is subnormal. PTX keeps it, unless it says `.ftz`,
    which Triton leaves out; a test reads the PTX.
    """
    low, high = code_pair(words, p)
    return exactly(low * 16384.0 * power, T), exactly(high * 16384.0 * power, T)


@triton.jit
def exactly(x, T: tl.constexpr):
    """f32 to `T`; in bf16 the upper half, where the lower is zero."""
    if T == tl.bfloat16:
        bits = x.to(tl.uint32, bitcast=True)
        return (bits >> 16).to(tl.uint16).to(tl.bfloat16, bitcast=True)
    else:
        return x.to(T)


@triton.jit
def weights(words, power, T: tl.constexpr):
    """The weights of words `[*S]` as `[*S, 2, 2, 2; T]`, in the order of their codes."""
    v0, v4 = weight_pair(words, 0, power, T)
    v1, v5 = weight_pair(words, 1, power, T)
    v2, v6 = weight_pair(words, 2, power, T)
    v3, v7 = weight_pair(words, 3, power, T)
    even = tl.join(tl.join(v0, v4), tl.join(v2, v6))
    odd = tl.join(tl.join(v1, v5), tl.join(v3, v7))
    return tl.join(even, odd)


@triton.jit
def widened(x):
    """To f32. bf16 in integers: Triton's interpreter would lose some of its subnormal numbers."""
    if x.dtype == tl.bfloat16:
        bits = x.to(tl.uint16, bitcast=True).to(tl.uint32) << 16
        return bits.to(tl.float32, bitcast=True)
    else:
        return x.to(tl.float32)


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
