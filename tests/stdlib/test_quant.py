"""MXFP4: bits of the weights, and the products that read them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from linnet.pipeline import check_paths

from . import reference
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

# All sixteen codes in order, twice.
CODES = np.array([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE] * 2, np.uint8)

USE = "std.quant::{dequantize_mxfp4}"


def dequantize(run: Run, blocks: NDArray[np.uint8], scales: NDArray[np.uint8], dtype: str) -> Array:
    experts, out, groups, _ = blocks.shape
    return run(
        USE,
        f"dequantize_mxfp4<{experts}, {out}, {groups}, {dtype}>(blocks, scales)",
        tensor_type((experts, out, groups * 32), dtype),
        blocks=blocks,
        scales=scales,
    )


def test_codes_in_order(run: Run) -> None:
    got = dequantize(run, CODES.reshape(1, 1, 1, 16), np.full((1, 1, 1), 127, np.uint8), "f32")
    want = np.tile(reference.E2M1, 2).astype(np.float32)
    # Bytes, so that -0.0 is not 0.0.
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize(
    ("scale", "want"), [(127, [0.5, 1.0]), (128, [1.0, 2.0]), (126, [0.25, 0.5])]
)
def test_scale_is_biased_by_127(run: Run, scale: int, want: list[float]) -> None:
    blocks = np.full((1, 1, 1, 16), 0x21, np.uint8)
    got = dequantize(run, blocks, np.full((1, 1, 1), scale, np.uint8), "f32")
    assert got.ravel().tolist() == want * 16


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_every_code_at_every_scale(run: Run, dtype: str) -> None:
    blocks = np.broadcast_to(CODES, (1, 255, 1, 16)).copy()
    scales = np.arange(255, dtype=np.uint8).reshape(1, 255, 1)
    got = dequantize(run, blocks, scales, dtype)
    with np.errstate(over="ignore", under="ignore"):
        want = reference.dequantize_mxfp4(blocks, scales).astype(NUMPY_DTYPES[dtype])
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_bits_of_transformers(run: Run, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    mxfp4 = pytest.importorskip("transformers.integrations.mxfp4")
    scales = np.arange(65, 190, dtype=np.uint8).reshape(1, 125, 1)
    blocks = np.random.default_rng(0).integers(0, 256, (1, 125, 1, 16), dtype=np.uint8)
    blocks[..., :8] = CODES[:8]
    want = mxfp4.convert_moe_packed_tensors(
        torch.from_numpy(blocks),
        torch.from_numpy(scales),
        dtype={"bf16": torch.bfloat16, "f32": torch.float32}[dtype],
    )
    integer = {"bf16": torch.int16, "f32": torch.int32}[dtype]
    bits = want.transpose(1, 2).contiguous().view(integer).numpy()
    got = dequantize(run, blocks, scales, dtype)
    assert got.tobytes() == bits.tobytes()


DISAGREE = """\
module m

use std.quant::{{dequantize_mxfp4}}

pub fn f(
    blocks: Tensor[2, 3, {b}, 16; u8],
    scales: Tensor[2, 3, {s}; u8],
) -> Tensor[2, 3, 128; f32] {{
    return dequantize_mxfp4<2, 3, 4, f32>(blocks, scales)
}}
"""


@pytest.mark.parametrize(
    ("b", "s", "message"),
    [
        (4, 5, "the argument `scales` is `Tensor[2, 3, 5; u8]`, `Tensor[2, 3, 4; u8]` is expected"),
        (5, 4, "the argument `blocks` is `Tensor[2, 3, 5, 16; u8]`, `Tensor[2, 3, 4, 16; u8]` is "),
    ],
)
def test_shapes_that_disagree(tmp_path: Path, b: int, s: int, message: str) -> None:
    file = tmp_path / "m.linnet"
    file.write_text(DISAGREE.format(b=b, s=s))
    (found,) = check_paths([file]).sink
    assert found.code == "E2202" and found.message.startswith(message)


# R rows, K experts each, E experts, Out, G blocks of 32.
SIZES = [(1, 1, 1, 1, 1), (3, 2, 5, 7, 2), (2, 4, 4, 3, 1), (0, 2, 3, 4, 1)]
TOLERANCE = {"bf16": 1e-2, "f32": 2e-6}


class Experts:
    """Random experts, and inputs and choices for them."""

    def __init__(self, size: tuple[int, int, int, int, int], dtype: str) -> None:
        rows, chosen, experts, out, groups = size
        rng = np.random.default_rng(1)
        self.generics = f"<{rows}, {chosen}, {experts}, {out}, {groups}, {dtype}>"
        self.dtype = dtype
        self.blocks = rng.integers(0, 256, (experts, out, groups, 16), dtype=np.uint8)
        self.scales = rng.integers(124, 130, (experts, out, groups), dtype=np.uint8)
        self.experts = rng.integers(0, experts, (rows, chosen)).astype(np.int64)
        self.x = rng.standard_normal((rows, chosen, groups * 32)).astype(NUMPY_DTYPES[dtype])
        self.weights = rng.random((rows, chosen)).astype(NUMPY_DTYPES[dtype])
        self.matrices = reference.dequantize_mxfp4(self.blocks, self.scales)

    def run(self, run: Run, op: str, want: reference.Wide, **inputs: Array) -> None:
        x = inputs.pop("x")
        got = run(
            f"std.quant::{{{op}}}",
            f"{op}{self.generics}({', '.join(['x, blocks, scales, experts', *inputs])})",
            tensor_type(want.shape, self.dtype),
            x=x,
            blocks=self.blocks,
            scales=self.scales,
            experts=self.experts,
            **inputs,
        )
        assert got.dtype == NUMPY_DTYPES[self.dtype]
        bound = TOLERANCE[self.dtype]
        scale = np.abs(want).max(initial=1.0)
        np.testing.assert_allclose(reference.wide(got), want, rtol=bound, atol=bound * scale)


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
@pytest.mark.parametrize("size", SIZES)
def test_mxfp4_experts(run: Run, size: tuple[int, int, int, int, int], dtype: str) -> None:
    it = Experts(size, dtype)
    want = reference.expert_products(it.x, it.matrices, it.experts)
    it.run(run, "mxfp4_experts", want, x=it.x)


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
@pytest.mark.parametrize("size", SIZES)
def test_mxfp4_experts_shared(run: Run, size: tuple[int, int, int, int, int], dtype: str) -> None:
    it = Experts(size, dtype)
    shared = it.x[:, :1]
    want = reference.expert_products(shared, it.matrices, it.experts)
    it.run(run, "mxfp4_experts_shared", want, x=shared)
    it.run(run, "mxfp4_linear_experts_shared", want, x=shared[:, 0])


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
@pytest.mark.parametrize("size", SIZES)
def test_mxfp4_combine_experts(run: Run, size: tuple[int, int, int, int, int], dtype: str) -> None:
    it = Experts(size, dtype)
    products = reference.expert_products(it.x, it.matrices, it.experts)
    want = (products * reference.wide(it.weights)[..., None]).sum(axis=1)
    it.run(run, "mxfp4_combine_experts", want, x=it.x, weights=it.weights)
