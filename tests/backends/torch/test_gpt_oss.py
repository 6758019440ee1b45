"""Every entry of both gpt-oss cards in PyTorch: interpreted, generated and under inductor, in f32
and bf16, under each policy, beside the NumPy interpreter in f64.

What the rounding of a dtype explains is found by `tests.rounding`. bf16 adds sums up in f32 and
rounds each once. f32 has sixteen bits more, and adds up in itself: of a sum of `n` numbers `n`
partial sums round, at random as much as sqrt(n) roundings of the sum.
"""

from __future__ import annotations

import os

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from linnet.backends.selection import decide
from linnet.backends.torch.kernels import KERNELS
from linnet.nest import Model
from linnet.nest.lowered import lower_card
from linnet.nest.presence import presence
from tests.backends.each import to_numpy
from tests.gpt_oss import CARDS, FIXTURE, SEED, generics, load, needs_fixture, packed, padded
from tests.rounding import most, rounding_at_random

pytestmark = needs_fixture

POLICIES = ("exact", "equivalent", "fast", "approximate")
RUN = {"f32": ("exact", "equivalent"), "bf16": ("exact", "equivalent", "fast")}
"""The policies that are run: others select the same kernels."""
DRAWS = 5
TOLERANCE = 1e-4
"""Of f64 here and at transformers, which has the angles of positions in f32."""
Array = np.ndarray[Any, Any]


# --- runs ----------------------------------------------------------------------


def tokens() -> Array:
    return dict(np.load(FIXTURE / "reference.npz"))["tokens"]


def column(*at: int) -> Array:
    """The token at `at[row]` of each row."""
    return np.stack([tokens()[row, [k]] for row, k in enumerate(at)])


def prefill(model: Model) -> Iterable[Any]:
    """A chunk longer than the window, and one that looks back at it."""
    return [model.prefill(tokens()[:, :7], 0), model.prefill(tokens()[:, 7:11], 7)]


def decode(model: Model) -> Iterable[Any]:
    """More steps than the window is wide."""
    return [model.decode(tokens()[:, at : at + 1], at) for at in range(6)]


def decode_rows(model: Model) -> Iterable[Any]:
    """The second row begins again."""
    steps = [(0, 0), (1, 1), (2, 0), (3, 1), (4, 2)]
    return [model.decode_rows(column(*at), list(at)) for at in steps]


def prefill_slots(model: Model) -> Iterable[Any]:
    prompts = [tokens()[1, :11], tokens()[0, :4]]
    return [model.prefill_slots(padded(prompts, 13), [1, 0], [11, 4])]


def prefill_packed(model: Model) -> Iterable[Any]:
    prompts = [(1, tokens()[1, :9]), (0, tokens()[0, :6])]
    return [model.prefill_packed(**packed(prompts, 2))]


def step_packed(model: Model) -> Iterable[Any]:
    """A prompt for the second row, then one for the first beside a step of the second."""
    first = packed([(1, tokens()[1, :7])], 2) | steps((0, 0), (63, 63))
    second = packed([(0, tokens()[0, :5])], 1) | steps((0, 7), (63, 7))
    return [model.step_packed(**first)[:1], model.step_packed(**second)[[0, 3]]]


def steps(at: tuple[int, int], positions: tuple[int, int]) -> dict[str, Any]:
    return {"step_tokens": column(*at), "step_positions": list(positions)}


RUNS: dict[str, Callable[[Model], Iterable[Any]]] = {
    "forward": lambda model: [model.entry("forward")(tokens())],
    "next_token": lambda model: [model.next_token(tokens()[:, :9])],
    "states": lambda model: [model.states(tokens()[:, :9])],
    "prefill": prefill,
    "decode": decode,
    "decode_rows": decode_rows,
    "prefill_slots": prefill_slots,
    "prefill_packed": prefill_packed,
    "step_packed": step_packed,
}


@dataclass(frozen=True)
class Found:
    """What a run of one entry from empty caches gave, and what it left in these."""

    results: Array
    kept: Array


def run(model: Model, entry: str) -> Found:
    model.reset_state()
    results = [to_numpy(r) for r in RUNS[entry](model)]
    width = results[0].shape[-1]
    states = [to_numpy(model.state[path]) for path in sorted(model.state)]
    return Found(
        np.concatenate([r.reshape(-1, width) for r in results]).astype(np.float64),
        np.concatenate([s.astype(np.float64).ravel() for s in states]),
    )


# --- the reference ---------------------------------------------------------------


@cache
def truths(card: Any) -> dict[str, Found]:
    """By entry, in f64."""
    model = load(card, "f64")
    assert sorted(model.entries) == sorted(RUNS)
    return {entry: run(model, entry) for entry in RUNS}


@cache
def draws(card: Any) -> dict[str, list[Found]]:
    """The same with every result rounded at random as in bf16."""
    model = load(card, "f64")
    with rounding_at_random(seed=0):
        return {entry: [run(model, entry) for _ in range(DRAWS)] for entry in RUNS}


