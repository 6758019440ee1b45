"""A `tokenizer.json`, read by the package `tokenizers`, and text that is never a control token.

A control token is one that the file calls special: the beginning of a text, the end of a turn. Text
that only spells one is encoded as ordinary text, so that no user can forge a turn.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from linnet.generate.chat import Marks
from linnet.generate.refused import refused


class Tokenizer:
    """`control` are the control tokens: each text with its number. `name` is the file, for
    findings."""

    def __init__(self, data: str, name: str) -> None:
        self._inner = _read(data, name)
        # What the file says of cutting and padding is for training.
        self._inner.no_truncation()
        self._inner.no_padding()
        added: dict[int, Any] = self._inner.get_added_tokens_decoder()
        self.control = {t.content: number for number, t in added.items() if t.special}
        self._unknown: str | None = getattr(self._inner.model, "unk_token", None)

    def encode(self, text: str) -> list[int]:
        """The text, all of it ordinary, with what the file puts around every text (a token for the
        beginning, say)."""
        return self._ordinary(text, around=True)

    def encode_chat(self, rendered: str, marks: Marks) -> list[int]:
        """What a chat template made: its own control tokens are such, marked text is ordinary."""
        if marks.sign not in rendered:
            return self._as_written(rendered)
        out: list[int] = []
        waiting = ""
        for part in marks.parts(rendered):
            if marks.sign in part:
                out += self._as_written(waiting) + self._ordinary(marks.without(part))
                waiting = ""
            else:
                waiting += part
        return out + self._as_written(waiting)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens; control tokens have none."""
        return str(self._inner.decode(list(tokens), skip_special_tokens=True))

    def _as_written(self, text: str) -> list[int]:
        return list(self._encoding(text, around=False).ids) if text else []

    def _ordinary(self, text: str, around: bool = False) -> list[int]:
        with self._all_ordinary():
            found = self._encoding(text, around)
            control = set(self.control.values()) - {self.control.get(self._unknown or "")}
            out: list[int] = []
            for token, mask, (start, end) in zip(
                found.ids, found.special_tokens_mask, found.offsets, strict=True
            ):
                if token in control and not mask:
                    # A model of whole words knows it as one: its letters are what is left.
                    for letter in text[start:end]:
                        ids = self._encoding(letter, around=False).ids
                        out += [t for t in ids if t not in control]
                else:
                    out.append(token)
            return out

    def _encoding(self, text: str, around: bool) -> Any:
        try:
            text.encode("utf-8")
            return self._inner.encode(text, add_special_tokens=around)
        except UnicodeEncodeError:
            raise refused("the prompt is no Unicode text", code="E2102") from None
        # The package raises plain `Exception`s, of a word that its model has no token for, say.
        except Exception as error:
            why = str(error).strip().partition("\n")[0]
            raise refused(f"the tokenizer does not take the prompt: {why}") from None

    @contextmanager
    def _all_ordinary(self) -> Generator[None]:
        self._inner.encode_special_tokens = True
        try:
            yield
        finally:
            self._inner.encode_special_tokens = False


class Numbers:
    """What stands in for a missing tokenizer: tokens as their numbers."""

    control: dict[str, int] = {}  # noqa: RUF012, nothing is added to it

    def decode(self, tokens: Sequence[int]) -> str:
        """The numbers, with a comma between them."""
        return ",".join(map(str, tokens))


def _read(data: str, name: str) -> Any:
    if find_spec("tokenizers") is None:
        hint = "install it with: pip install 'linnet[generate]'"
        message = "text needs the package `tokenizers`, which is not installed"
        raise refused(message, code="E2190", help=hint)
    # Of the extra `generate`: untyped where it is absent.
    tokenizers: Any = import_module("tokenizers")
    try:
        return tokenizers.Tokenizer.from_str(data)
    # The package raises plain `Exception`s.
    except Exception as error:
        why = str(error).strip().partition("\n")[0]
        raise refused(f"{name} is no tokenizer: {why}", code="E5003") from None
