"""Weights to MXFP4, as the OCP Microscaling Formats specification 1.0 has it, and back.

A row is cut into blocks of 32. A block has one power of two, an E8M0 byte biased by 127, and 32
numbers of four bits, E2M1: a sign, two exponent bits, one mantissa bit. The published layout of
gpt-oss packs two numbers a byte, the even one in the low half.
"""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 32
BIAS = 127
LARGEST_EXPONENT = 2  # of E2M1, whose largest number is 6
LARGEST = 6.0
NUMBERS = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, LARGEST])  # by their three bits


def blocks_of(weight: Tensor) -> Tensor:
    """`[..., N]` to `[..., N / 32, 32]`. `N` has to be a multiple of 32."""
    return weight.unflatten(-1, (-1, BLOCK))


def exponents(blocks: Tensor) -> Tensor:
    """The scale's exponent for each block: that of its largest magnitude less that of E2M1's.

    A block of zeros gets 0. Section 6.3 of the specification.
    """
    largest = blocks.abs().amax(-1)
    power = torch.frexp(largest).exponent - 1  # frexp's mantissa is below 1
    return torch.where(largest > 0, power - LARGEST_EXPONENT, 0).clamp(-BIAS, BIAS)


def power_of_two(exponent: Tensor) -> Tensor:
    """Exact, in f32, as `ldexp` is and `exp2` need not be."""
    return torch.ldexp(torch.ones(exponent.shape), exponent)


def to_e2m1(x: Tensor) -> Tensor:
    """The nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; of two as near, the one
    whose mantissa bit is 0. What is larger becomes 6."""
    exponent = (torch.frexp(x).exponent - 1).clamp(0, LARGEST_EXPONENT)
    step = power_of_two(exponent - 1)
    # `round` takes the even multiple, whose mantissa bit is 0.
    return (torch.round(x / step) * step).clamp(-LARGEST, LARGEST)


def rounded(weight: Tensor) -> Tensor:
    """`[..., N]`, f32, each weight as MXFP4 has it."""
    blocks = blocks_of(weight)
    scale = power_of_two(exponents(blocks))[..., None]
    return (to_e2m1(blocks / scale) * scale).flatten(-2)


def packed(weight: Tensor) -> tuple[Tensor, Tensor]:
    """`[..., N]`, f32, to bytes `[..., N / 32, 16]` and scales `[..., N / 32]`, both u8."""
    blocks = blocks_of(weight)
    power = exponents(blocks)
    numbers = to_e2m1(blocks / power_of_two(power)[..., None])
    codes = torch.searchsorted(NUMBERS, numbers.abs().contiguous()) + 8 * (numbers < 0)
    pairs = codes.unflatten(-1, (-1, 2))
    both = pairs[..., 0] + 16 * pairs[..., 1]
    return both.to(torch.uint8), (power + BIAS).to(torch.uint8)


def unpacked(blocks: Tensor, scales: Tensor) -> Tensor:
    """Bytes `[..., N / 32, 16]` and scales `[..., N / 32]` to `[..., N]`, f32, without rounding."""
    codes = torch.stack([blocks & 15, blocks >> 4], -1).flatten(-2).long()
    numbers = NUMBERS[codes & 7] * (1 - 2.0 * (codes >> 3))
    power = scales.int()[..., None] - BIAS
    return torch.ldexp(numbers, power).flatten(-2)
