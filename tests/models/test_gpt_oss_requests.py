"""Requests to a small gpt-oss: in chunks, with rewinds, shared prefixes, padding and neighbours.

The reference is `forward` on the whole sequence without a cache. All is in f32, and the logits
are of order one, so that the reordered sums of two entries differ by far less than 1e-5.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet import nest
from linnet.nest import Model

SEED = Path(__file__).parents[2] / ".." / "shared" / "seed" / "gpt-oss-20b"
WINDOW, LENGTH, ROOM, VOCAB = 4, 20, 24, 48
GENERICS = {
    "Vocab": VOCAB,
    "H": 32,
    "Heads": 4,
    "KvHeads": 2,
    "HeadDim": 8,
    "Inner": 32,
    "Experts": 4,
    "TopK": 2,
    "Layers": 2,
    "Window": WINDOW,
    "Batch": 2,
    "MaxSeq": ROOM,
    "T": "f32",
}
CARDS = [
    "gpt-oss-20b",
    pytest.param(
        SEED, id="seed", marks=pytest.mark.skipif(not SEED.exists(), reason="../shared is absent")
    ),
]


@pytest.fixture(scope="module", params=CARDS)
def loaded(request: pytest.FixtureRequest) -> Model:
    return nest.load(request.param, "numpy", weights="random", generics=GENERICS)


@pytest.fixture
def model(loaded: Model) -> Iterator[Model]:
    loaded.reset_state()
    yield loaded


@pytest.fixture(scope="module")
def tokens() -> Any:
    return np.random.default_rng(0).integers(0, VOCAB, (2, LENGTH)).astype(np.int32)


def close(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_the_logits_say_something(loaded: Model, tokens: Any) -> None:
    logits = loaded(tokens)
    assert 0.1 < np.abs(logits).max() < 100
    # One other token, long before the window of the last one, still counts: layer 1 sees all.
    other = tokens.copy()
    other[:, 3] = (other[:, 3] + 1) % VOCAB
    assert np.abs(loaded(other)[:, -1] - logits[:, -1]).max() > 1e-3
    assert np.array_equal(loaded(other)[:, :3], logits[:, :3])


@pytest.mark.parametrize(
    "chunks", [[20], [1] * 20, [7, 13], [5, 5, 5, 5], [4, 16]], ids=lambda c: "+".join(map(str, c))
)
def test_chunks_are_the_whole(model: Model, tokens: Any, chunks: list[int]) -> None:
    logits, at = model(tokens), 0
    for size in chunks:
        found = model.prefill(tokens[:, at : at + size], at)
        at += size
        close(found, logits[:, at - 1])
    assert at == LENGTH


@pytest.mark.parametrize("shared", [1, WINDOW, 10, 19])
def test_a_request_that_shares_a_prefix_is_as_a_cold_one(
    model: Model, tokens: Any, shared: int
) -> None:
    model.prefill(tokens, 0)
    other = np.concatenate([tokens[:, :shared], (tokens[:, shared:] + 7) % VOCAB], axis=1)
    warm = model.prefill(other[:, shared:], shared)
    model.reset_state()
    close(warm, model.prefill(other, 0))
    close(warm, model(other)[:, -1])


@pytest.mark.parametrize("back", [1, WINDOW - 1, WINDOW, 12, LENGTH])
def test_a_rewind_forgets_what_came_after(model: Model, tokens: Any, back: int) -> None:
    """Every position is kept, those before a window too, so that any rewind is exact."""
    for at in range(LENGTH):
        model.decode(tokens[:, at : at + 1], at)
    other = (tokens + 5) % VOCAB
    start = LENGTH - back
    expected = model(np.concatenate([tokens[:, :start], other[:, start:]], axis=1))
    for at in range(start, LENGTH):
        close(model.decode(other[:, at : at + 1], at), expected[:, at])


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_short_prompt_beside_a_long_one(model: Model, tokens: Any, order: list[int]) -> None:
    prompts = [np.array([5, 6, 7], np.int32), tokens[0, :12]]
    alone = [model(p[None])[0, -1] for p in prompts]
    padded = np.full((2, 12), 9, np.int32)
    for row, which in enumerate(order):
        padded[row, : len(prompts[which])] = prompts[which]
    lengths = [len(prompts[which]) for which in order]
    found = model.prefill_slots(padded, [0, 1], lengths)
    close(found, np.stack([alone[which] for which in order]))
    # They go on, each at its own position, as if alone.
    step = tokens[:, 15:16]
    found = model.decode_rows(step, lengths)
    longer = [np.concatenate([prompts[w], step[row]]) for row, w in enumerate(order)]
    close(found, np.stack([model(p[None])[0, -1] for p in longer]))


def test_prompts_of_one_length_need_no_padding(model: Model, tokens: Any) -> None:
    together = model.prefill_slots(tokens[:, :9], [0, 1], [9, 9])
    close(together, model(tokens[:, :9])[:, -1])
    close(together, np.stack([model(tokens[b : b + 1, :9])[0, -1] for b in range(2)]))


def test_what_stands_in_the_padding_does_not_matter(model: Model, tokens: Any) -> None:
    rows = tokens[:, :12].copy()
    found = model.prefill_slots(rows, [0, 1], [3, 12])
    rows[0, 3:] = (rows[0, 3:] + 11) % VOCAB
    again = model.prefill_slots(rows, [0, 1], [3, 12])
    assert np.array_equal(found, again)


def test_no_token_is_dropped_where_all_choose_the_same_experts(model: Model) -> None:
    """16 equal tokens, at one position of 16 rows, all go to the same two experts."""
    many = np.full((16, 1), 5, np.int32)
    alone = model(many[:1])
    close(model(many), np.repeat(alone, 16, axis=0))
    assert np.abs(alone).max() > 0.1
