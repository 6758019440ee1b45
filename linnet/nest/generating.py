"""A loaded model as one that makes text: its entries, its tokenizer and its limits together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from linnet.generate.chat import ChatTemplate, Marks, check_messages, texts_of
from linnet.generate.refused import refused
from linnet.generate.sampling import Logits
from linnet.generate.settings import Settings
from linnet.generate.stream import Limits, Stream
from linnet.generate.tokenizer import Numbers, Tokenizer
from linnet.nest.card_keys import is_integer
from linnet.nest.program import CardProgram
from linnet.nest.text_entries import TextEntries, text_entries
from linnet.nest.text_files import Origin, TextFiles
from linnet.packages.absent import MISSING, absence
from linnet.source.diagnostics import Sink
from linnet.source.errors import raise_errors

Prompt = str | Sequence[int] | Sequence[Mapping[str, Any]]
"""A text, tokens, or the messages of a chat, such as `[{"role": "user", "content": "Hello"}]`."""
PathText = str | os.PathLike[str]


class Running(Protocol):
    """What of a model is called: `writes` counts the changes of its states."""

    @property
    def writes(self) -> int: ...

    def run(self, entry: str, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any: ...

    def reset_state(self) -> None: ...


class Generating:
    """Makes streams of text; tokenizer and settings are read when first asked for."""

    def __init__(self, program: CardProgram, origin: Origin) -> None:
        sink = Sink()
        entries = text_entries(program, sink)
        raise_errors(sink)
        assert entries is not None
        self._entries = entries
        self._card = program.card
        self._origin = origin
        self._known: dict[Path | None, tuple[TextFiles, Tokenizer | None, str | None]] = {}

    def stream(
        self, model: Running, prompt: Any, settings: Settings, tokenizer: PathText | None
    ) -> Stream:
        """A text that goes on from `prompt`."""
        files, codec, why = self._files(tokenizer)
        if isinstance(prompt, str):
            codec = _there(codec, files, why)
            ids = codec.encode(prompt)
        else:
            items = _items(prompt)
            if all(is_integer(v) for v in items):
                ids = cast("list[int]", items)
            else:
                check_messages(items)
                codec = _there(codec, files, why)
                ids = _chat(codec, files, items)
        if codec is None and settings.stop:
            raise files.missing(why)
        entries = self._entries
        limits = Limits(entries.vocabulary, entries.length, files.eos(), entries.length_generic)
        scorer = _Scorer(model, self._entries)
        return Stream(scorer, Numbers() if codec is None else codec, ids, settings, limits)

    def _files(self, chosen: PathText | None) -> tuple[TextFiles, Tokenizer | None, str | None]:
        """The files, the tokenizer if there is one, and why none could be fetched."""
        path = None if chosen is None else _chosen(chosen)
        if path not in self._known:
            files = TextFiles(self._card, self._origin, path)
            why = None
            file = files.tokenizer()
            if file is None:
                why = files.fetch()
                file = files.tokenizer()
            codec = None if file is None else Tokenizer(file.text, str(file.path))
            self._known[path] = files, codec, why
        return self._known[path]


def _chosen(given: Any) -> Path:
    if not isinstance(given, str | os.PathLike) or not os.fspath(given):
        raise refused("`tokenizer` must be the path of a file or folder", code="E2102")
    path = Path(cast("PathText", given))
    why = absence(path)
    if why is not None:
        what = "does not exist" if why == MISSING else why
        raise refused(f"there is no tokenizer at {path}: it {what}", code="E5003")
    return path


def _there(codec: Tokenizer | None, files: TextFiles, why: str | None) -> Tokenizer:
    if codec is None:
        raise files.missing(why)
    return codec


def _items(prompt: Any) -> list[Any]:
    """The parts of a prompt that is no text; those of an array, of whichever framework, and
    integers of NumPy as Python's."""
    given = prompt.tolist() if hasattr(prompt, "tolist") else prompt
    if not isinstance(given, Iterable) or isinstance(given, bytes | bytearray | Mapping):
        message = "the prompt must be a text, a list of tokens, or a list of messages"
        raise refused(message, code="E2102")
    items = [
        int(cast("Any", v)) if isinstance(v, np.integer) else v
        for v in cast("Iterable[Any]", given)
    ]
    if any(isinstance(v, list | tuple) for v in items):
        message = "the prompt is several lists of tokens, and one text is generated at a time"
        raise refused(message, code="E2102", help="give one of them, `prompt[0]`")
    return items


def _chat(codec: Tokenizer, files: TextFiles, messages: Sequence[Any]) -> list[int]:
    found = files.template()
    if found is None:
        raise files.no_template()
    file, source = found
    template = ChatTemplate(source, str(file.path), files.words())
    marks = Marks(codec.control, (source, *texts_of(messages)))
    return codec.encode_chat(template.render(marks.put(messages)), marks)


class _Scorer:
    """A model's `prefill` and `decode` for one text, which every row of the caches is."""

    # So many tokens are read at once: what attention computes for them grows with their number
    # times the length of the caches.
    chunk = 512

    def __init__(self, model: Running, entries: TextEntries) -> None:
        self._model = model
        self._entries = entries
        self._writes: int | None = None

    def begin(self) -> None:
        self._model.reset_state()
        self._writes = self._model.writes

    def prefill(self, tokens: Sequence[int], pos: int) -> Logits:
        for start in range(0, len(tokens) - self.chunk, self.chunk):
            self._run(self._entries.prefill, tokens[start : start + self.chunk], pos + start)
        last = (len(tokens) - 1) // self.chunk * self.chunk
        return _logits(self._run(self._entries.prefill, tokens[last:], pos + last))

    def decode(self, token: int, pos: int) -> Logits:
        return _logits(self._run(self._entries.decode, [token], pos))

    def _run(self, entry: str, tokens: Sequence[int], pos: int) -> Any:
        if self._model.writes != self._writes:
            message = "the model's states are not this text's any more: it was called in between"
            raise refused(message, help="end one text before the next, or load the model twice")
        rows = np.tile(np.asarray(tokens, np.int32), (self._entries.rows, 1))
        result = self._model.run(entry, (rows, pos), {})
        self._writes = self._model.writes
        return result


def _logits(result: Any) -> Logits:
    """The first row [Vocab] in f64, of an array of whichever framework."""
    row: Any = result[0]
    if hasattr(row, "detach"):  # a tensor of PyTorch, whose bf16 NumPy does not know
        row = row.detach().double().cpu()
    return np.asarray(row).astype(np.float64)
