"""The files that say how a model's tokens are text: `tokenizer.json` and those beside it.

Each is looked for in the card's folder, then where the checkpoint is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from linnet.nest.card import Card
from linnet.nest.card_keys import TOKENS, is_integer
from linnet.nest.hub import download_beside, snapshot_folder
from linnet.nest.locate import is_allowed
from linnet.nest.strict_json import JsonError, parse_json
from linnet.packages.text import is_file
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.shown import reason

TOKENIZER = "tokenizer.json"
CONFIG = "tokenizer_config.json"
TEMPLATE = "chat_template.jinja"
GENERATION = "generation_config.json"
NAMES = (TOKENIZER, CONFIG, TEMPLATE, GENERATION)


@dataclass(frozen=True, slots=True)
class Origin:
    """What a model was loaded from: the `weights` and `offline` that `nest.load` was given."""

    weights: str | os.PathLike[str] | None
    offline: bool | None


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file that was found."""

    path: Path
    text: str

    def json(self) -> Mapping[str, Any]:
        """Its object."""
        try:
            found = parse_json(self.text.encode("utf-8"), "it")
        except JsonError as error:
            raise malformed(self.path, str(error)) from None
        if not isinstance(found, dict):
            raise malformed(self.path, "it holds no object")
        return cast("dict[str, Any]", found)


class TextFiles:
    """The files of one model; `chosen`, a file or folder, is where its tokenizer is instead."""

    def __init__(self, card: Card, origin: Origin, chosen: Path | None = None) -> None:
        self._card = card
        self._origin = origin
        self._tokenizer = chosen if chosen is not None and chosen.is_file() else None
        if chosen is None:
            self._folders = _folders(card, origin.weights)
        else:
            self._folders = [chosen.parent if chosen.is_file() else chosen]

    def tokenizer(self) -> TextFile | None:
        """`tokenizer.json`; downloaded with those beside it where the checkpoint is."""
        if self._tokenizer is not None:
            return _read(self._tokenizer)
        return self.find(TOKENIZER)

    def find(self, name: str) -> TextFile | None:
        """A file of this name, if there is one."""
        for folder in self._folders:
            path = folder / name
            if is_file(path):
                if not is_allowed(folder, path):
                    raise malformed(path, "it is a link that leaves the folder")
                return _read(path)
        return None

    def fetch(self) -> str | None:
        """Download the files that the checkpoint has beside its own; why not, where that is
        known."""
        if self._origin.weights is not None or self._tokenizer is not None:
            return None
        if not self._card.weights.repo:
            return None
        why = download_beside(self._card, NAMES, offline=self._origin.offline)
        self._folders = _folders(self._card, None)
        return why

    def missing(self, why: str | None) -> LinnetError:
        """A report of where no tokenizer was found, and `why` none was downloaded."""
        card = self._card
        looked = ", ".join(str(folder) for folder in self._folders)
        notes = [f"looked for {TOKENIZER} in {looked}"]
        if why is not None:
            notes.append(f"{card.weights.repo} was not asked for it: {why}")
        hint = f"put the {TOKENIZER} of the checkpoint there, give its folder as `tokenizer`, or "
        hint += "give the prompt as numbers of tokens"
        message = f"`{card.name}` has no tokenizer, so text cannot become tokens"
        return LinnetError([Diagnostic("E5005", message, None, notes=tuple(notes), help=hint)])

    def eos(self) -> frozenset[int]:
        """The tokens that end a text: the card's, else those of the checkpoint's settings."""
        if "eos" in self._card.generate:
            return frozenset(self._card.generate["eos"])
        file = self.find(GENERATION)
        if file is None:
            return frozenset()
        value = file.json().get("eos_token_id")
        found: Any = [value] if is_integer(value) else [] if value is None else value
        if not TOKENS.accepts(found):
            raise malformed(file.path, f"its `eos_token_id` is no token and not {TOKENS.wanted}")
        return frozenset(found)

    def template(self) -> tuple[TextFile, str] | None:
        """The chat template and the file that it is in: one of its own, or an entry of
        `tokenizer_config.json`."""
        own = self.find(TEMPLATE)
        if own is not None:
            return own, own.text
        config = self.find(CONFIG)
        if config is None:
            return None
        value = config.json().get("chat_template")
        if isinstance(value, list):
            value = _default(cast("list[Any]", value))
        if value is not None and not isinstance(value, str):
            raise malformed(config.path, "its `chat_template` is no text")
        return None if value is None else (config, value)

    def words(self) -> dict[str, str]:
        """The texts of special tokens by the names that templates know: `bos_token` and so on."""
        config = self.find(CONFIG)
        found: dict[str, str] = {}
        for name, value in config.json().items() if config is not None else ():
            if isinstance(value, dict):
                value = cast("dict[str, Any]", value).get("content")
            if name.endswith("_token") and isinstance(value, str):
                found[name] = value
        return found

    def no_template(self) -> LinnetError:
        """A report that messages have no form."""
        looked = ", ".join(str(folder) for folder in self._folders)
        notes = (f"looked for {TEMPLATE}, and `chat_template` in {CONFIG}, in {looked}",)
        hint = "give the prompt as one text in the form that the model was trained on"
        message = f"`{self._card.name}` has no chat template, so messages have no form"
        return LinnetError([Diagnostic("E5005", message, None, notes=notes, help=hint)])


def _default(templates: list[Any]) -> Any:
    """The one called `default` of a list of named templates."""
    for entry in templates:
        named = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        if named.get("name") == "default":
            return named.get("template")
    return None


def malformed(path: Path, why: str) -> LinnetError:
    """A report of a file."""
    return LinnetError([Diagnostic("E5003", f"{path}: {why}", None)])


def _read(path: Path) -> TextFile:
    try:
        return TextFile(path, path.read_text("utf-8"))
    except UnicodeDecodeError as error:
        raise malformed(path, f"it is not UTF-8: byte {error.start}") from None
    except OSError as error:
        raise malformed(path, f"it cannot be read: {reason(error)}") from None


def _folders(card: Card, weights: str | os.PathLike[str] | None) -> list[Path]:
    """The card's folder, and where the checkpoint is; of random weights, where the card's own may
    be."""
    own: Path | None = None
    if weights is None or weights == "random":
        own = snapshot_folder(card)
    else:
        given = Path(weights)
        own = given if given.is_dir() else given.parent
    return [card.directory] if own is None else [card.directory, own]
