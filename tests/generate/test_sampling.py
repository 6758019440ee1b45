"""Sampling: against transformers' logits processors, and by the frequencies of what is drawn."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linnet.generate.sampling import Sampler, filtered
from linnet.source.errors import LinnetError
from tests.generate.scripted import settings

UNIT = 2.0**-53  # the most that a rounding to f64 changes, relative to the value
LOGITS = np.log([0.5, 0.25, 0.125, 0.125])


def kept(logits: NDArray[np.float64], **asked: Any) -> list[int]:
    return np.flatnonzero(np.isfinite(filtered(logits, settings(**asked)))).tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    list(itertools.product([0.3, 1.0, 2.5], [None, 1, 7, 5000], [None, 0.1, 0.9, 0.999])),
)
def test_what_stays_is_what_transformers_leaves(
    seed: int, temperature: float, top_k: int | None, top_p: float | None
) -> None:
    process = pytest.importorskip("transformers.generation.logits_process")
    torch = pytest.importorskip("torch")
    logits = np.random.default_rng(seed).standard_normal(1000) * 3
    asked = settings(temperature=temperature, top_k=top_k, top_p=top_p)
    ours = filtered(logits, asked)
    # The order is the one of `GenerationMixin._get_logits_processor`.
    chain = [process.TemperatureLogitsWarper(temperature)]
    chain += [process.TopKLogitsWarper(top_k)] if top_k is not None else []
    chain += [process.TopPLogitsWarper(top_p)] if top_p is not None else []
    scores = torch.tensor(logits)[None]
    for step in chain:
        scores = step(None, scores)
    theirs = scores[0].numpy()
    np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(theirs))
    stays = np.isfinite(ours)
    # Theirs are not shifted: a division on both sides, a subtraction on each, of numbers up to 15
    # before and 50 after they are divided.
    largest = np.abs(theirs[stays]).max()
    shifted = theirs[stays] - theirs[stays].max()
    np.testing.assert_allclose(ours[stays], shifted, rtol=0, atol=8 * largest * UNIT)


def test_the_order_is_top_k_then_top_p() -> None:
    # Of all 0.5 and 0.25 have 0.75; of the two likeliest alone 0.5 has 2/3.
    assert kept(LOGITS, temperature=1, top_p=0.7) == [0, 1]
    assert kept(LOGITS, temperature=1, top_k=2, top_p=0.66) == [0]
    # A temperature of 2 comes first: then 0.5 has 0.586 of the two.
    assert kept(LOGITS, temperature=2, top_k=2, top_p=0.66) == [0, 1]


def test_equals_of_the_kth_stay_and_top_p_keeps_lower_numbers() -> None:
    assert kept(LOGITS, temperature=1, top_k=3) == [0, 1, 2, 3]
    assert kept(LOGITS, temperature=1, top_p=0.8) == [0, 1, 2]
    assert kept(np.zeros(4), temperature=1, top_p=0.5) == [0, 1]
    assert kept(np.zeros(4), temperature=1, top_p=1e-9) == [0]
    assert kept(LOGITS, temperature=1, top_p=1.0, top_k=9) == [0, 1, 2, 3]


def test_greedy_takes_the_first_of_equals_and_no_seed() -> None:
    logits = np.array([1.0, 3.0, 3.0, -np.inf])
    for seed in range(5):
        assert Sampler(settings(seed=seed)).next(logits) == 1


@pytest.mark.parametrize("temperature", [1e-300, 1e-5])
def test_a_tiny_temperature_is_greedy(temperature: float) -> None:
    sampler = Sampler(settings(temperature=temperature, seed=0))
    assert {sampler.next(LOGITS) for _ in range(50)} == {0}


def test_tokens_come_as_often_as_they_are_likely() -> None:
    count = 20000
    sampler = Sampler(settings(temperature=1, seed=7))
    drawn = np.bincount([sampler.next(LOGITS) for _ in range(count)], minlength=4)
    for share, times in zip([0.5, 0.25, 0.125, 0.125], drawn.tolist(), strict=True):
        # Four standard deviations of a binomial: one seed in 4000 is beyond them in any of four.
        assert abs(times - count * share) < 4 * (count * share * (1 - share)) ** 0.5


def test_what_is_left_out_is_never_drawn() -> None:
    sampler = Sampler(settings(temperature=5, top_k=2, seed=1))
    assert {sampler.next(LOGITS) for _ in range(200)} == {0, 1}
    only = np.array([-np.inf, 0.0, -np.inf])
    sampler = Sampler(settings(temperature=1, seed=1))
    assert {sampler.next(only) for _ in range(50)} == {1}


@dataclass
class Always:
    """A generator of one number."""

    number: float

    def random(self) -> float:
        return self.number


@pytest.mark.parametrize(("number", "token"), [(0.0, 3), (1 - UNIT, 11)])
@pytest.mark.parametrize("temperature", [0.9, 1, 3])
def test_the_ends_of_random_numbers_are_tokens_that_have_weight(
    number: float, token: int, temperature: float
) -> None:
    sampler = Sampler(settings(temperature=temperature))
    sampler._random = Always(number)  # type: ignore[assignment]
    none = np.full(3, -np.inf)
    assert sampler.next(np.concatenate([none, np.arange(9.0), none])) == token


@pytest.mark.parametrize("temperature", [0, 1])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.nan, "1 of the model's 4 logits are nan"),
        (np.inf, "1 of the model's 4 logits are inf"),
    ],
)
def test_logits_that_are_no_numbers_end_the_text(
    temperature: float, value: float, text: str
) -> None:
    logits = LOGITS.copy()
    logits[2] = value
    with pytest.raises(LinnetError) as caught:
        Sampler(settings(temperature=temperature)).next(logits)
    (found,) = caught.value.diagnostics
    assert found.code == "E5005" and found.message.startswith(text)


def test_logits_of_minus_infinity_alone_are_refused() -> None:
    with pytest.raises(LinnetError, match="all logits"):
        Sampler(settings()).next(np.full(3, -np.inf))
