"""Models that say what a test wants, and a small tokenizer made on the spot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from linnet.generate.settings import Settings, check_settings
from linnet.generate.stream import Limits, Stream

VOCABULARY = 1000
CONTROL = ["<|start|>", "<|end|>", "<|message|>", "<|return|>"]
TEXTS = ["hello there, this is a small text", "the theory of small texts is there"]


class Script:
    """Its likeliest tokens are a list, one after the other; it keeps what it was asked."""

    def __init__(self, tokens: Sequence[int], size: int = VOCABULARY) -> None:
        self.tokens = list(tokens)
        self.size = size
        self.asked: list[tuple[tuple[int, ...], int]] = []
        self.step = 0

    def begin(self) -> None:
        self.step = 0

    def prefill(self, tokens: Sequence[int], pos: int) -> NDArray[np.float64]:
        self.asked.append((tuple(tokens), pos))
        logits = np.zeros(self.size)
        logits[self.tokens[self.step]] = 1.0
        self.step += 1
        return logits

    def decode(self, token: int, pos: int) -> NDArray[np.float64]:
        return self.prefill([token], pos)


class Same(Script):
    """Always these logits."""

    def __init__(self, logits: NDArray[np.float64]) -> None:
        super().__init__([])
        self.logits = logits

    def prefill(self, tokens: Sequence[int], pos: int) -> NDArray[np.float64]:
        return self.logits


class Pieces:
    """A tokenizer whose tokens are these texts or bytes, in order."""

    def __init__(self, *pieces: str | bytes) -> None:
        self.pieces = [p.encode() if isinstance(p, str) else p for p in pieces]

    def decode(self, tokens: Sequence[int]) -> str:
        return b"".join(self.pieces[t] for t in tokens).decode("utf-8", "replace")


def settings(
    max_new: int | None = None,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    stop: str | Sequence[str] | None = None,
) -> Settings:
    return check_settings(max_new, temperature, top_k, top_p, seed, stop)


def said(*pieces: str | bytes, stop: str | Sequence[str] | None = None) -> Stream:
    """The stream of a model that says these pieces, one a token."""
    script = Script(range(len(pieces)))
    asked = settings(max_new=len(pieces), stop=stop)
    return Stream(script, Pieces(*pieces), [0], asked, Limits(VOCABULARY))


def byte_level() -> Tokenizer:
    """Byte-level BPE of two sentences, with control tokens 0 to 3."""
    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=CONTROL,
        show_progress=False,
    )
    found.train_from_iterator(TEXTS, trainer)
    return found
