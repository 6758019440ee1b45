"""A model card: a folder with `nest.toml`, sources and bindings, read into a `Card`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Any, cast

from linnet.nest.card_keys import SOURCE, TEXT, check_keys
from linnet.packages.toml_file import TomlFile, read_toml
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import Span
from linnet.source.shown import shown
from linnet.source.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Weights:
    """Where a card's checkpoint is; `bindings` is absolute, None where paths are the names."""

    repo: str
    revision: str
    files: tuple[str, ...]
    bindings: Path | None
    tied: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A checked `nest.toml`. `directory` is the card's folder, `source` its root file."""

    directory: Path
    name: str
    title: str
    summary: str
    license: str
    family: str
    tags: tuple[str, ...]
    parameters: int
    links: dict[str, str]
    source: Path
    root: str
    entry: str
    generics: dict[str, int | str]
    check: dict[str, int]
    tiny: dict[str, int | str]
    weights: Weights
    toml: TomlFile

    def place(self, *keys: str | int) -> Span:
        """Where a key of `nest.toml` stands, or the nearest around it."""
        return self.toml.key(*keys)


def shipped_folder() -> Path | None:
    """The folder of the cards that come with Linnet; None if there is none."""
    spec = util.find_spec("linnet.models")
    if spec is not None and spec.submodule_search_locations:
        return Path(spec.submodule_search_locations[0])
    # A source checkout that is on the path without being installed.
    beside = Path(__file__).parents[2] / "models"
    return beside if beside.is_dir() else None


def list_cards() -> tuple[str, ...]:
    """The names of the shipped cards, sorted."""
    folder = shipped_folder()
    if folder is None:
        return ()
    return tuple(sorted(p.parent.name for p in folder.glob("*/nest.toml")))


def load_card(name_or_path: str | os.PathLike[str], sink: Sink) -> Card | None:
    """Read a shipped card by name, or the card in a folder; all its mistakes are E5001."""
    given = os.fspath(name_or_path)
    try:
        directory = _find(given, sink)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        sink.add(Diagnostic("E5001", f"the card {shown(given)} cannot be read: {reason}", None))
        return None
    file = read_toml(directory / "nest.toml", sink) if directory is not None else None
    if directory is None or file is None:
        return None
    before = sink.errors
    check_keys(file, sink)
    _check_files(directory, file, sink)
    return _card(directory, file) if sink.errors == before else None


def _find(given: str, sink: Sink) -> Path | None:
    shipped = shipped_folder()
    names = list_cards()
    if given in names and shipped is not None:
        return shipped / given
    path = Path(given)
    if path.name == "nest.toml" and path.is_file():
        return path.parent
    if (path / "nest.toml").is_file():
        return path
    if path.is_dir():
        message = f"the folder {given} holds no nest.toml, so it is no card"
        sink.add(Diagnostic("E5001", message, None))
        return None
    known = f"shipped cards: {', '.join(names)}" if names else "no cards are shipped"
    hint = did_you_mean(given, names) or "give a shipped card's name or the path of a card's folder"
    message = f"there is no card named {shown(given)}, and no folder of that path"
    sink.add(Diagnostic("E5001", message, None, notes=(known,), help=hint))
    return None


def _check_files(directory: Path, file: TomlFile, sink: Sink) -> None:
    """Report a name that is not the folder's, a source that is not there, a stray tiny generic."""
    name: Any = _table(file, "model").get("name")
    folder = directory.resolve().name
    if TEXT.accepts(name) and name != folder:
        message = f"the card's name {shown(name)} differs from its folder's, {shown(folder)}"
        hint = "give both the same name"
        sink.add(Diagnostic("E5001", message, file.value("model", "name"), help=hint))
    source: Any = _table(file, "source").get("path")
    if SOURCE.accepts(source) and not (directory / source).is_file():
        message = f"the source file {shown(source)} is not in the card's folder"
        sink.add(Diagnostic("E5001", message, file.value("source", "path")))
    generics = _table(file, "generics")
    for key in _table(file, "tiny"):
        if key not in generics:
            message = f"{shown(key)} in `[tiny]` is not among `[generics]`"
            hint = did_you_mean(key, generics)
            sink.add(Diagnostic("E5001", message, file.key("tiny", key), help=hint))


def _table(file: TomlFile, name: str) -> dict[str, Any]:
    """A table's values; empty if it is missing or something else, which is reported elsewhere."""
    value = file.values.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _card(directory: Path, file: TomlFile) -> Card:
    model, source, weights = (file.values[t] for t in ("model", "source", "weights"))
    bindings = directory / weights.get("bindings", "bindings.json")
    return Card(
        directory=directory,
        name=model["name"],
        title=model["title"],
        summary=model["summary"],
        license=model["license"],
        family=model["family"],
        tags=tuple(model.get("tags", ())),
        parameters=model["parameters"],
        links=file.values["links"],
        source=directory / source["path"],
        root=source["root"],
        entry=source["entry"],
        generics=file.values.get("generics", {}),
        check=file.values.get("check", {}),
        tiny=file.values.get("tiny", {}),
        weights=Weights(
            repo=weights["repo"],
            revision=weights["revision"],
            files=tuple(weights["files"]),
            bindings=bindings if "bindings" in weights or bindings.is_file() else None,
            tied=tuple(tuple(group) for group in weights.get("tied", ())),
        ),
        toml=file,
    )
