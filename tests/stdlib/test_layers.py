"""linear, embedding, norms, softmax, activations and rotary positions against references."""

from __future__ import annotations

import numpy as np
import pytest

from . import reference
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

FLOATS = ["f16", "bf16", "f32", "f64"]
# Relative and absolute: one rounding of the result and one of an intermediate; f64 goes through
# f32 in the ops that say so.
TOLERANCE = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 2e-6, "f64": 2e-6}
LEADING = [(), (1,), (0,), (3,), (2, 3), (2, 1, 3)]


def draw(seed: int, shape: tuple[int, ...], dtype: str, scale: float = 1.0) -> Array:
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return values.astype(NUMPY_DTYPES[dtype])


def assert_near(got: Array, want: reference.Wide, dtype: str) -> None:
    assert got.dtype == NUMPY_DTYPES[dtype]
    assert got.shape == want.shape
    bound = TOLERANCE[dtype]
    np.testing.assert_allclose(reference.wide(got), want, rtol=bound, atol=bound)


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


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("leading", [(1,), (0,), (3,), (2, 3)])
def test_embedding_takes_rows(run: Run, leading: tuple[int, ...], dtype: str) -> None:
    table = draw(1, (11, 5), dtype)
    ids = np.random.default_rng(2).integers(0, 11, leading).astype(np.int32)
    result = tensor_type((*leading, 5), dtype)
    got = run("std.nn.embedding::{embedding}", "embedding(ids, t)", result, ids=ids, t=table)
    np.testing.assert_array_equal(got, table[ids])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("leading", LEADING)
def test_rms_norm(run: Run, leading: tuple[int, ...], dtype: str) -> None:
    x, w = draw(3, (*leading, 7), dtype, 3.0), draw(4, (7,), dtype)
    result = tensor_type((*leading, 7), dtype)
    got = run("std.nn.norm::{rms_norm}", "rms_norm(x, w)", result, x=x, w=w)
    assert_near(got, reference.rms_norm(x, w), dtype)


def test_rms_norm_takes_its_epsilon(run: Run) -> None:
    x, w = np.zeros((1, 4), np.float32), np.ones(4, np.float32)
    x[0, 0] = 2.0
    got = run("std.nn.norm::{rms_norm}", "rms_norm(x, w, eps = 3.0)", "Tensor[1, 4; f32]", x=x, w=w)
    assert got.tolist() == [[1.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (5,), (0, 3), (2, 3, 7)])
def test_softmax(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    x = draw(5, shape, dtype, 4.0)
    got = run("std.nn.softmax::{softmax}", "softmax(x)", tensor_type(shape, dtype), x=x)
    assert_near(got, reference.softmax(x) if x.size else np.zeros(shape), dtype)


def test_softmax_of_large_logits(run: Run) -> None:
    x = np.array([[1e4, 1e4], [-1e4, 1e4]], np.float32)
    got = run("std.nn.softmax::{softmax}", "softmax(x)", "Tensor[2, 2; f32]", x=x)
    assert got.tolist() == [[0.5, 0.5], [0.0, 1.0]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (0,), (7,), (2, 5)])
def test_sigmoid(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    x = draw(6, shape, dtype, 5.0)
    got = run("std.nn.activations::{sigmoid}", "sigmoid(x)", tensor_type(shape, dtype), x=x)
    assert_near(got, reference.sigmoid(x), dtype)


def test_sigmoid_at_the_ends(run: Run) -> None:
    x = np.array([-200.0, 0.0, 200.0], np.float32)
    got = run("std.nn.activations::{sigmoid}", "sigmoid(x)", "Tensor[3; f32]", x=x)
    assert got.tolist() == [0.0, 0.5, 1.0]


def test_rotate_half_pairs_halves(run: Run) -> None:
    x = np.array([[1.0, 2.0, 3.0, 4.0]], np.float32)
    got = run("std.nn.rope::{rotate_half}", "rotate_half(x)", "Tensor[1, 4; f32]", x=x)
    assert got.tolist() == [[-3.0, -4.0, 1.0, 2.0]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("b", "h", "s", "d"), [(1, 1, 1, 2), (2, 3, 5, 6), (2, 1, 0, 4)])
def test_rope(run: Run, b: int, h: int, s: int, d: int, dtype: str) -> None:
    x = draw(7, (b, h, s, d), dtype)
    angles = np.random.default_rng(8).uniform(-9, 9, (b, s, d // 2))
    cosines, sines = (
        np.concatenate([part, part], axis=-1).astype(NUMPY_DTYPES[dtype])
        for part in (np.cos(angles), np.sin(angles))
    )
    result = tensor_type(x.shape, dtype)
    got = run("std.nn.rope::{rope}", "rope(x, c, s)", result, x=x, c=cosines[0], s=sines[0])
    assert_near(got, reference.rope(x, angles[0]), dtype)
    got = run("std.nn.rope::{rope_rows}", "rope_rows(x, c, s)", result, x=x, c=cosines, s=sines)
    assert_near(got, reference.rope(x, angles[:, None]), dtype)
