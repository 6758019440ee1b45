"""The gpt-oss cards against logits that transformers computed in f64, and each entry against
`forward`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

from linnet.nest import Model
from linnet.source.errors import LinnetError
from tests.backends.each import BACKENDS, options_of, to_numpy
from tests.gpt_oss import CARDS, FIXTURE, SEED, load, needs_fixture, packed, padded
from tests.rounding import most, rms, rounding_at_random

TOLERANCE = 1e-4

pytestmark = needs_fixture


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    return dict(np.load(FIXTURE / "reference.npz"))


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module", params=CARDS)
def loaded(request: pytest.FixtureRequest, backend: str) -> Model:
    return on(backend, request.param)


def on(backend: str, card: Any) -> Model:
    """A card in f32 on one of `BACKENDS`."""
    name, options = options_of(backend)
    return load(card, "f32", name, **options)


@pytest.fixture
def model(loaded: Model) -> Iterator[Model]:
    loaded.reset_state()
    yield loaded


@pytest.fixture(scope="module")
def tokens(reference: dict[str, Any]) -> Any:
    return reference["tokens"]


@pytest.fixture(scope="module")
def logits(loaded: Model, tokens: Any) -> Any:
    """What `forward` gives for the reference's tokens: prompts far longer than the window."""
    return to_numpy(loaded(tokens))


def close(found: Any, expected: Any) -> None:
    found, expected = to_numpy(found), to_numpy(expected)
    assert found.shape == expected.shape
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)


def test_forward_is_the_reference(logits: Any, reference: dict[str, Any]) -> None:
    assert np.abs(reference["logits"]).max() > 3
    close(logits, reference["logits"])


def test_the_cards_agree_on_everything_but_their_text(tokens: Any, backend: str) -> None:
    own, seed = on(backend, "gpt-oss-20b"), on(backend, SEED)
    assert sorted(own.entries) == sorted(seed.entries)
    assert {k: v.shape for k, v in own.state.items()} == {k: v.shape for k, v in seed.state.items()}
    short = tokens[:, :9]
    close(own(short), seed(short))


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (1, 7), (2, 5), (1, 0), (0, 4)])
def test_forward_takes_any_batch_and_length(
    model: Model, tokens: Any, logits: Any, shape: tuple[int, int]
) -> None:
    batch, length = shape
    close(model(tokens[:batch, :length]), logits[:batch, :length])


def test_next_token(model: Model, tokens: Any, logits: Any) -> None:
    for length in (1, 6, 24):
        close(model.next_token(tokens[:, :length]), logits[:, length - 1])


def test_states_are_before_the_norm_and_the_head(model: Model, tokens: Any, logits: Any) -> None:
    hidden = to_numpy(model.states(tokens)).astype(np.float64)
    norm, head = tensor("model.norm.weight"), tensor("lm_head.weight")
    scale = 1 / np.sqrt(np.mean(hidden**2, axis=-1, keepdims=True) + 1e-5)
    close((hidden * scale * norm @ head.T).astype(np.float32), logits)


def tensor(name: str) -> Any:
    for file in sorted(FIXTURE.glob("*.safetensors")):
        with safe_open(file, "np") as found:
            if name in found.keys():  # noqa: SIM118, it is no dict
                return found.get_tensor(name).astype(np.float64)
    raise KeyError(name)


def test_prefill_then_decode_token_by_token(model: Model, tokens: Any, logits: Any) -> None:
    close(model.prefill(tokens[:, :7], 0), logits[:, 6])
    for at in range(7, 24):
        close(model.decode(tokens[:, at : at + 1], at), logits[:, at])


def test_decode_from_nothing(model: Model, tokens: Any, logits: Any) -> None:
    for at in range(9):
        close(model.decode(token=tokens[:, at : at + 1], pos=at), logits[:, at])


