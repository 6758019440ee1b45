# pyright: basic, reportArgumentType=false, reportAssignmentType=false, reportGeneralTypeIssues=false
# Triton compiles this: what looks like a type is a stage, and a number fits it.
"""MXFP4 weights written out in a float dtype."""

from __future__ import annotations

import triton
import triton.language as tl

from linnet.backends.torch.kernels.triton.device_mxfp4 import power_of_two, weights


@triton.jit
def dequantize_kernel(words, scales, out, size, T: tl.constexpr, B: tl.constexpr):
    """`words [size; i32]`, `scales [size / 4; u8]`, `out [size * 8; T]`; `B` words a program."""
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    w = tl.load(words + at, mask=at < size, other=0).to(tl.uint32, bitcast=True)
    scale = tl.load(scales + at // 4, mask=at < size, other=127).to(tl.int32)
    place = tl.program_id(0).to(tl.int64) * B * 8 + tl.arange(0, B * 8)
    values = tl.reshape(weights(w, power_of_two(scale), T), [B * 8])
    tl.store(out + place, values, mask=place < size * 8)
