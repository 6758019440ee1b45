"""A text as it is made: pieces of it one after another, then why it ended."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from linnet.generate.detokenizer import Decoder, Detokenizer
from linnet.generate.refused import refused
from linnet.generate.sampling import Logits, Sampler
from linnet.generate.settings import Settings
from linnet.generate.stops import Stops

FinishReason: TypeAlias = Literal["eos", "stop", "max_new", "max_seq"]
"""`eos`: the model ended the text. `stop`: a stop text came. `max_new`: as many tokens as were
asked for. `max_seq`: as many as the caches hold."""


class Scorer(Protocol):
    """A model and what it keeps of one text. `prefill` reads tokens from position `pos` on,
    `decode` one more; both give the logits [Vocab] of the token that follows."""

    def begin(self) -> None: ...

    def prefill(self, tokens: Sequence[int], pos: int) -> Logits: ...

    def decode(self, token: int, pos: int) -> Logits: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What a model sets: the size of its vocabulary, how many tokens its caches hold (None where it
    is not known), the tokens that end a text, and the generic that says how long the caches are."""

    vocabulary: int | None = None
    length: int | None = None
    eos: frozenset[int] = frozenset()
    generic: str | None = None


@dataclass(frozen=True, slots=True)
class Generated:
    """A text that ended. `tokens` are the new ones, with the one that ended it, whose text is no
    part of `text`; times are in seconds from the beginning."""

    text: str
    tokens: tuple[int, ...]
    finish_reason: FinishReason
    prompt_tokens: int
    first_token_s: float
    total_s: float

    def __str__(self) -> str:
        return self.text


class Stream(Iterator[str]):
    """Gives pieces of a text, none of them empty, as the model makes it.

    Joined they are the `text` of `result()`. After the last one, and only then,
    `finish_reason` is not None. `tokens` are the new tokens so far.
    """

    def __init__(
        self,
        scorer: Scorer,
        decoder: Decoder,
        prompt: Sequence[int],
        settings: Settings,
        limits: Limits,
    ) -> None:
        """A `LinnetError` where there is nothing to go on from, or no room."""
        _check_prompt(prompt, limits)
        self.prompt = tuple(prompt)
        self.tokens: list[int] = []
        self.finish_reason: FinishReason | None = None
        self.first_token_s = 0.0
        self.total_s = 0.0
        self._text: list[str] = []
        self._scorer = scorer
        self._settings = settings
        self._limits = limits
        self._detokenizer = Detokenizer(decoder)
        self._stops = Stops(settings.stop)
        self._pieces = self._run()

    def __next__(self) -> str:
        piece = next(self._pieces)
        self._text.append(piece)
        return piece

    @property
    def text(self) -> str:
        """The pieces so far, joined."""
        return "".join(self._text)

    def result(self) -> Generated:
        """The whole text: goes on to its end."""
        for _ in self:
            pass
        if self.finish_reason is None:
            raise refused("the text came to no end: an error broke it off before")
        return Generated(
            self.text,
            tuple(self.tokens),
            self.finish_reason,
            len(self.prompt),
            self.first_token_s,
            self.total_s,
        )

    def _run(self) -> Iterator[str]:
        start = time.perf_counter()
        sampler = Sampler(self._settings)
        self._scorer.begin()
        logits = self._scorer.prefill(self.prompt, 0)
        while True:
            token = sampler.next(logits)
            self.tokens.append(token)
            self.total_s = time.perf_counter() - start
            if len(self.tokens) == 1:
                self.first_token_s = self.total_s
            if token in self._limits.eos:
                reason: FinishReason | None = "eos"
                break
            if piece := self._stops.add(self._detokenizer.add(token)):
                yield piece
            reason = self._reason()
            if reason is not None:
                break
            logits = self._scorer.decode(token, len(self.prompt) + len(self.tokens) - 1)
        rest = self._stops.add(self._detokenizer.end())
        rest += self._stops.end()
        self.finish_reason = "stop" if self._stops.hit else reason
        if rest:
            yield rest

    def _reason(self) -> FinishReason | None:
        """Why the text ends with the last token, if it does."""
        if self._stops.hit:
            return "stop"
        if len(self.tokens) == self._settings.max_new:
            return "max_new"
        full = len(self.prompt) + len(self.tokens) == self._limits.length
        return "max_seq" if full else None


def _check_prompt(prompt: Sequence[int], limits: Limits) -> None:
    count, length, vocabulary = len(prompt), limits.length, limits.vocabulary
    if count == 0:
        raise refused("the prompt has no token, so there is nothing to go on from", code="E2102")
    if length is not None and count >= length:
        tokens = "token" if count == 1 else "tokens"
        message = f"the prompt has {count} {tokens}, and the caches hold {length}"
        if count == length:
            message += ": there is no room for another"
        way_out = "give a shorter prompt, or bind longer caches"
        if limits.generic is not None:
            # The next power of two that leaves room for more than one token.
            way_out += f': generics={{"{limits.generic}": {1 << (count + 1).bit_length()}}}'
        raise refused(message, help=way_out)
    for token in prompt:
        if not 0 <= token < (2**31 if vocabulary is None else vocabulary):
            has = "" if vocabulary is None else f", whose tokens are 0 to {vocabulary - 1}"
            message = f"the prompt has the token {token}, which the model has not{has}"
            hint = "the tokenizer, or what made the tokens, is of another model" if has else None
            raise refused(message, help=hint)