@pytest.mark.parametrize("chunks", [[24], [7, 13, 4], [5, 5, 5, 5, 4], [4, 16, 4], [1] * 8 + [16]])
def test_prefill_in_chunks(model: Model, tokens: Any, logits: Any, chunks: list[int]) -> None:
    at = 0
    for size in chunks:
        found = model.prefill(tokens[:, at : at + size], at)
        at += size
        close(found, logits[:, at - 1])


def test_a_second_request_may_share_a_prefix(model: Model, tokens: Any, logits: Any) -> None:
    model.prefill(tokens, 0)
    other = np.concatenate([tokens[:, :10], tokens[:, 12:20]], axis=1)
    cold = model(other)
    close(model.prefill(other[:, 10:], 10), cold[:, -1])
    close(model.decode(tokens[:, 20:21], 18), model.next_token(np.c_[other, tokens[:, 20:21]]))


def test_reset_state_forgets(model: Model, tokens: Any) -> None:
    first = to_numpy(model.prefill(tokens[:, :9], 0))
    assert any(s.any() for s in model.state.values())
    model.reset_state()
    assert not any(s.any() for s in model.state.values())
    assert to_numpy(model.prefill(tokens[:, :9], 0)).tobytes() == first.tobytes()


@pytest.mark.parametrize("slots", [[0, 1], [1, 0]])
def test_prefill_slots_with_padded_rows_then_decode_rows(
    model: Model, tokens: Any, logits: Any, slots: list[int]
) -> None:
    lengths = [11, 4]
    prompts = [tokens[s, :n] for s, n in zip(slots, lengths, strict=True)]
    found = model.prefill_slots(padded(prompts, 13), slots, lengths)
    close(found, np.stack([logits[s, n - 1] for s, n in zip(slots, lengths, strict=True)]))
    at = np.zeros(2, np.int32)
    at[slots] = lengths
    for _ in range(8):
        step = np.stack([tokens[row, [at[row]]] for row in range(2)])
        close(model.decode_rows(step, at), np.stack([logits[row, at[row]] for row in range(2)]))
        at += 1


def test_prefill_slots_leaves_the_other_rows_alone(model: Model, tokens: Any, logits: Any) -> None:
    close(model.prefill_slots(tokens[:1, :9], [0], [9])[0], logits[0, 8])
    close(model.prefill_slots(padded([tokens[1, :3]], 6), [1], [3])[0], logits[1, 2])
    step = np.stack([tokens[0, 9:10], tokens[1, 3:4]])
    close(model.decode_rows(step, [9, 3]), np.stack([logits[0, 9], logits[1, 3]]))


@pytest.mark.parametrize("padding", [0, 3])
def test_prefill_packed_then_decode_rows(
    model: Model, tokens: Any, logits: Any, padding: int
) -> None:
    found = model.prefill_packed(**packed([(1, tokens[1, :9]), (0, tokens[0, :6])], padding))
    close(found, np.stack([logits[1, 8], logits[0, 5]]))
    step = np.stack([tokens[0, 6:7], tokens[1, 9:10]])
    close(model.decode_rows(step, [6, 9]), np.stack([logits[0, 6], logits[1, 9]]))


@pytest.mark.parametrize("padding", [0, 2])
def test_step_packed(model: Model, tokens: Any, logits: Any, padding: int) -> None:
    model.prefill_slots(tokens[:1, :8], [0], [8])
    # Row 0 goes on while a prompt for row 1 arrives; row 1's own step writes where none reads.
    arguments = packed([(1, tokens[1, :10])], padding)
    step = np.stack([tokens[0, 8:9], tokens[1, :1]])
    found = model.step_packed(**arguments, step_tokens=step, step_positions=[8, 63])
    assert found.shape == (4, logits.shape[-1])
    close(found[0], logits[1, 9])
    close(found[2], logits[0, 8])
    step = np.stack([tokens[0, 9:10], tokens[1, 10:11]])
    close(model.decode_rows(step, [9, 10]), np.stack([logits[0, 9], logits[1, 10]]))


