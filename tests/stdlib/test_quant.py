"""MXFP4: bits of the weights, and the products that read them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from linnet.backends.base import RuntimeFault
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
Size = tuple[int, int, int, int, int]
SIZES = [(1, 1, 1, 1, 1), (3, 2, 5, 7, 2), (2, 4, 4, 3, 1), (0, 2, 3, 4, 1), (3, 0, 2, 4, 1)]
FLOATS = ["f16", "bf16", "f32", "f64"]
PRODUCTS = [
    "mxfp4_experts",
    "mxfp4_experts_shared",
    "mxfp4_linear_experts_shared",
    "mxfp4_combine_experts",
]


class Experts:
    """Experts, inputs and choices, all small numbers of half units: every sum is exact in f32, so
    that only the roundings to the dtype which the ops promise are left."""

    def __init__(self, size: Size, dtype: str) -> None:
        rows, chosen, experts, out, groups = size
        rng = np.random.default_rng(1)
        self.size, self.dtype = size, dtype
        self.blocks = rng.integers(0, 256, (experts, out, groups, 16), dtype=np.uint8)
        self.scales = rng.integers(127, 129, (experts, out, groups), dtype=np.uint8)
        self.experts = rng.integers(0, experts, (rows, chosen)).astype(np.int64)
        self.x = self.rounded(rng.integers(-3, 4, (rows, chosen, groups * 32)))
        self.weights = self.rounded(rng.integers(-3, 4, (rows, chosen)))

    def rounded(self, x: Array | reference.Wide) -> Array:
        return x.astype(NUMPY_DTYPES[self.dtype])

    def inputs(self, op: str) -> Array:
        """`x` as the op takes it."""
        if op == "mxfp4_linear_experts_shared":
            return self.x[:, 0]
        return self.x[:, :1] if op == "mxfp4_experts_shared" else self.x

    def want(self, op: str) -> Array:
        matrices = reference.dequantize_mxfp4(self.blocks, self.scales)
        shared = "shared" in op
        x = self.x[:, :1] if shared else self.x
        products = self.rounded(reference.expert_products(x, matrices, self.experts))
        if op != "mxfp4_combine_experts":
            return products
        weighed = reference.wide(products) * reference.wide(self.weights)[..., None]
        return self.rounded(weighed.sum(axis=1))

    def run(self, run: Run, op: str) -> Array:
        rows, chosen, _, out, _ = self.size
        combine = op == "mxfp4_combine_experts"
        more: dict[str, Array] = {"weights": self.weights} if combine else {}
        return run(
            f"std.quant::{{{op}}}",
            f"{op}({', '.join(['x, blocks, scales, experts', *more])})",
            tensor_type((rows, out) if combine else (rows, chosen, out), self.dtype),
            x=self.inputs(op),
            blocks=self.blocks,
            scales=self.scales,
            experts=self.experts,
            **more,
        )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("op", PRODUCTS)
def test_products_round_where_they_say(run: Run, op: str, size: Size, dtype: str) -> None:
    if size[1] == 0 and "shared" in op:
        size = (size[0], 1, *size[2:])
    it = Experts(size, dtype)
    got, want = it.run(run, op), it.want(op)
    assert got.dtype == NUMPY_DTYPES[dtype]
    np.testing.assert_array_equal(reference.wide(got), reference.wide(want))


@pytest.mark.parametrize(("dtype", "scale"), [("f16", 150), ("bf16", 254), ("f32", 254)])
@pytest.mark.parametrize("op", PRODUCTS)
def test_an_expert_that_is_not_chosen_has_no_part(
    run: Run, op: str, dtype: str, scale: int
) -> None:
    it = Experts((3, 2, 4, 5, 2), dtype)
    it.experts %= 3
    want = it.want(op)
    it.scales[3] = scale
    with np.errstate(over="ignore"):
        unchosen = it.rounded(reference.dequantize_mxfp4(it.blocks, it.scales)[3])
    assert np.isinf(reference.wide(unchosen)).any()
    np.testing.assert_array_equal(reference.wide(it.run(run, op)), reference.wide(want))


@pytest.mark.parametrize("bad", [-1, 4, 2**40])
@pytest.mark.parametrize("op", PRODUCTS)
def test_an_expert_that_does_not_exist_is_an_error(run: Run, op: str, bad: int) -> None:
    it = Experts((3, 2, 4, 5, 1), "f32")
    it.experts[1, 1] = bad
    with pytest.raises(RuntimeFault, match=rf"index {bad} is out of range for axis \d of 4"):
        it.run(run, op)
