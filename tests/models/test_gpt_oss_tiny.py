"""The card that ships its checkpoint: its text against transformers, and what is in its files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet import nest
from linnet.cli.main import main
from linnet.nest import Model

CARD = Path(__file__).parents[2] / "models" / "gpt-oss-tiny"
FILE = CARD / "model.safetensors"
TOML = tomllib.loads((CARD / "nest.toml").read_text("utf-8"))
GENERICS = TOML["generics"]
LENGTH = 48
END = 1023
# The most that the logits may differ, of NumPy in f32 and of transformers in f64 (but for norms and
# angles, which it has in f32). They are below 32, where half a unit of f32 is 2**-20, and the four
# layers, the norm and the head round fewer than a hundred times one after the other.
TOLERANCE = 100 * 2.0**-20

TEXTS = {
    "And God said unto": (
        "And God said unto them, Why do ye not? And he said, I will not hearken unto you, but "
        "ye shall not be ashamed of the LORD. And he said, I will not hearken unto you, but "
        "ye shall not"
    ),
    "Blessed is he that": (
        "Blessed is he that is in the midst of the sea is a man that is in his own heart, and "
        "he that is in his own heart."
    ),
}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    return tokenizers.Tokenizer.from_file(str(CARD / "tokenizer.json"))


@pytest.fixture(scope="module")
def model() -> Model:
    return nest.load("gpt-oss-tiny", "numpy", generics={"T": "f32"}, cast_dtype=True)


@pytest.fixture(scope="module")
def reference() -> Any:
    """The checkpoint in transformers' model, in f64; its own loader would round experts to bf16."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from safetensors.torch import load_file
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    found = load_file(FILE)
    state = {n: t.double() for n, t in found.items() if not n.endswith(("_blocks", "_scales"))}
    for name in (n for n in found if n.endswith("_blocks")):
        plain = name.removesuffix("_blocks")
        scales = found[plain + "_scales"]
        state[plain] = convert_moe_packed_tensors(found[name], scales, dtype=torch.float64)
    model = transformers.GptOssForCausalLM(_config(transformers)).double().eval()
    model.load_state_dict(state)
    return model


def _config(transformers: Any) -> Any:
    return transformers.GptOssConfig(
        vocab_size=GENERICS["Vocab"],
        hidden_size=GENERICS["H"],
        num_attention_heads=GENERICS["Heads"],
        num_key_value_heads=GENERICS["KvHeads"],
        head_dim=GENERICS["HeadDim"],
        intermediate_size=GENERICS["Inner"],
        num_local_experts=GENERICS["Experts"],
        num_experts_per_tok=GENERICS["TopK"],
        num_hidden_layers=GENERICS["Layers"],
        sliding_window=GENERICS["Window"],
        attn_implementation="eager",
        experts_implementation="eager",
    )


def greedy(model: Model, tokens: list[int]) -> tuple[list[int], Any]:
    """The likeliest tokens that follow, one after another, and the logits that say so."""
    model.reset_state()
    scores = [model.entry("prefill")(np.array([tokens], np.int32), 0)[0]]
    found = [int(scores[0].argmax())]
    while len(found) < LENGTH and found[-1] != END:
        at = len(tokens) + len(found) - 1
        scores.append(model.entry("decode")(np.array([found[-1:]], np.int32), at)[0])
        found.append(int(scores[-1].argmax()))
    return found, np.array(scores)


def logits_of(reference: Any, tokens: list[int], count: int) -> Any:
    """What transformers says of the last `count` of the tokens, all read at once."""
    import torch

    with torch.no_grad():
        return reference(torch.tensor([tokens])).logits[0, -count:].numpy()


@pytest.mark.parametrize("prompt", TEXTS)
def test_greedy_text_is_that_of_transformers(
    prompt: str, model: Model, tokenizer: Any, reference: Any
) -> None:
    tokens = tokenizer.encode(prompt).ids
    found, scores = greedy(model, tokens)
    expected = logits_of(reference, [*tokens, *found[:-1]], len(found))
    assert np.abs(expected).max() < 32
    np.testing.assert_allclose(scores, expected, rtol=0, atol=TOLERANCE)
    # No two tokens are so near that the rounding decides.
    best = np.sort(expected, axis=-1)[:, -2:]
    assert (best[:, 1] - best[:, 0]).min() > 2 * TOLERANCE
    assert found == expected.argmax(-1).tolist()
    assert len(found) == LENGTH or found[-1] == END
    assert prompt + tokenizer.decode(found) == TEXTS[prompt]


def test_the_window_is_left(model: Model, tokenizer: Any, reference: Any) -> None:
    """A prompt longer than the window, so that the two kinds of layer differ."""
    tokens = tokenizer.encode("And the LORD spake unto Moses, saying, " * 12).ids
    assert GENERICS["Window"] < len(tokens) < GENERICS["MaxSeq"]
    model.reset_state()
    found = model.entry("prefill")(np.array([tokens], np.int32), 0)
    np.testing.assert_allclose(found, logits_of(reference, tokens, 1), rtol=0, atol=TOLERANCE)


def test_the_shipped_dtype_reads_on(tokenizer: Any) -> None:
    """In bf16, as the card has it: eight bits of a logit below 32 are an eighth."""
    model = nest.load("gpt-oss-tiny", "numpy")
    tokens = tokenizer.encode("And it came to").ids
    found = model.entry("prefill")(np.array([tokens], np.int32), 0)
    assert found.dtype.name == "bfloat16"
    assert tokenizer.decode([int(found[0].argmax())]) == " pass"


def test_counts_and_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nest", "check", "gpt-oss-tiny"]) == 0
    counted = "gpt-oss-tiny: 79 parameters, 2,050,736 weights"
    assert capsys.readouterr().out == f"{counted} and fits the checkpoint in the card's folder\n"
    sizes = {path.name: path.stat().st_size for path in CARD.iterdir() if path.is_file()}
    assert sizes["model.safetensors"] == 1_799_648
    assert sum(sizes.values()) < 2_000_000


def test_every_token_has_a_text_of_bytes(tokenizer: Any) -> None:
    assert tokenizer.get_vocab_size() == GENERICS["Vocab"]
    assert tokenizer.token_to_id("<|endoftext|>") == END
    assert TOML["generate"] == {"eos": [END]}
    for text in ("In the beginning", "naïve 日本\n\t🙂", "  two  spaces "):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
