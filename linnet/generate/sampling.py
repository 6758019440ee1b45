"""Which token comes next: from the logits of a model to one token, in f64.

The order is temperature, top-k, top-p, as in `GenerationMixin._get_logits_processor` of
transformers, and each step is defined as its logits processor there (`TemperatureLogitsWarper`,
`TopKLogitsWarper`, `TopPLogitsWarper` in `transformers/generation/logits_process.py`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnet.generate.refused import refused
from linnet.generate.settings import Settings

Logits: TypeAlias = NDArray[np.float64]


class Sampler:
    """Chooses tokens. Each has a random generator of its own, so that no text depends on what
    else is generated."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._random = np.random.default_rng(settings.seed)

    def next(self, logits: Logits) -> int:
        """A token for logits [Vocab]; an E5005 where they are no numbers."""
        _check(logits)
        if self._settings.temperature == 0:
            return int(logits.argmax())  # of equals the first
        return self._drawn(filtered(logits, self._settings))

    def _drawn(self, scores: Logits) -> int:
        """By the inverse of the cumulative distribution, tokens in the order of their numbers."""
        weights = np.exp(scores)
        sums = np.cumsum(weights)
        # The sum is at least 1, the weight of the likeliest, and the random number at most
        # 1 - 2^-53: the product is below the sum, so there is a token, and it has a weight.
        return int(np.count_nonzero(sums <= self._random.random() * sums[-1]))


def filtered(logits: Logits, settings: Settings) -> Logits:
    """Logits [Vocab] under a temperature above 0, with -inf for the tokens that `top_k` and `top_p`
    leave out; the largest is 0."""
    # The largest is taken away first, so that no temperature makes a finite number infinite.
    with np.errstate(over="ignore"):
        scores = (logits - logits.max()) / settings.temperature
    if settings.top_k is not None:
        scores = _top_k(scores, settings.top_k)
    if settings.top_p is not None and settings.top_p < 1:
        scores = _top_p(scores, settings.top_p)
    return scores


def _top_k(scores: Logits, k: int) -> Logits:
    """Those that are below the `k`-th largest go: its equals all stay."""
    if k >= len(scores):
        return scores
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    return np.where(scores < least, -np.inf, scores)


def _top_p(scores: Logits, p: float) -> Logits:
    """The fewest of the likeliest tokens that have at least `p` of all probability stay; of equals
    at the end those of lower numbers."""
    # Ascending, and of equals the lower number behind, as if the likelier one.
    order = np.argsort(-scores, kind="stable")[::-1]
    weights = np.exp(scores[order])
    gone = np.cumsum(weights / weights.sum()) <= 1 - p
    gone[-1] = False
    out = scores.copy()
    out[order[gone]] = -np.inf
    return out


def _check(logits: Logits) -> None:
    wrong: dict[str, Any] = {"nan": np.isnan(logits), "inf": np.isposinf(logits)}
    for name, where in wrong.items():
        if where.any():
            count = int(np.count_nonzero(where))
            message = (
                f"{count} of the model's {len(logits)} logits are {name}: no token can be told"
            )
            hint = "look at the weights, or bind a wider dtype: f16 ends at 65504"
            raise refused(message, help=hint)
    if not np.isfinite(logits).any():
        raise refused("all logits of the model are -inf: no token can be told")
