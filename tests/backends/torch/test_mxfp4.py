"""MXFP4 weights have the bits of the reference: every byte of two codes at every scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linnet.lower.module import lower_function
from linnet.pipeline import check_paths
from tests.backends.each import run

SOURCE = """module m

use std.quant::{{dequantize_mxfp4}}

pub entry f(
    blocks: Tensor[1, 255, 16, 16; u8], scales: Tensor[1, 255, 16; u8],
) -> Tensor[1, 255, 512; {dtype}] {{
    return dequantize_mxfp4<1, 255, 16, {dtype}>(blocks, scales)
}}
"""


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64"])
def test_every_byte_at_every_scale(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(SOURCE.format(dtype=dtype), "utf-8")
    result = check_paths([path])
    assert not list(result.sink)
    module = lower_function(result.program, "m::f")
    blocks = np.broadcast_to(np.arange(256, dtype=np.uint8).reshape(16, 16), (1, 255, 16, 16))
    scales = np.broadcast_to(np.arange(255, dtype=np.uint8)[:, None], (1, 255, 16))
    (found,), (wanted,) = (run(b, module, [blocks.copy(), scales]) for b in ("torch", "numpy"))
    assert found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()
    # The least are subnormal: were they flushed to zero, there would be fewer different values.
    exact = np.asarray([0, 0.5, 1, 1.5, 2, 3, 4, 6]) * 2.0 ** (np.arange(255.0)[:, None] - 127)
    with np.errstate(over="ignore"):
        assert {*np.abs(wanted.astype(np.float64)).flat} == {
            *exact.astype(wanted.dtype).astype(np.float64).flat
        }
