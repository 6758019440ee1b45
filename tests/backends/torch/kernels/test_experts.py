"""Products with the experts of a mixture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linnet.backends.base import RuntimeFault
from tests.backends.torch.kernels.harness import (
    FLOATS,
    NUMPY_DTYPES,
    Call,
    call,
    draw,
    from_torch,
    near,
    product_bound,
    to_torch,
    torch,
    wide,
)
from tests.backends.torch.kernels.routing import SIZES, Size, routing


def drawn(size: Size, dtype: str, op: str) -> Call:
    rows, k, count, out, n, _ = size
    shape = (rows, n) if op == "linear_experts_shared" else (rows, k, n)
    arrays = {"x": draw(1, shape, dtype), "weight": draw(2, (count, out, n), dtype)}
    arrays["experts"] = routing(size)
    if op == "combine_experts":
        arrays["weights"] = np.random.default_rng(0).random((rows, k)).astype(NUMPY_DTYPES[dtype])
    generics = dict(zip(("R", "K", "E", "Out", "In"), size, strict=False)) | {"T": dtype}
    return call(f"std.nn.moe::{op}", generics, **arrays)


def bound(made: Call, want: Any, dtype: str) -> Any:
    """Each product rounds, and where they are weighed so does their sum."""
    a = made.arrays
    x = wide(a["x"]) if a["x"].ndim == 3 else wide(a["x"])[:, None]
    matrices = wide(a["weight"])[a["experts"]]
    x = np.broadcast_to(x, (*a["experts"].shape, matrices.shape[-1]))
    each = np.einsum("rki,rkoi->rko", x, matrices)
    terms = np.einsum("rki,rkoi->rko", abs(x), abs(matrices))
    count = x.shape[-1]
    if "weights" not in a:
        return product_bound(dtype, want, terms, count)
    share = wide(a["weights"])[..., None]
    size = (abs(each) * share).sum(1) + abs(wide(want))
    return product_bound(dtype, size, (terms * share).sum(1), count + share.shape[1])


OPS = ["linear_experts", "linear_experts_shared", "combine_experts"]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("op", OPS)
def test_chosen_experts(op: str, size: Size, dtype: str) -> None:
    made = drawn(size, dtype, op)
    assert made.chosen("equivalent") == "cpu.chosen_experts"
    (got,), (want,) = made.run("cpu.chosen_experts"), made.body()
    near(got, want, bound(made, want, dtype))


@pytest.mark.skipif(not hasattr(torch.nn.functional, "grouped_mm"), reason="an older PyTorch")
@pytest.mark.parametrize(
    "size", [(3, 2, 4, 8, 16, "any"), (33, 2, 6, 24, 8, "one"), (6, 3, 6, 8, 8, "every")]
)
@pytest.mark.parametrize("op", OPS)
def test_one_grouped_product(op: str, size: Size) -> None:
    """As PyTorch computes it without a GPU."""
    from linnet.backends.torch.kernels.functions import experts as functions

    made = drawn(size, "bf16", op)
    combine = op == "combine_experts"
    function = functions.grouped_combine_experts if combine else functions.grouped_linear_experts
    (want,) = made.body()
    got = from_torch(function(*(to_torch(x) for x in made.operands())))
    near(got, want, bound(made, want, "bf16"))


def test_an_expert_that_nobody_chose_is_not_read() -> None:
    made = drawn((7, 2, 5, 9, 33, "one"), "f32", "linear_experts")
    weight = np.asarray(made.arrays["weight"])
    (want,) = made.run("cpu.chosen_experts")
    weight[:-1] = np.nan
    (got,) = made.run("cpu.chosen_experts")
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("number", [-1, 5])
def test_an_expert_that_there_is_not(number: int) -> None:
    made = drawn((7, 2, 5, 9, 33, "any"), "f32", "linear_experts")
    np.asarray(made.arrays["experts"])[3, 1] = number
    with pytest.raises(RuntimeFault):
        made.body()
    with pytest.raises(IndexError, match=r"an expert is not within 0\.\.5"):
        made.run("cpu.chosen_experts")


def test_when_one_grouped_product_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = drawn((3, 2, 4, 8, 16, "any"), "bf16", "linear_experts")
    assert fits.refused("torch.grouped_mm") == "the device is cpu: grouped products are for GPUs"
    if hasattr(torch.nn.functional, "grouped_mm") and not torch.cuda.is_available():
        assert fits.chosen("fast", "cuda") == "torch.grouped_mm"
    assert fits.chosen("equivalent", "cuda") == "body"
    odd = drawn((3, 2, 4, 7, 16, "any"), "bf16", "linear_experts")
    assert odd.refused("torch.grouped_mm", "cuda") == "`Out` is 7, no multiple of 8"
    wide_ = drawn((3, 2, 4, 8, 16, "any"), "f32", "linear_experts")
    assert wide_.refused("torch.grouped_mm", "cuda") == "`T` is f32, not bf16"
    monkeypatch.delattr(torch.nn.functional, "grouped_mm", raising=False)
    assert str(fits.refused("torch.grouped_mm", "cuda")).endswith("has no `grouped_mm`")