def scale(dtype: str) -> float:
    """What is explained in `dtype`, by what is in bf16."""
    sizes = generics(dtype)
    longest = max(sizes["H"], sizes["Inner"], sizes["Heads"] * sizes["HeadDim"])
    return 1.0 if dtype == "bf16" else 2.0**-16 * longest**0.5


def beyond(card: Any, dtype: str, entry: str, found: Found) -> list[str]:
    """What of a run cannot be explained by the rounding of `dtype`."""
    truth, noisy = truths(card)[entry], draws(card)[entry]
    allowed = 2 * scale(dtype)
    said: list[str] = []
    for name in ("results", "kept"):
        got, exact = getattr(found, name), getattr(truth, name)
        assert got.shape == exact.shape
        if not exact.any():
            assert not got.any(), (entry, name)
            continue
        there = exact != 0
        assert not got[~there].any(), "something stands where nothing was written"
        bound = allowed * max(most((getattr(d, name) - exact)[there]) for d in noisy)
        # The bound says something: it is far below what is computed.
        assert bound < most(exact[there]) / 2, (entry, name, bound)
        size = most((got - exact)[there])
        if not size <= bound:
            said.append(f"{entry}: {name} are off by {size:.2g}, explained are {bound:.2g}")
    return said + _choices(entry, found.results, truth.results, [d.results for d in noisy], allowed)


def unexplained(
    card: Any, dtype: str, model: Model, entries: Iterable[str] = tuple(RUNS)
) -> list[str]:
    """What of a model's entries cannot be explained by the rounding of `dtype`."""
    return [said for entry in entries for said in beyond(card, dtype, entry, run(model, entry))]


def _choices(entry: str, got: Array, exact: Array, noisy: list[Array], allowed: float) -> list[str]:
    """Rows whose greatest element is another, where the margin is wider than what the roundings
    give to any other element over it."""
    best = exact.argmax(-1)[:, None]
    second, first = np.sort(exact, -1)[:, -2:].T
    gains = [n - exact - np.take_along_axis(n - exact, best, -1) for n in noisy]
    clear = first - second > allowed * np.max(gains, (0, -1))
    wrong = clear & (got.argmax(-1) != best[:, 0])
    return [f"{entry}: row {k} has another greatest element" for k in np.flatnonzero(wrong)]


# --- the matrix ------------------------------------------------------------------

EACH = [(dtype, policy) for dtype, policies in RUN.items() for policy in policies]


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("dtype", RUN)
def test_policies_that_are_not_run_select_what_one_that_is_does(card: Any, dtype: str) -> None:
    """For every entry, and those that are run differ in every entry."""
    model: Any = load(card, dtype)
    there = presence(model._runtime.compiled.weights)
    for entry in RUNS:
        module = lower_card(model.program, entry, there).module
        found = {p: [d.chosen for d in decide(module, KERNELS, p)] for p in POLICIES}
        strictest = RUN[dtype]
        for k, policy in enumerate(POLICIES):
            assert found[policy] == found[strictest[min(k, len(strictest) - 1)]], (entry, policy)
        assert len({tuple(found[p]) for p in strictest}) == len(strictest), entry


@pytest.mark.parametrize("card", CARDS)
def test_interpreted_and_generated(card: Any) -> None:
    """And the reference itself, which runs in the dtype."""
    logits = dict(np.load(FIXTURE / "reference.npz"))["logits"]
    truth = truths(card)["forward"].results
    np.testing.assert_allclose(truth, logits.reshape(truth.shape), rtol=0, atol=TOLERANCE)
    said = {(dtype, "numpy"): unexplained(card, dtype, load(card, dtype)) for dtype in RUN}
    for dtype, policy in EACH:
        for compile in (False, True):
            model = load(card, dtype, "torch", numerics=policy, compile=compile)
            said[dtype, policy, compile] = unexplained(card, dtype, model)
    assert said == {key: [] for key in said}


COMPILED = [
    ("seed", "f32", "exact", "decode"),
    ("gpt-oss-20b", "f32", "equivalent", "decode_rows"),
    ("gpt-oss-20b", "bf16", "fast", "prefill_slots"),
]
"""TorchInductor takes ten to thirty seconds for each entry in each way: all of them are `long`."""


@pytest.mark.parametrize(("card", "dtype", "policy", "entry"), COMPILED)
def test_under_inductor(card: str, dtype: str, policy: str, entry: str) -> None:
    compiled(SEED if card == "seed" else card, dtype, policy, [entry])


@pytest.mark.long
@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize(("dtype", "policy"), EACH)
def test_every_entry_under_inductor(card: Any, dtype: str, policy: str) -> None:
    compiled(card, dtype, policy, [*RUNS])


def compiled(card: Any, dtype: str, policy: str, entries: Sequence[str]) -> None:
    """What runs is compiled, and each piece as one graph."""
    torch._dynamo.utils.counters.clear()
    model: Any = load(card, dtype, "torch", numerics=policy, compile="inductor")
    assert unexplained(card, dtype, model, entries) == []
    assert model.variants
    assert not torch._dynamo.utils.counters["graph_break"]
