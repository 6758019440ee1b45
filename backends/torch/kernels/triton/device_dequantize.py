"""MXFP4 weights written out in a float dtype."""

from __future__ import annotations

import triton
import triton.language as tl

from linnet.backends.torch.kernels.triton.device_mxfp4 import interleave, weight, word_code


@triton.jit
def dequantize_kernel(words, scales, out, size, T: tl.constexpr, B: tl.constexpr):
    """`words [size; i32]`, `scales [size / 4; u8]`, `out [size * 8; T]`; `B` words a program."""
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    w = tl.load(words + at, mask=at < size, other=0).to(tl.uint32, bitcast=True)
    scale = tl.load(scales + at // 4, mask=at < size, other=127).to(tl.int32)
    values = interleave(
        weight(word_code(w, 0), scale, T),
        weight(word_code(w, 1), scale, T),
        weight(word_code(w, 2), scale, T),
        weight(word_code(w, 3), scale, T),
        weight(word_code(w, 4), scale, T),
        weight(word_code(w, 5), scale, T),
        weight(word_code(w, 6), scale, T),
        weight(word_code(w, 7), scale, T),
    )
    place = tl.program_id(0).to(tl.int64) * B * 8 + tl.arange(0, B * 8)
    tl.store(out + place, tl.reshape(values, [B * 8]), mask=place < size * 8)
