"""The greatest numbers, and routing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends.torch.kernels.harness import (
    FLOATS,
    NUMPY_DTYPES,
    UNIT,
    call,
    draw,
    near,
    same,
    wide,
)

SIGNED = ["i8", "i16", "i32", "i64", "u8"]
SHAPES = [(1,), (5,), (0, 3), (2, 3, 7), (3, 129)]


def tied(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    """Few different numbers, so that most are tied; both zeros, both infinities and NaNs of both
    signs among floats."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0 if dtype.startswith("u") else -2, 3, shape).astype(NUMPY_DTYPES[dtype])
    if dtype in FLOATS:
        with np.errstate(invalid="ignore"):
            odd = np.array([-0.0, 0.0, np.inf, -np.inf, np.nan, -np.nan]).astype(x.dtype)
        where = rng.random(shape) < 0.3
        x[where] = rng.choice(odd, int(where.sum()))
    return x


@pytest.mark.parametrize("dtype", [*FLOATS, *SIGNED])
@pytest.mark.parametrize("shape", SHAPES)
def test_argmax(shape: tuple[int, ...], dtype: str) -> None:
    for x in (tied(shape, dtype, 0), np.zeros(shape, NUMPY_DTYPES[dtype]), tied(shape, dtype, 1)):
        made = call("std.nn.decoding::argmax", {"S": shape[:-1], "N": shape[-1], "T": dtype}, x=x)
        assert made.chosen("exact") == "torch.argmax"
        same(made.run("torch.argmax")[0], made.body()[0])


@pytest.mark.parametrize("dtype", [*FLOATS, *SIGNED])
@pytest.mark.parametrize("shape", [*SHAPES, (2, 0)])
def test_top_k(shape: tuple[int, ...], dtype: str) -> None:
    *leading, n = shape
    for k in {0, min(1, n), min(4, n), n}:
        generics = {"S": tuple(leading), "N": n, "K": k, "T": dtype}
        made = call("std.nn.decoding::top_k", generics, x=tied(shape, dtype, k))
        assert made.chosen("exact") == "torch.top_k"
        (values, places), (want, where) = made.run("torch.top_k"), made.body()
        assert values.tobytes() == want.tobytes()
        same(places, where)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("rows", "count", "k"), [(1, 1, 1), (7, 5, 3), (0, 4, 2), (33, 32, 4)])
def test_routing(rows: int, count: int, k: int, dtype: str) -> None:
    generics = {"R": rows, "E": count, "K": k, "T": dtype}
    for scores in (draw(0, (rows, count), dtype), draw(1, (rows, count), dtype).round()):
        made = call("std.nn.moe::top_k_routing", generics, scores=scores)
        assert made.chosen("equivalent") == "torch.top_k_routing"
        (experts, shares), (want, weights) = made.run("torch.top_k_routing"), made.body()
        same(experts, want)
        # Scores of four units and less, their exponentials, a sum of k and a quotient, twice.
        near(
            shares, weights, abs(wide(weights)) * (2.02 * UNIT[dtype] + 2 * (k + 20) * UNIT["f32"])
        )


def test_the_softmax_is_over_the_chosen_alone() -> None:
    scores = np.float32([[1.0, 2.0, 3.0, 4.0]])
    made = call("std.nn.moe::top_k_routing", {"R": 1, "E": 4, "K": 2, "T": "f32"}, scores=scores)
    experts, shares = made.run("torch.top_k_routing")
    assert experts.tolist() == [[3, 2]]
    assert np.allclose(shares, [[0.7310586, 0.2689414]], rtol=0, atol=1e-7)


def test_what_the_framework_does_not_compare() -> None:
    x = np.array([1, 2], np.uint32)
    made = call("std.nn.decoding::argmax", {"S": (), "N": 2, "T": "u32"}, x=x)
    reason = "`T` is u32, not bf16 or f16 or f32 or f64 or i16 or i32 or i64 or i8 or u8"
    assert made.refused("torch.argmax") == reason
    made = call("std.nn.decoding::top_k", {"S": (), "N": 2, "T": "i32"}, x=np.int32([1, 2]))
    assert made.refused("torch.top_k") == "`K` is K, which is not a number yet"
