"""Linear layers and embeddings."""

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
    same,
    wide,
)

OP = "std.nn.linear::linear"
SIZES = [((), 1, 1), ((3,), 7, 5), ((2, 0), 3, 4), ((1, 65), 33, 17), ((2,), 0, 3)]


def linear(leading: tuple[int, ...], n: int, o: int, biased: bool, dtype: str) -> Call:
    arrays: dict[str, Any] = {"x": draw(0, (*leading, n), dtype), "weight": draw(1, (o, n), dtype)}
    if biased:
        arrays["bias"] = draw(2, (o,), dtype)
    return call(OP, {"S": leading, "In": n, "Out": o, "T": dtype}, **arrays)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("leading", "n", "o"), SIZES)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("numerics", ["equivalent", "fast"])
def test_linear(
    leading: tuple[int, ...], n: int, o: int, biased: bool, dtype: str, numerics: Any
) -> None:
    made = linear(leading, n, o, biased, dtype)
    named = made.chosen(numerics)
    sixteen = "torch.linear_fused" if numerics == "fast" else "torch.linear_then_bias"
    assert named == (sixteen if dtype in ("f16", "bf16") else "torch.linear")
    (got,), (want,) = made.run(named), made.body()
    x, weight = wide(made.arrays["x"]), wide(made.arrays["weight"])
    bias = wide(made.arrays["bias"]) if biased else np.zeros(o)
    terms = abs(x) @ abs(weight).T + abs(bias)
    size = abs(x @ weight.T) + abs(wide(want))
    near(got, want, product_bound(dtype, size, terms, n + 1))


@pytest.mark.parametrize(("dtype", "large"), [("bf16", 256.0), ("f16", 2048.0)])
def test_the_product_rounds_before_the_bias_where_that_is_asked_for(
    dtype: str, large: float
) -> None:
    """The product is odd where the dtype has even numbers only and rounds down, and so does its
    sum with one. Rounded once, the result is `large + 2`."""
    numbers = {"x": [[large, 1.0]], "weight": [[1.0, 1.0]], "bias": [1.0]}
    arrays = {n: np.array(v, NUMPY_DTYPES[dtype]) for n, v in numbers.items()}
    made = call(OP, {"S": (1,), "In": 2, "Out": 1, "T": dtype}, **arrays)
    (body,), (apart,) = made.body(), made.run("torch.linear_then_bias")
    assert wide(body).item() == wide(apart).item() == large
    assert wide(made.run("torch.linear_fused")[0]).item() in (large, large + 2)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("rows", [1, 5, 64])
def test_sums_of_16_bits_are_wider(dtype: str, rows: int) -> None:
    """Ones: in the dtype itself a sum would stop at 2048, or 256."""
    count = 3000
    x, weight = (np.ones((n, count), NUMPY_DTYPES[dtype]) for n in (rows, 3))
    made = call(OP, {"S": (rows,), "In": count, "Out": 3, "T": dtype}, x=x, weight=weight)
    same(made.run("torch.linear_then_bias")[0], made.body()[0])


def test_a_gpu_may_reduce_in_16_bits() -> None:
    made = linear((3,), 7, 5, True, "bf16")
    assert made.chosen("fast", "cuda:1") == "torch.linear_fused"
    assert made.chosen("equivalent", "cuda:1") == "body"
    assert made.refused("torch.linear_then_bias", "cuda") == (
        "the device is cuda: it may add up parts of a 16-bit product in 16 bits"
    )
    assert made.refused("torch.linear") == "`T` is bf16, not f32 or f64"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("leading", [(), (1,), (0,), (2, 3)])
def test_embedding(leading: tuple[int, ...], dtype: str) -> None:
    table = draw(3, (11, 5), dtype)
    table[3, :2] = [np.nan, -0.0]
    ids = np.random.default_rng(4).integers(0, 11, leading).astype(np.int32)
    ids.reshape(-1)[:1] = 3
    generics = {"S": leading, "Vocab": 11, "H": 5, "T": dtype}
    made = call("std.nn.embedding::embedding", generics, ids=ids, table=table)
    assert made.chosen("exact") == "torch.embedding"
    (got,), (want,) = made.run("torch.embedding"), made.body()
    assert got.tobytes() == want.tobytes()