@pytest.mark.parametrize("short", range(1, 13))
def test_every_length_of_a_prompt(model: Model, tokens: Any, logits: Any, short: int) -> None:
    """Prompts of `short` and of `25 - short` tokens: together every position of `forward`."""
    lengths = [short, 25 - short]
    prompts = [tokens[row, :n] for row, n in enumerate(lengths)]
    ends = np.stack([logits[row, n - 1] for row, n in enumerate(lengths)])
    rows = list(enumerate(prompts))
    close(model.prefill_slots(padded(prompts, 26), [0, 1], lengths), ends)
    model.reset_state()
    close(model.prefill_packed(**packed(rows, 0)), ends)
    # Each row's own step is its prompt's last token, whose predecessors are in the caches.
    last = np.stack([prompt[-1:] for prompt in prompts])
    at = [n - 1 for n in lengths]
    close(model.step_packed(**packed(rows, 1), step_tokens=last, step_positions=at)[2:], ends)
    close(model.decode_rows(last, at), ends)


# --- positions and rows that the caches do not have ---------------------------

SLOTS = {"tokens": np.zeros((1, 65), np.int32), "slots": [0], "lengths": [64]}
AT: dict[str, Callable[[int], dict[str, Any]]] = {
    "decode": lambda at: {"token": [[1], [2]], "pos": at},
    "decode_rows": lambda at: {"tokens": [[1], [2]], "positions": [3, at]},
    "prefill": lambda at: {"tokens": [[1, 2], [3, 4]], "pos": at if at < 0 else at - 1},
    "prefill_packed": lambda at: packed([(1, np.asarray([1, 2]))], 1) | {"positions": [0, 1, at]},
    "step_packed": lambda at: (
        packed([(1, np.asarray([1, 2]))], 0)
        | {"step_tokens": [[1], [2]], "step_positions": [at, 63]}
    ),
}  # fmt: skip


def refused(model: Model, entry: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(LinnetError) as raised:
        model.entry(entry)(**arguments)
    assert [d.code for d in raised.value.diagnostics] == ["E2209"]
    if model.source() is None:
        # Generated source overwrites states as it goes.
        assert not any(s.any() for s in model.state.values())


@pytest.mark.parametrize("entry", AT)
def test_positions_are_those_of_the_caches(model: Model, entry: str) -> None:
    assert next(iter(model.state.values())).shape[2] == 64
    assert np.isfinite(to_numpy(model.entry(entry)(**AT[entry](63)))).all()
    model.reset_state()
    for at in (64, -1):
        refused(model, entry, AT[entry](at))


def test_lengths_are_within_the_text(model: Model) -> None:
    assert np.isfinite(to_numpy(model.prefill_slots(**SLOTS))).all()
    model.reset_state()
    for length in (0, 66):
        refused(model, "prefill_slots", SLOTS | {"lengths": [length]})


@pytest.mark.parametrize("row", [2, -1])
def test_our_card_also_refuses_rows_and_texts_that_the_caches_do_not_hold(
    row: int, backend: str
) -> None:
    own = on(backend, "gpt-oss-20b")
    refused(own, "prefill_slots", SLOTS | {"lengths": [65]})
    refused(own, "prefill_slots", SLOTS | {"slots": [row]})
    for entry in ("prefill_packed", "step_packed"):
        arguments = AT[entry](63)
        refused(own, entry, arguments | {"rows": [row, *arguments["rows"][1:]]})


# --- bf16 --------------------------------------------------------------------


def test_bf16_differs_by_what_its_rounding_explains(reference: dict[str, Any]) -> None:
    tokens, exact = reference["tokens"], reference["logits"].astype(np.float64)
    found = load("gpt-oss-20b", "bf16")(tokens).astype(np.float64) - exact
    noisy = load("gpt-oss-20b", "f64")
    close(noisy(tokens).astype(np.float32), reference["logits"])
    with rounding_at_random(seed=0):
        draws = [noisy(tokens) - exact for _ in range(10)]
    for size in (rms, most):
        explained = max(size(d) for d in draws)
        assert size(found) <= 2 * explained, size
        # The bound says something: it is far below the logits themselves.
        assert 2 * explained < size(exact), size
