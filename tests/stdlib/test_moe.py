"""Mixtures of experts against einsum and the router of transformers, in f64."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from .compare import FLOATS, UNIT, draw, near, summing, tensor, torch
from .conftest import NUMPY_DTYPES, Run, RunAll, tensor_type

gpt_oss = pytest.importorskip("transformers.models.gpt_oss.modeling_gpt_oss")

# R, K, E, Out, In. In the last one all rows choose one expert.
SIZES = [(1, 1, 1, 1, 1), (3, 2, 5, 7, 9), (0, 2, 3, 4, 1), (2, 3, 4, 1, 0), (16, 2, 4, 3, 5)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_products(run: Run, size: tuple[int, int, int, int, int], dtype: str) -> None:
    rows, k, count, out, n = size
    x, weight = draw(0, (rows, k, n), dtype), draw(1, (count, out, n), dtype)
    rng = np.random.default_rng(2)
    experts = rng.integers(0, count, (rows, k)) * (rows < 16)
    weights = rng.random((rows, k)).astype(NUMPY_DTYPES[dtype])
    matrices = tensor(weight)[torch.from_numpy(experts)]
    both = {"weight": weight, "experts": experts}

    def products(x: object) -> object:
        return torch.einsum("rki,rkoi->rko", x, matrices)

    def sizes(x: object) -> object:
        return torch.einsum("rki,rkoi->rko", x, matrices.abs())

    use, result = "std.nn.moe::{linear_experts}", tensor_type((rows, k, out), dtype)
    got = run(use, "linear_experts(x, weight, experts)", result, x=x, **both)
    each, terms = products(tensor(x)), sizes(tensor(x).abs())
    near(got, each, UNIT[dtype] * each.abs() + 2 * n * summing(dtype) * terms)

    one = x[:, 0].copy()
    use, call = "std.nn.moe::{linear_experts_shared}", "linear_experts_shared(x, weight, experts)"
    got = run(use, call, result, x=one, **both)
    spread = tensor(one)[:, None].expand(-1, k, -1)
    want = products(spread)
    near(got, want, UNIT[dtype] * want.abs() + 2 * n * summing(dtype) * sizes(spread.abs()))

    use, result = "std.nn.moe::{combine_experts}", tensor_type((rows, out), dtype)
    call = "combine_experts(x, weight, experts, weights)"
    got = run(use, call, result, x=x, **both, weights=weights)
    share = tensor(weights)[..., None]
    want, all_terms = (each * share).sum(1), (terms * share).sum(1)
    # Each product rounds, then their sum; and so do the terms of both sums.
    bound = 1.01 * UNIT[dtype] * ((each.abs() * share).sum(1) + want.abs())
    near(got, want, bound + 2 * (n + k) * summing(dtype) * all_terms)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("rows", "k", "count"), [(1, 1, 1), (7, 3, 5), (0, 2, 4), (3, 4, 33)])
def test_routing(run_all: RunAll, rows: int, k: int, count: int, dtype: str) -> None:
    """The router's scores are the inputs: its matrix is the identity."""
    scores = draw(3, (rows, count), dtype, 3.0)
    experts, shares = run_all(
        "std.nn.moe::{top_k_routing}",
        f"top_k_routing<{rows}, {count}, {k}, {dtype}>(x)",
        f"({tensor_type((rows, k), 'i64')}, {tensor_type((rows, k), dtype)})",
        x=scores,
    )
    config = SimpleNamespace(num_experts_per_tok=k, num_local_experts=count, hidden_size=count)
    router = gpt_oss.GptOssTopKRouter(config).double()
    with torch.no_grad():
        router.weight.copy_(torch.eye(count))
        router.bias.zero_()
        _, want, chosen = router(tensor(scores))
    # Where two scores are equal, the order is PyTorch's own: they are compared as scores.
    taken = np.take_along_axis(scores, experts, axis=1)
    assert (taken == np.take_along_axis(scores, chosen.numpy(), axis=1)).all()
    assert all(len(set(row)) == k for row in experts.tolist())
    # As softmax over k scores.
    reach = 4 * float(tensor(scores).abs().max()) if scores.size else 0.0
    near(shares, want, want * (UNIT[dtype] + (2 * reach + 2 * k + 6) * UNIT["f32"]))
