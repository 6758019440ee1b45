"""Attention with sinks: exact cases and edges. Values are compared in test_torch.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

USE = "std.nn.attention::{sink_attention}"
CALL = "sink_attention(q, k, v, sinks, scale, mask)"


def attend(
    run: Run, q: Array, k: Array, v: Array, sinks: Array, scale: float, mask: Array, dtype: str
) -> Array:
    cast = NUMPY_DTYPES[dtype]
    return run(
        USE,
        CALL,
        tensor_type(q.shape, dtype),
        q=q.astype(cast),
        k=k.astype(cast),
        v=v.astype(cast),
        sinks=sinks.astype(cast),
        scale=np.float32(scale),
        mask=mask,
    )


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(("sink", "want"), [(0.0, 3.0), (-math.inf, 4.5), (1e4, 0.0), (-1e4, 4.5)])
def test_sink_is_one_more_term_of_the_denominator(
    run: Run, sink: float, want: float, dtype: str
) -> None:
    q, k = np.zeros((1, 1, 1, 1)), np.zeros((1, 1, 2, 1))
    v = np.array([3.0, 6.0]).reshape(1, 1, 2, 1)
    mask = np.ones((1, 1, 2), bool)
    assert attend(run, q, k, v, np.array([sink]), 1.0, mask, dtype).item() == want


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_sink_counts_as_its_exponential(run: Run, dtype: str) -> None:
    q, k = np.zeros((1, 1, 1, 1)), np.zeros((1, 1, 2, 1))
    v = np.array([3.0, 6.0]).reshape(1, 1, 2, 1)
    got = attend(run, q, k, v, np.array([math.log(2)]), 1.0, np.ones((1, 1, 2), bool), dtype)
    # ln 2 in f32, two exponentials, two sums and a quotient: eight roundings of 2 ** -24.
    assert got.item() == pytest.approx(2.25, rel=8 * 2**-24)


@pytest.mark.parametrize("sink", [0.0, -math.inf, 50.0])
def test_a_query_that_sees_nothing_gives_zeros(run: Run, sink: float) -> None:
    q, k, v = (np.ones((1, 1, n, 3)) for n in (2, 4, 4))
    mask = np.array([[[False] * 4, [True] * 4]])
    got = attend(run, q, k, v, np.array([sink]), 1.0, mask, "f32")
    assert got[0, 0, 0].tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(got).all()
    assert (got[0, 0, 1] > 0).all()


@pytest.mark.parametrize("sink", [0.0, -math.inf])
def test_no_key_at_all_gives_zeros(run: Run, sink: float) -> None:
    q, k = np.ones((1, 1, 2, 3)), np.ones((1, 1, 0, 3))
    got = attend(run, q, k, k, np.array([sink]), 1.0, np.ones((1, 2, 0), bool), "f32")
    assert got.tolist() == np.zeros((1, 1, 2, 3)).tolist()


def test_window_of_three(run: Run) -> None:
    position = np.arange(5)
    mask = (position <= position[:, None]) & (position > position[:, None] - 3)
    v = position.astype(np.float64).reshape(1, 1, 5, 1)
    q = k = np.zeros((1, 1, 5, 1))
    plain = attend(run, q, k, v, np.array([-math.inf]), 1.0, mask[None], "f32")
    with_sink = attend(run, q, k, v, np.array([0.0]), 1.0, mask[None], "f32")
    assert plain[0, 0, :, 0].tolist() == [0.0, 0.5, 1.0, 2.0, 3.0]
    assert with_sink[0, 0, 3:, 0].tolist() == [1.5, 2.25]


def test_large_scores_do_not_overflow(run: Run) -> None:
    q, k = np.full((1, 1, 1, 2), 1e4), np.full((1, 1, 2, 2), 1e4)
    v = np.array([2.0, 4.0]).reshape(1, 1, 2, 1).repeat(2, axis=3)
    got = attend(run, q, k, v, np.array([0.0]), 1.0, np.ones((1, 1, 2), bool), "f32")
    assert got.ravel().tolist() == [3.0, 3.0]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_masked_key_has_no_effect(run: Run, bad: float) -> None:
    q, k = np.zeros((1, 1, 1, 1)), np.zeros((1, 1, 2, 1))
    k[0, 0, 1] = bad
    v = np.array([3.0, 6.0]).reshape(1, 1, 2, 1)
    mask = np.array([[[True, False]]])
    assert attend(run, q, k, v, np.array([0.0]), 1.0, mask, "f32").item() == 1.5


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_masked_value_counts_as_zero_times_it(run: Run, bad: float) -> None:
    q, k = np.zeros((1, 1, 1, 1)), np.zeros((1, 1, 2, 1))
    v = np.array([3.0, bad]).reshape(1, 1, 2, 1)
    mask = np.array([[[True, False]]])
    assert np.isnan(attend(run, q, k, v, np.array([0.0]), 1.0, mask, "f32")).all()
