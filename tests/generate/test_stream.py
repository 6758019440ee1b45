"""Streams of scripted models: pieces, stops, characters in parts, ends, seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from linnet.generate.detokenizer import BROKEN
from linnet.generate.stops import Stops
from linnet.generate.stream import Generated, Limits, Stream
from linnet.generate.tokenizer import Numbers
from linnet.source.errors import LinnetError
from tests.generate.scripted import VOCABULARY, Pieces, Same, Script, said, settings


def parts(stream: Stream) -> list[str]:
    found = list(stream)
    assert all(found), "no piece is empty"
    assert "".join(found) == stream.text == stream.result().text
    return found


# --- stop texts ---------------------------------------------------------------


def test_a_stop_text_over_several_tokens_is_never_given_on() -> None:
    stream = said("AB", "C", "DEF", "G", "HI", "J", "K", stop="DEFGHIJ")
    assert parts(stream) == ["AB", "C"]
    assert stream.finish_reason == "stop"
    assert stream.tokens == [0, 1, 2, 3, 4, 5]


def test_what_cannot_become_a_stop_text_is_given_on() -> None:
    stream = said("DEF", "G", "X", stop="DEFGHIJ")
    assert parts(stream) == ["DEFGX"]
    assert stream.finish_reason == "max_new"
    assert parts(said("DEF", "G", stop="DEFGHIJ")) == ["DEFG"]
    # The tail is held, and no more than it.
    assert parts(said("xxD", "E", "y", stop="DEF")) == ["xx", "DEy"]
    assert parts(said("aab", "aab", "c", stop="aabc")) == ["aab"]


def test_no_stop_text() -> None:
    for none in (None, []):
        assert parts(said("a", "b", stop=none)) == ["a", "b"]


def cuts(text: str) -> list[list[str]]:
    """All ways to cut a text in pieces."""
    if not text:
        return [[]]
    return [[text[:n], *rest] for n in range(1, len(text) + 1) for rest in cuts(text[n:])]


@pytest.mark.parametrize(
    ("text", "stops", "want"),
    [
        ("xabcy", ["abc"], "x"),
        ("xabcy", ["abc", "b"], "xa"),  # `b` is complete first
        ("xabcy", ["c", "abc"], "x"),  # both at once: the longest
        ("xabaab", ["aab", "bb"], "xab"),
        ("ababac", ["abac"], "ab"),
        ("abab", ["abac", "x"], "abab"),
    ],
)
def test_pieces_do_not_matter(text: str, stops: list[str], want: str) -> None:
    for cut in cuts(text):
        held = Stops(stops)
        given = "".join(held.add(piece) for piece in cut)
        assert given + held.end() == want, cut
        assert held.hit == (want != text)


# --- characters -----------------------------------------------------------------


def test_a_character_in_parts_is_given_on_whole() -> None:
    assert parts(said(b"\xf0\x9f", b"\x98\x80", " ok")) == ["😀", " ok"]
    assert parts(said(b"\xc3", b"\xa9")) == ["é"]
    assert parts(said(b"a\xc3", b"\xa9b", "c")) == ["a", "éb", "c"]


def test_a_character_that_is_cut_off_is_one_mark_at_the_end() -> None:
    assert parts(said("a", b"\xf0\x9f")) == ["a", BROKEN]
    assert parts(said(b"\xf0", b"\x9f")) == [BROKEN]


def test_bytes_that_are_no_text_become_marks() -> None:
    assert "".join(parts(said(b"\xff", b"\xff", "x"))) == BROKEN * 2 + "x"
    assert "".join(parts(said(b"\xff", b"\xf0", b"\x9f\x98\x80"))) == BROKEN + "😀"


def test_a_stop_text_of_characters_in_parts() -> None:
    stream = said("a", b"\xc3", b"\xa9", "z", stop="é")
    assert parts(stream) == ["a"]
    assert stream.finish_reason == "stop"


class Spaced(Pieces):
    """As SentencePiece: a word has a space before it, but for the first."""

    def decode(self, tokens: Sequence[int]) -> str:
        return super().decode(tokens).removeprefix(" ")


def test_spaces_before_words_stay() -> None:
    script = Script([0, 1, 1, 2])
    decoder = Spaced(" the", " end", ".")
    stream = Stream(script, decoder, [0], settings(max_new=4), Limits())
    assert parts(stream) == ["the", " end", " end", "."]


def test_a_token_without_text_in_between_takes_no_space_away() -> None:
    decoder = Spaced(" the", "", " end")
    stream = Stream(Script([0, 1, 2]), decoder, [0], settings(max_new=3), Limits())
    assert parts(stream) == ["the", " end"]


class Runs(Pieces):
    """As the decoder ByteFallback: a run of bytes that is no text is a mark for each byte."""

    def decode(self, tokens: Sequence[int]) -> str:
        whole = b"".join(self.pieces[t] for t in tokens)
        try:
            return whole.decode()
        except UnicodeDecodeError:
            return BROKEN * len(whole)


def test_a_decoder_that_takes_a_run_of_bytes_back() -> None:
    emoji = [0xC3, 0xA9, *"😀".encode()]
    decoder = Runs(*(bytes([b]) for b in emoji))
    stream = Stream(Script(range(6)), decoder, [0], settings(max_new=6), Limits())
    assert parts(stream) == ["é", "😀"]


def test_a_run_of_bytes_that_stays_taken_back_goes_on_behind_what_was_given() -> None:
    decoder = Runs(b"\xc3\xa9", b"\xff", b"\xff\xc3", "x", "y")
    stream = Stream(Script(range(5)), Marked(decoder), [0], settings(max_new=5), Limits())
    assert parts(stream) == ["é", f"{BROKEN * 4}x", "y"]


class Marked:
    """As `Runs`, where the runs are the tokens before the first letter."""

    def __init__(self, inner: Runs) -> None:
        self.inner = inner

    def decode(self, tokens: Sequence[int]) -> str:
        letters = [i for i, t in enumerate(tokens) if self.inner.pieces[t] in (b"x", b"y")]
        end = letters[0] if letters else len(tokens)
        return self.inner.decode(tokens[:end]) + self.inner.decode(tokens[end:])


# --- ends -----------------------------------------------------------------------


def numbers(
    tokens: list[int], prompt: list[int], max_new: int | None, limits: Limits
) -> tuple[Script, Generated]:
    script = Script(tokens)
    return script, Stream(script, Numbers(), prompt, settings(max_new), limits).result()


def test_a_token_that_ends_the_text_has_no_text() -> None:
    _, found = numbers([5, 6, 9, 7], [1], 4, Limits(eos=frozenset({8, 9})))
    assert (found.text, found.tokens, found.finish_reason) == ("5,6", (5, 6, 9), "eos")
    assert str(found) == "5,6"


def test_max_new_counts_new_tokens() -> None:
    script, found = numbers([5, 6, 7], [1, 2], 2, Limits(length=64))
    assert (found.tokens, found.finish_reason, found.prompt_tokens) == ((5, 6), "max_new", 2)
    # The last token is not read: nothing is asked of it.
    assert script.asked == [((1, 2), 0), ((5,), 2)]


@pytest.mark.parametrize("max_new", [None, 55, 2**31 - 1, 10**18])
def test_the_caches_end_the_text(max_new: int | None) -> None:
    script, found = numbers([3] * 99, [1] * 10, max_new, Limits(length=64))
    assert (len(found.tokens), found.finish_reason) == (54, "max_seq")
    assert script.asked[-1] == ((3,), 62)


def test_max_new_at_the_end_of_the_caches() -> None:
    _, found = numbers([3] * 99, [1] * 10, 54, Limits(length=64))
    assert (len(found.tokens), found.finish_reason) == (54, "max_new")


@pytest.mark.parametrize(
    ("prompt", "code", "text"),
    [
        ([], "E2102", "the prompt has no token"),
        ([1] * 65, "E5005", "the prompt has 65 tokens, and the caches hold 64"),
        ([1] * 64, "E5005", "the prompt has 64 tokens, and the caches hold 64: there is no room"),
        ([1, 10], "E5005", "the prompt has the token 10, which the model has not"),
        ([-1], "E5005", "the prompt has the token -1"),
    ],
)
def test_a_prompt_that_is_no_beginning(prompt: list[int], code: str, text: str) -> None:
    limits = Limits(vocabulary=10, length=64)
    with pytest.raises(LinnetError) as caught:
        Stream(Script([1]), Numbers(), prompt, settings(), limits)
    (found,) = caught.value.diagnostics
    assert found.code == code and found.message.startswith(text)


def test_logits_of_nan_end_it_with_an_error_and_no_reason() -> None:
    stream = Stream(Same(np.full(4, np.nan)), Numbers(), [0], settings(), Limits())
    with pytest.raises(LinnetError, match="4 of the model's 4 logits are nan"):
        next(stream)
    assert (stream.tokens, stream.finish_reason) == ([], None)
    with pytest.raises(LinnetError, match="came to no end"):
        stream.result()


# --- seeds ------------------------------------------------------------------------


def sixteen(seed: int | None, temperature: float = 1) -> Stream:
    asked = settings(16, temperature, seed=seed)
    return Stream(Same(np.zeros(VOCABULARY)), Numbers(), [0], asked, Limits())


def test_a_seed_gives_the_same_whatever_runs_beside_it() -> None:
    alone = sixteen(42).result().tokens
    beside, *others = [sixteen(42), *(sixteen(None) for _ in range(3))]
    while next(beside, None):
        for other in others:
            next(other, None)
    assert tuple(beside.tokens) == alone == sixteen(42).result().tokens
    assert sixteen(43).result().tokens != alone


def test_without_a_seed_texts_differ() -> None:
    # Two texts of 16 of 1000 equally likely tokens are the same once in 10^48.
    assert sixteen(None).result().tokens != sixteen(None).result().tokens


def test_no_temperature_no_seed() -> None:
    assert sixteen(1, 0).result().tokens == sixteen(2, 0).result().tokens == (0,) * 16


def test_numbers_of_seeds_stay() -> None:
    """NumPy keeps the stream of PCG64; what is drawn from it is a part of the interface."""
    sampled = np.random.default_rng(42).random(16)
    assert sixteen(42).result().tokens == tuple(int(u * VOCABULARY) for u in sampled)
