"""Attention with sinks in splits of the keys, against the op's body."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from linnet.backends.torch.kernels.triton import plans
from linnet.backends.torch.kernels.triton.attention import triton_sink_attention
from tests.backends.torch.triton.harness import DEVICE, UNIT, Array, Call, call, near, tensor, wide
from tests.stdlib.conftest import NUMPY_DTYPES

DTYPES = ["bf16", "f16", "f32"]
# B, Hq, Hk, Q, K, D.
Size = tuple[int, int, int, int, int, int]


@dataclass
class Attention:
    """The operands, in f64; rounded to `dtype` when they are used."""

    q: NDArray[np.float64]
    k: NDArray[np.float64]
    v: NDArray[np.float64]
    sinks: NDArray[np.float64]
    mask: NDArray[np.bool_]
    scale: float = 1.0
    dtype: str = "f32"

    def operands(self) -> dict[str, Array]:
        cast = NUMPY_DTYPES[self.dtype]
        return {
            "query": self.q.astype(cast),
            "key": self.k.astype(cast),
            "value": self.v.astype(cast),
            "sinks": self.sinks.astype(cast),
            "scale": np.asarray(np.float32(self.scale)),
            "mask": self.mask,
        }

    def call(self) -> Call:
        return call("std.nn.attention::sink_attention", self.dtype, **self.operands())

    def kernel(self) -> NDArray[np.float64]:
        operands = [tensor(x) for x in self.operands().values()]
        return triton_sink_attention(*operands).to(torch.float64).cpu().numpy()


def drawn(size: Size, dtype: str, seed: int = 0) -> Attention:
    b, hq, hk, q, k, d = size
    rng = np.random.default_rng(seed)
    return Attention(
        rng.standard_normal((b, hq, q, d)),
        rng.standard_normal((b, hk, k, d)),
        rng.standard_normal((b, hk, k, d)),
        rng.standard_normal(hq),
        rng.random((b, q, k)) > 0.4,
        1 / math.sqrt(d),
        dtype,
    )


def two_keys(sink: float, dtype: str = "f32") -> Attention:
    """One query and two keys, all of them zero, and the values 3 and 6."""
    k = np.zeros((1, 1, 2, 1))
    v = np.array([3.0, 6.0]).reshape(1, 1, 2, 1)
    return Attention(
        np.zeros((1, 1, 1, 1)), k, v, np.array([sink]), np.ones((1, 1, 2), bool), 1.0, dtype
    )


def compare(it: Attention) -> None:
    """Within what two ways of computing in f32, rounded to the dtype, may differ by.

    A score is off by a rounding for each of its D products and its scale, relative to the sum of
    magnitudes, and its difference from the peak by one more of that difference. The exponential
    turns it into a relative error and adds two roundings. Sums over K add K roundings, rescaling
    of a split two. The weights add up to one at most, so all of it is relative to a value.
    """
    made = it.call()
    want = made.body()
    q, k, v = (np.abs(wide(made.arrays[i])) for i in range(3))
    width, keys = it.q.shape[-1], it.k.shape[2]
    score = width * it.scale * q.max(initial=0) * k.max(initial=0)
    spread = 2 * score + np.abs(it.sinks[np.isfinite(it.sinks)]).max(initial=0)
    roundings = (width + 1) * score + spread + keys + 8
    bound = 2 * UNIT[it.dtype] * np.abs(wide(want)) + 2 * roundings * 2.0**-24 * v.max(initial=0)
    if it.dtype == "f16":
        bound += 2.0**-24
    near(made.kernel("sink_attention"), want, bound)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "size",
    [
        (1, 1, 1, 1, 1, 1),
        (2, 4, 2, 1, 37, 8),
        (1, 8, 1, 3, 130, 16),
        (1, 6, 2, 5, 70, 20),
        (2, 2, 2, 13, 3, 5),
    ],
)
def test_odd_sizes(size: Size, dtype: str) -> None:
    compare(drawn(size, dtype))


def test_a_wide_head() -> None:
    plan = plans.attention(1, 1, 40, 200)
    assert (plan.keys, plan.width, plan.splits) == (16, 256, 3)
    compare(drawn((1, 1, 1, 1, 40, 200), "bf16"))


def test_more_rows_than_a_tile_has() -> None:
    assert plans.attention(1, 48, 9, 8).rows == 32
    compare(drawn((1, 6, 1, 8, 9, 8), "f32"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_window_in_a_long_cache(dtype: str) -> None:
    """Whole splits that nothing of is seen, before and after the window."""
    it = drawn((1, 4, 2, 2, 300, 8), dtype)
    assert plans.attention(2, 4, 300, 8).splits == 5
    it.mask[:] = False
    it.mask[..., 130:171] = True
    compare(it)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("sink", "want"), [(0.0, 3.0), (-math.inf, 4.5), (1e4, 0.0), (-1e4, 4.5)])
def test_the_sink_is_one_more_term_of_the_denominator(sink: float, want: float, dtype: str) -> None:
    assert two_keys(sink, dtype).kernel().item() == want


def test_the_sink_counts_as_its_exponential() -> None:
    # ln 2 in f32, two exponentials, two sums and a quotient: eight roundings of 2 ** -24.
    assert two_keys(math.log(2)).kernel().item() == pytest.approx(2.25, rel=8 * 2**-24)


@pytest.mark.parametrize("sink", [0.0, -math.inf, 50.0])
def test_a_query_that_sees_nothing_gives_zeros(sink: float) -> None:
    it = drawn((1, 1, 1, 2, 4, 3), "f32")
    it = replace(it, sinks=np.array([sink]), mask=np.array([[[False] * 4, [True] * 4]]))
    got = it.kernel()
    assert got[0, 0, 0].tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(got).all() and (got[0, 0, 1] != 0).all()


@pytest.mark.parametrize("size", [(1, 1, 1, 2, 0, 3), (0, 1, 1, 1, 2, 3), (1, 2, 1, 0, 2, 3)])
def test_empty(size: Size) -> None:
    it = drawn(size, "f32")
    assert it.kernel().tolist() == np.zeros(it.q.shape).tolist()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_masked_key_has_no_effect(bad: float) -> None:
    it = two_keys(0.0)
    it.k[0, 0, 1] = bad
    it.mask[0, 0, 1] = False
    assert it.kernel().item() == 1.5


def test_a_visible_nan_is_seen() -> None:
    it = two_keys(0.0)
    it.k[0, 0, 1] = math.nan
    assert math.isnan(it.kernel().item())


@pytest.mark.parametrize("sink", [math.nan, math.inf])
def test_a_sink_that_is_no_number_is_seen(sink: float) -> None:
    assert math.isnan(two_keys(sink).kernel().item())


def test_large_scores_do_not_overflow() -> None:
    it = two_keys(0.0)
    it.q[:], it.k[:] = 1e8, 1e8
    assert it.kernel().item() == 4.5


def test_scores_below_what_a_masked_one_has() -> None:
    """All keys are seen, none is near the number that stands for one that is not."""
    it = two_keys(-math.inf)
    it.q[:], it.k[:] = -1e16, 1e16
    assert it.kernel().item() == 4.5
    # The body's maximum is over masked keys too, and theirs is the greater one.
    it.mask[0, 0, 1] = False
    assert it.kernel().item() == it.call().body().item()


def test_views_are_read_in_place() -> None:
    """Keys and values of a longer cache, a query of other axes, one mask for all rows."""
    it = drawn((2, 4, 2, 1, 11, 8), "f32")
    query, key, value, sinks, scale, mask = (tensor(x) for x in it.operands().values())
    want = triton_sink_attention(query, key, value, sinks, scale, mask[:1].expand(2, 1, 11))
    room = torch.full((2, 2, 5, 8), torch.nan, device=DEVICE)
    views = (
        query.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
        torch.cat([key, room], 2)[:, :, :11],
        torch.cat([room, value], 2)[:, :, 5:],
        torch.stack([sinks, sinks], 1)[:, 0],
    )
    assert not any(view.is_contiguous() for view in views)
    got = triton_sink_attention(*views, scale, mask[:1].expand(2, 1, 11))
    assert torch.equal(got, want)


def test_the_scale_may_be_a_number() -> None:
    query, key, value, sinks, scale, mask = (
        tensor(x) for x in drawn((1, 2, 1, 1, 9, 8), "f32").operands().values()
    )
    want = triton_sink_attention(query, key, value, sinks, scale, mask)
    got = triton_sink_attention(query, key, value, sinks, scale.item(), mask)
    assert torch.equal(got, want)
