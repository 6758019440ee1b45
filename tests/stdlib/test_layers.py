"""linear, norms, softmax, activations and rotary positions: exact cases and edges.

Values are compared with PyTorch's in test_torch.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from . import reference
from .conftest import NUMPY_DTYPES, Run, tensor_type

FLOATS = ["f16", "bf16", "f32", "f64"]
LEADING = [(), (1,), (0,), (3,), (2, 3), (2, 1, 3)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("leading", LEADING)
def test_linear_is_exact_on_small_integers(run: Run, leading: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, (*leading, 5)).astype(NUMPY_DTYPES[dtype])
    w = rng.integers(-3, 4, (7, 5)).astype(NUMPY_DTYPES[dtype])
    b = rng.integers(-3, 4, 7).astype(NUMPY_DTYPES[dtype])
    result = tensor_type((*leading, 7), dtype)
    got = run("std.nn.linear::{linear}", "linear(x, w, some(b))", result, x=x, w=w, b=b)
    np.testing.assert_array_equal(reference.wide(got), reference.linear(x, w, b))
    got = run("std.nn.linear::{linear}", "linear(x, w)", result, x=x, w=w)
    np.testing.assert_array_equal(reference.wide(got), reference.linear(x, w))


def test_linear_accumulates_bf16_in_f32(run: Run) -> None:
    x = np.ones((1, 1001), NUMPY_DTYPES["bf16"])
    w = np.ones((1, 1001), NUMPY_DTYPES["bf16"])
    got = run("std.nn.linear::{linear}", "linear(x, w)", "Tensor[1, 1; bf16]", x=x, w=w)
    # A bf16 accumulator would stay at 256; 1001 rounds to 1000.
    assert reference.wide(got).tolist() == [[1000.0]]


def test_linear_of_nothing_is_the_bias(run: Run) -> None:
    x, w = np.zeros((2, 0), np.float32), np.zeros((3, 0), np.float32)
    b = np.array([1.0, -2.0, 3.0], np.float32)
    got = run(
        "std.nn.linear::{linear}", "linear(x, w, some(b))", "Tensor[2, 3; f32]", x=x, w=w, b=b
    )
    assert got.tolist() == [[1.0, -2.0, 3.0]] * 2


def test_rms_norm_takes_its_epsilon(run: Run) -> None:
    x, w = np.zeros((1, 4), np.float32), np.ones(4, np.float32)
    x[0, 0] = 2.0
    got = run("std.nn.norm::{rms_norm}", "rms_norm(x, w, eps = 3.0)", "Tensor[1, 4; f32]", x=x, w=w)
    assert got.tolist() == [[1.0, 0.0, 0.0, 0.0]]


def test_softmax_of_large_logits(run: Run) -> None:
    x = np.array([[1e4, 1e4], [-1e4, 1e4]], np.float32)
    got = run("std.nn.softmax::{softmax}", "softmax(x)", "Tensor[2, 2; f32]", x=x)
    assert got.tolist() == [[0.5, 0.5], [0.0, 1.0]]


def test_sigmoid_at_the_ends(run: Run) -> None:
    x = np.array([-200.0, 0.0, 200.0], np.float32)
    got = run("std.nn.activations::{sigmoid}", "sigmoid(x)", "Tensor[3; f32]", x=x)
    assert got.tolist() == [0.0, 0.5, 1.0]


def test_rotate_half_pairs_halves(run: Run) -> None:
    x = np.array([[1.0, 2.0, 3.0, 4.0]], np.float32)
    got = run("std.nn.rope::{rotate_half}", "rotate_half(x)", "Tensor[1, 4; f32]", x=x)
    assert got.tolist() == [[-3.0, -4.0, 1.0, 2.0]]
