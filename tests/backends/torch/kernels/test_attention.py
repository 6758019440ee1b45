"""Attention, with sinks and without."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from linnet.backends.selection import select
from linnet.backends.torch.kernels import KERNELS
from tests.backends.torch.kernels.harness import (
    FLOATS,
    NUMPY_DTYPES,
    UNIT,
    Call,
    call,
    draw,
    from_torch,
    near,
    to_torch,
    torch,
    wide,
)

SINK = "std.nn.attention::sink_attention"
# B, Hq, Hk, Q, K, D.
SIZES = [
    (1, 1, 1, 1, 1, 1),
    (2, 6, 2, 3, 5, 7),
    (3, 4, 4, 1, 9, 4),
    (1, 8, 1, 7, 7, 3),
    (1, 2, 1, 65, 130, 16),
    (0, 2, 1, 3, 4, 2),
    (2, 2, 1, 0, 4, 2),
    (2, 2, 1, 3, 0, 2),
]
Size = tuple[int, int, int, int, int, int]


def drawn(size: Size, dtype: str) -> dict[str, Any]:
    b, hq, hk, q, k, d = size
    # The first query of each row sees nothing.
    mask = np.random.default_rng(0).random((b, q, k)) < 0.6
    mask[:, :1] = False
    return {
        "query": draw(1, (b, hq, q, d), dtype),
        "key": draw(2, (b, hk, k, d), dtype),
        "value": draw(3, (b, hk, k, d), dtype),
        "scale": np.float32(0.5),
        "mask": mask,
    }


def sunk(size: Size, dtype: str, **arrays: Any) -> Call:
    generics = dict(zip(("B", "Hq", "Hk", "Q", "K", "D"), size, strict=True)) | {"T": dtype}
    given = drawn(size, dtype) | {"sinks": draw(4, (size[1],), dtype, 3.0)} | arrays
    return call(SINK, generics, **given)


def bound(made: Call, size: Size, want: Any, dtype: str, product: float) -> Any:
    """What two computations may differ by whose products round to `product` and are added up in
    f32. A score is off by the size of its terms in units and by its own in `product`, its weight by
    that relative to itself, and so no result by more than that times the values; then `k` weights
    and products with values are added up, shares and their sum round, and the result does."""
    _, hq, _, _, k, d = size
    query, key, value = (wide(made.arrays[n]) for n in ("query", "key", "value"))
    key, value = (np.repeat(x, hq // key.shape[1], axis=1) for x in (key, value))
    terms = 0.5 * np.einsum("bhqd,bhkd->bhqk", abs(query), abs(key)).max(initial=0)
    scores = 0.5 * abs(np.einsum("bhqd,bhkd->bhqk", query, key)).max(initial=0)
    inner = (4 * d * terms + 4 * k + 8) * UNIT["f32"] + (scores + 2) * product
    return 2.02 * UNIT[dtype] * abs(wide(want)) + inner * abs(value).max(initial=0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_sink_attention(size: Size, dtype: str) -> None:
    made = sunk(size, dtype)
    assert made.chosen("equivalent") == "cpu.sink_attention_f32"
    reason = made.refused("cpu.sink_attention_f32", "cuda:0")
    assert reason is not None and reason.startswith("the device is cuda: it reads on the host")
    (want,) = made.body()
    for place in ("cpu", "torch"):
        (got,) = made.run(f"{place}.sink_attention_f32")
        near(got, want, bound(made, size, want, dtype, 0.0))
        assert (wide(got)[:, :, :1] == 0).all()
        if dtype in ("f16", "bf16"):
            assert made.chosen("fast") == "cpu.sink_attention"
            (got,) = made.run(f"{place}.sink_attention")
            near(got, want, bound(made, size, want, dtype, UNIT[dtype]))
            assert (wide(got)[:, :, :1] == 0).all()


def test_keys_that_nothing_sees_are_not_read() -> None:
    """A window of 10 over 200 keys, in blocks of 64 queries; what is far from a block does not
    reach it, be it no number."""
    size = (1, 2, 1, 200, 200, 4)
    back = np.arange(200)[:, None] - np.arange(200)
    mask = ((back >= 0) & (back < 10))[None]
    value = draw(3, (1, 1, 200, 4), "f32")
    value[:, :, :119] = np.nan
    made = sunk(size, "f32", mask=mask, value=value)
    got = wide(made.run("cpu.sink_attention_f32")[0])
    kept = value.copy()
    kept[:, :, :119] = 0
    plain = sunk(size, "f32", mask=mask, value=kept)
    # The third block begins at 128 and looks back to 119.
    want = wide(plain.body()[0])[:, :, 128:]
    near(got[:, :, 128:], want, bound(plain, size, want, "f32", 0.0))
    assert np.isnan(got[:, :, :119]).all()


NAMED = [
    f"{p}.{name}" for p in ("cpu", "torch") for name in ("sink_attention", "sink_attention_f32")
]


@pytest.mark.parametrize("named", NAMED)
@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize(
    ("sink", "want"),
    [(0.0, 3.0), (math.log(2), 2.25), (-math.inf, 4.5), (1e4, 0.0), (-1e4, 4.5)],
)
def test_a_sink_joins_the_denominator_alone(
    sink: float, want: float, dtype: str, named: str
) -> None:
    """One query, two keys, logits 0 and 0, values 3 and 6."""
    zero = np.zeros((1, 1, 1, 1), NUMPY_DTYPES[dtype])
    arrays: dict[str, Any] = {
        "query": zero,
        "key": zero.repeat(2, 2),
        "value": np.array([3, 6]).astype(zero.dtype).reshape(1, 1, 2, 1),
        "sinks": np.array([sink]).astype(zero.dtype),
        "scale": np.float32(1.0),
        "mask": np.ones((1, 1, 2), np.bool_),
    }
    made = sunk((1, 1, 1, 1, 2, 1), dtype, **arrays)
    got = wide(made.run(named)[0]).item()
    # ln 2 itself rounds to the dtype.
    assert got == pytest.approx(want, rel=4 * UNIT[dtype], abs=1e-30)


@pytest.mark.parametrize("named", NAMED)
def test_where_nothing_is_seen(named: str) -> None:
    """Zeros with any sink, also none; a masked key may even be no number."""
    size = (1, 4, 2, 2, 3, 4)
    mask = np.zeros((1, 2, 3), np.bool_)
    mask[0, 1, 0] = True
    key = draw(5, (1, 2, 3, 4), "bf16")
    key[:, :, 1:] = np.nan
    sinks = np.array([0.0, -np.inf, 1e4, -1e38]).astype(key.dtype)
    made = sunk(size, "bf16", key=key, mask=mask, sinks=sinks)
    (got,), (want,) = made.run(named), made.body()
    assert (wide(got)[:, :, 0] == 0).all() and np.isfinite(wide(got)).all()
    near(got, want, 8 * UNIT["bf16"] * (1 + abs(wide(want))))


def test_keys_are_not_repeated_for_the_heads_of_a_group() -> None:
    """Sixty-four query heads share one pair of keys and values, which are never written out."""
    from torch.profiler import ProfilerActivity, profile

    from linnet.backends.torch.kernels.functions.attention import sink_attention

    key = torch.ones(1, 1, 4096, 8)
    query, sinks, mask = torch.ones(1, 64, 1, 8), torch.zeros(64), torch.ones(1, 1, 4096).bool()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        sink_attention(query, key, key, sinks, torch.tensor(0.5), mask)
    largest = max(e.self_cpu_memory_usage for e in found.events())
    # The scores, [64, 4096] in f32, are a MiB; keys for every head would be eight.
    assert largest < 2 * 2**20


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("size", [s for s in SIZES if s[-1] in (4, 16)])
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_with_sinks(size: Size, dtype: str) -> None:
    """As PyTorch runs it without a GPU, where it is slow: the fold of the sink and the mask."""
    from linnet.backends.torch.kernels.functions.flex import flex_sink_attention

    sinks = draw(6, (size[1],), dtype)
    sinks[:1] = -np.inf
    made = sunk(size, dtype, sinks=sinks)
    order = ("query", "key", "value", "sinks", "scale", "mask")
    with torch.no_grad():
        got = from_torch(flex_sink_attention(*(to_torch(made.arrays[n]) for n in order)))
    (want,) = made.body()
    near(got, want, bound(made, size, want, dtype, 2 * UNIT[dtype]))
    assert (wide(got)[:, :, :1] == 0).all()


def test_when_flex_attention_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from linnet.backends.torch.kernels import attention

    flex = "torch.flex_sink_attention"
    made = sunk((1, 2, 1, 3, 4, 16), "bf16")
    monkeypatch.setattr(attention, "find_spec", lambda _: None)
    assert made.refused(flex, "cuda") == "Triton, which compiles it, is not installed"
    monkeypatch.setattr(attention, "find_spec", lambda _: object())
    assert made.refused(flex, "cuda") is None
    own = [k for k in KERNELS if not k.name.startswith("triton.")]
    assert select(own, replace(made.site, device="cuda:0"), "fast").chosen == flex
    assert made.chosen("fast") == "cpu.sink_attention"
    assert made.refused(flex) == "the device is cpu: FlexAttention is compiled for GPUs"
    assert "`T` is f32" in str(sunk((1, 2, 1, 3, 4, 16), "f32").refused(flex, "cuda"))
    for width in (1, 8, 24, 80):
        reason = sunk((1, 2, 1, 3, 4, width), "bf16").refused(flex, "cuda")
        assert reason == f"`D` is {width}, not 16, 32, 64, .."
    reason = sunk((1, 2, 1, 1, 4, 16), "bf16").refused(flex, "cuda")
    assert reason == "`Q` is 1: a block mask is not worth it"


PLAIN = ["attention", "grouped_attention", "attention_rows", "grouped_attention_rows"]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("op", PLAIN)
def test_attention_without_sinks(op: str, size: Size, dtype: str) -> None:
    b, hq, hk, q, k, d = size
    arrays = drawn(size, dtype)
    generics: dict[str, Any] = {"B": b, "Q": q, "K": k, "D": d, "T": dtype}
    if op.startswith("grouped"):
        generics |= {"Hq": hq, "Hk": hk}
    else:
        generics["H"] = hq
        arrays |= {n: arrays[n].repeat(hq // hk, 1) for n in ("key", "value")}
    if op.endswith("rows"):
        masks = [arrays["mask"]]
    else:
        masks = [arrays["mask"][0] if b else np.zeros((q, k), np.bool_), None]
    for mask in masks:
        given = {n: a for n, a in arrays.items() if n != "mask"}
        given |= {} if mask is None else {"mask": mask}
        made = call(f"std.nn.attention::{op}", generics, **given)
        chosen = made.chosen("equivalent"), made.chosen("fast")
        assert chosen == ("torch.attention_f32", "torch.scaled_attention")
        (want,) = made.body()
        near(made.run("torch.attention_f32")[0], want, bound(made, size, want, dtype, 0.0))
        (got,) = made.run("torch.scaled_attention")
        near(got, want, bound(made, size, want, dtype, 3 * UNIT[dtype]))
        if mask is not None:
            hidden = ~np.broadcast_to(mask, (b, q, k)).any(-1)
            assert (wide(got).swapaxes(1, 2)[hidden] == 0).all()
