"""MXFP4 weights, bit for bit, and the products of the experts that are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends.torch.kernels.harness import (
    FLOATS,
    NUMPY_DTYPES,
    Call,
    call,
    draw,
    near,
    product_bound,
    torch,
    wide,
)
from tests.backends.torch.kernels.routing import SIZES, Size, routing

# All sixteen codes in order, twice.
CODES = np.array([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE] * 2, np.uint8)


def dequantized(blocks: Any, scales: Any, dtype: str) -> Call:
    experts, out, groups = scales.shape
    generics = {"E": experts, "Out": out, "G": groups, "T": dtype}
    return call("std.quant::dequantize_mxfp4", generics, blocks=blocks, scales=scales)


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_code_at_every_scale(dtype: str) -> None:
    blocks = np.broadcast_to(CODES, (1, 255, 1, 16)).copy()
    scales = np.arange(255, dtype=np.uint8).reshape(1, 255, 1)
    made = dequantized(blocks, scales, dtype)
    (got,), (want,) = made.run("torch.dequantize_mxfp4"), made.body()
    assert got.tobytes() == want.tobytes()
    assert made.chosen("exact") == "torch.dequantize_mxfp4"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 2), (2, 0, 3), (0, 1, 1), (2, 3, 0)])
def test_sizes(shape: tuple[int, int, int], dtype: str) -> None:
    rng = np.random.default_rng(0)
    blocks = rng.integers(0, 256, (*shape, 16), dtype=np.uint8)
    scales = rng.integers(0, 255, shape, dtype=np.uint8)
    made = dequantized(blocks, scales, dtype)
    (got,), (want,) = made.run("torch.dequantize_mxfp4"), made.body()
    assert got.shape == want.shape and got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_values_do_not_depend_on_flushing(dtype: str) -> None:
    from linnet.backends.torch.kernels.functions.experts import mxfp4_values

    want = mxfp4_values(getattr(torch, dtype))
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot flush subnormal numbers")
    try:
        got = mxfp4_values(getattr(torch, dtype))
    finally:
        torch.set_flush_denormal(False)
    assert bytes(got.view(torch.uint8).numpy()) == bytes(want.view(torch.uint8).numpy())
    # 0.5 at scale byte 0 is 2 ** -128, below the smallest normal number of bf16 and f32.
    assert want[0, 1].item() == 2.0**-128


def generics(size: Size, dtype: str) -> dict[str, Any]:
    return dict(zip(("R", "K", "E", "Out", "G"), size, strict=False)) | {"T": dtype}


def packed(size: Size) -> dict[str, Any]:
    *_, count, out, groups, _ = size
    rng = np.random.default_rng(2)
    return {
        "blocks": rng.integers(0, 256, (count, out, groups, 16), dtype=np.uint8),
        "scales": rng.integers(122, 130, (count, out, groups), dtype=np.uint8),
        "experts": routing(size),
    }


def products(size: Size, x: Any) -> tuple[Any, Any]:
    """In f64, `[R, K, Out]`: the products, and what they are if no term has a sign."""
    arrays = packed(size)
    (weight,) = dequantized(arrays["blocks"], arrays["scales"], "f64").body()
    chosen = wide(weight)[arrays["experts"]]
    rows = np.broadcast_to(wide(x), (*arrays["experts"].shape, chosen.shape[-1]))
    one, other = (
        np.einsum("rki,rkoi->rko", a, b) for a, b in ((rows, chosen), (abs(rows), abs(chosen)))
    )
    return one, other


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "op", ["mxfp4_experts", "mxfp4_experts_shared", "mxfp4_linear_experts_shared"]
)
def test_products(op: str, size: Size, dtype: str) -> None:
    rows, chosen, _, _, groups, _ = size
    shape = (rows, chosen if op == "mxfp4_experts" else 1, groups * 32)
    x = draw(3, shape, dtype)
    given = x[:, 0].copy() if op == "mxfp4_linear_experts_shared" else x
    made = call(f"std.quant::{op}", generics(size, dtype), x=given, **packed(size))
    assert made.chosen("equivalent") == "cpu.chosen_mxfp4_experts"
    (got,), (want,) = made.run("cpu.chosen_mxfp4_experts"), made.body()
    _, terms = products(size, x)
    near(got, want, product_bound(dtype, want, terms, groups * 32))
    (prepared,) = made.prepared("cpu.chosen_mxfp4_experts")
    assert prepared.tobytes() == got.tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_weighed_products(size: Size, dtype: str) -> None:
    rows, chosen, _, _, groups, _ = size
    x = draw(4, (rows, chosen, groups * 32), dtype)
    weights = np.random.default_rng(5).random((rows, chosen)).astype(NUMPY_DTYPES[dtype])
    op = "std.quant::mxfp4_combine_experts"
    made = call(op, generics(size, dtype), x=x, **packed(size), weights=weights)
    (got,), (want,) = made.run("cpu.chosen_mxfp4_experts"), made.body()
    (prepared,) = made.prepared("cpu.chosen_mxfp4_experts")
    assert prepared.tobytes() == got.tobytes()
    each, terms = products(size, x)
    share = wide(weights)[..., None]
    # Each product rounds, and the sum of what that makes of them.
    bound = product_bound(
        dtype,
        (abs(each) * share).sum(1) + abs(wide(want)),
        (terms * share).sum(1),
        groups * 32 + chosen,
    )
    near(got, want, bound)


def test_only_what_is_chosen_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    from linnet.backends.torch.kernels.functions import experts as functions

    seen: list[int] = []
    plain = functions.dequantize_mxfp4

    def counted(blocks: Any, scales: Any, dtype: Any) -> Any:
        seen.append(blocks.dim())
        return plain(blocks, scales, dtype)

    monkeypatch.setattr(functions, "dequantize_mxfp4", counted)
    x, blocks = torch.ones(5, 1, 32), torch.zeros(9, 3, 1, 16, dtype=torch.uint8)
    scales = torch.full((9, 3, 1), 127, dtype=torch.uint8)
    experts = torch.tensor([[0, 4]] * 4 + [[4, 8]])
    functions.mxfp4_experts(x, blocks, scales, experts)
    assert seen == [3, 3, 3]


def test_a_device_does_not_wait() -> None:
    size = 1, 4, 5, 3, 1, "any"
    x = draw(0, (1, 4, 32), "f32")
    made = call("std.quant::mxfp4_experts", generics(size, "f32"), x=x, **packed(size))
    reason = made.refused("cpu.chosen_mxfp4_experts", "cuda:0")
    assert reason is not None and reason.startswith("the device is cuda: it reads the chosen")


def test_parts_are_put_together() -> None:
    """More blocks than are unpacked at once."""
    from linnet.backends.torch.kernels.functions.experts import dequantize_mxfp4

    blocks = torch.randint(0, 256, (3, 30000, 1, 16), dtype=torch.uint8)
    scales = torch.randint(0, 255, (3, 30000, 1), dtype=torch.uint8)
    whole = dequantize_mxfp4(blocks, scales, torch.float32)
    parts = [dequantize_mxfp4(b, s, torch.float32) for b, s in zip(blocks, scales, strict=True)]
    assert whole.shape == (3, 30000, 32) and whole.equal(torch.stack(parts))
