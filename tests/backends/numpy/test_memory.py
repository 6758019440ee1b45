"""How much a run holds: no array of all indices where a contraction or a gather does without."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet.backends.numpy.interpreter import Interpreter
from tests.lower.lowering import source

N = 200
SQUARE, ROW = np.ones((N, N), np.float32), np.ones(N, np.float32)
GIVEN = "a: Tensor[N, N; f32], b: Tensor[N, N; f32], c: Tensor[N, N; f32], v: Tensor[N; f32]"

# Bodies whose indices are three or more, for a result of two or fewer.
PRODUCTS = [
    "let y[i, j] = sum[k] a[i, k] * b[k, j]",
    "let y[i, j] = sum[k] b[j, k] * a[i, k]",
    "let y[i, j] = sum[k] a[i, k] * 2.0 * b[k, j]",
    "let y[i, j] = sum[k] a[i, k] / v[k] * b[k, j]",
    "let y[i, j] = sum[k] exp(a[i, k]) * cast<f32>(cast<bf16>(b[k, j]))",
    "let y[i, j] = (sum[k] a[i, k] * b[k, j]) * (max[k] c[k, j])",
    "let y[i, l] = sum[j, k] a[i, j] * b[j, k] * c[k, l]",
    "let y[i, l] = sum[j, k] a[i, j] * c[k, l] * b[j, k]",
    "let y[i, j] = sum[k] a[i, k] * (sum[l] b[j, l] * c[k, l])",
    "let y[i, j] = a[i, j] * (sum[k, l] b[k, l] * c[k, l])",
]


def peak(module: Any, args: list[Any]) -> int:
    """The most bytes that a run holds beside its arguments."""
    ready = Interpreter.of(module)
    tracemalloc.start()
    try:
        ready.run(args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("body", PRODUCTS)
def test_products(tmp_path: Path, body: str) -> None:
    text = f"fn f<N: Dim>({GIVEN}) -> Tensor[N, N; f32] {{\n    {body}\n    return y\n}}"
    module = source(tmp_path, text).function("f")
    # A few arrays of two axes at a time; one of three would be N of them.
    assert peak(module, [SQUARE, SQUARE, SQUARE, ROW]) < 8 * SQUARE.nbytes


def test_rows_of_a_table(tmp_path: Path) -> None:
    text = """
fn f<V: Dim, H: Dim, S: Dim>(table: Tensor[V, H; f32], ids: Tensor[S; i32]) -> Tensor[S, H; f32] {
    let y[s, h] = table[ids[s], h] * 2.0
    return y
}
"""
    table = np.ones((20_000, 50), np.float32)
    found = peak(source(tmp_path, text).function("f"), [table, np.arange(7, dtype=np.int32)])
    assert found < table.nbytes / 50


EXPERTS = """
use std.quant::{mxfp4_experts, mxfp4_linear_experts_shared, mxfp4_combine_experts}
fn each<R: Dim, K: Dim, E: Dim, Out: Dim, G: Dim>(
    x: Tensor[R, K, G * 32; f32], blocks: Tensor[E, Out, G, 16; u8],
    scales: Tensor[E, Out, G; u8], experts: Tensor[R, K; i64],
) -> Tensor[R, K, Out; f32] { return mxfp4_experts(x, blocks, scales, experts) }
fn shared<R: Dim, K: Dim, E: Dim, Out: Dim, G: Dim>(
    x: Tensor[R, G * 32; f32], blocks: Tensor[E, Out, G, 16; u8],
    scales: Tensor[E, Out, G; u8], experts: Tensor[R, K; i64],
) -> Tensor[R, K, Out; f32] { return mxfp4_linear_experts_shared(x, blocks, scales, experts) }
fn combined<R: Dim, K: Dim, E: Dim, Out: Dim, G: Dim>(
    x: Tensor[R, K, G * 32; f32], blocks: Tensor[E, Out, G, 16; u8],
    scales: Tensor[E, Out, G; u8], experts: Tensor[R, K; i64], weights: Tensor[R, K; f32],
) -> Tensor[R, Out; f32] { return mxfp4_combine_experts(x, blocks, scales, experts, weights) }
"""
ROWS, CHOSEN, ALL, OUT, IN = 128, 4, 4, 96, 128
WEIGHTS_OF_ALL, WEIGHTS_OF_EACH = ALL * OUT * IN * 4, ROWS * CHOSEN * OUT * IN * 4


@pytest.mark.parametrize(
    ("name", "held"),
    [
        # The weights that each row has chosen, gathered: the output and the reduced axis.
        ("each", 2 * WEIGHTS_OF_EACH),
        # The steps of the dequantization, in i64 at times.
        ("shared", 20 * WEIGHTS_OF_ALL),
        ("combined", 20 * WEIGHTS_OF_ALL),
    ],
)
def test_experts(tmp_path: Path, name: str, held: int) -> None:
    generator = np.random.default_rng(0)
    x = np.ones((ROWS, IN) if name == "shared" else (ROWS, CHOSEN, IN), np.float32)
    blocks = generator.integers(0, 256, (ALL, OUT, IN // 32, 16)).astype(np.uint8)
    scales = np.full((ALL, OUT, IN // 32), 127, np.uint8)
    experts = generator.integers(0, ALL, (ROWS, CHOSEN))
    args = [x, blocks, scales, experts, np.ones((ROWS, CHOSEN), np.float32)]
    found = peak(source(tmp_path, EXPERTS).function(name), args if name == "combined" else args[:4])
    assert held < 3 * WEIGHTS_OF_EACH
    assert found < held
