"""A model card: a folder with `nest.toml`, sources and bindings, read into a `Card`."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from importlib import util
from pathlib import Path
from typing import Any, cast

from linnet.nest.card_keys import FOLDER, SOURCE, TABLES, TEXT, check_keys
from linnet.packages.absent import MISSING, absence
from linnet.packages.library import in_library
from linnet.packages.manifest import MANIFEST
from linnet.packages.text import is_file, real
from linnet.packages.text import shown as shown_path
from linnet.packages.toml_file import Key, TomlFile, read_toml
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import Span
from linnet.source.shown import reason, shown
from linnet.source.suggest import did_you_mean

CARD = "nest.toml"


@dataclass(frozen=True, slots=True)
class Weights:
    """Where a card's checkpoint is; `bindings` is absolute, None where paths are the names.

    Without `repo` and `revision` it is in the card's folder and nowhere else.
    """

    repo: str
    revision: str
    files: tuple[str, ...]
    bindings: Path | None
    tied: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A checked `nest.toml`. `directory` is the card's folder, `source` its root file, which may
    be in the folder of another package.

    Where something is wrong with a value it is left out or empty, and `knows` says so.
    """

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
    generate: dict[str, Any]
    weights: Weights
    toml: TomlFile = field(repr=False)
    unknown: frozenset[Key] = frozenset()

    def knows(self, table: str, key: str | None = None) -> bool:
        """Whether nothing is wrong with the value of a key, or with the table as such."""
        return not self.unknown & {(table,), (table, key)}

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


def shipped_card(name: str) -> Path | None:
    """The folder of the shipped card of that name, if there is one."""
    folder = shipped_folder()
    if folder is None or name not in list_cards():
        return None
    return Path(shown_path(folder / name))


def card_path(given: str | os.PathLike[str]) -> Path:
    """What a user means: a text that is a shipped card's name is that card, whatever folder has
    the same name, and anything else is a path. A path object is one always: it has lost the
    `./` that would tell it from a name."""
    shipped = shipped_card(given) if isinstance(given, str) else None
    return Path(given) if shipped is None else shipped


def list_cards() -> tuple[str, ...]:
    """The names of the shipped cards, sorted."""
    folder = shipped_folder()
    if folder is None:
        return ()
    return tuple(sorted(p.parent.name for p in folder.glob(f"*/{CARD}")))


@dataclass(frozen=True, slots=True)
class Draft:
    """A card as far as it could be read, so that what is wrong with it hides nothing else.

    `card` is None if its `nest.toml` is no TOML. `source` is what there is to be checked.
    """

    directory: Path
    source: Path | None
    card: Card | None = None


def load_card(name_or_path: str | os.PathLike[str], sink: Sink) -> Card | None:
    """Read a shipped card by name, or the card in a folder; all its mistakes are E5001."""
    before = sink.errors
    draft = draft_card(name_or_path, sink)
    if draft is None or draft.card is None:
        return None
    check_tiny_names(draft.card, sink)
    return draft.card if sink.errors == before else None


def draft_card(name_or_path: str | os.PathLike[str], sink: Sink) -> Draft | None:
    """What can be read of a card; None if there is none. All its mistakes are E5001."""
    try:
        directory = _find(name_or_path, sink)
    except OSError as error:
        given = shown(os.fspath(name_or_path))
        sink.add(Diagnostic("E5001", f"the card {given} cannot be read: {reason(error)}", None))
        return None
    if directory is None:
        return None
    file = read_toml(directory / CARD, sink)
    if file is None:
        return Draft(directory, _package(directory))
    wrong = check_keys(file, sink)
    wrong |= _check_files(directory, file, sink)
    card = _card(directory, file, frozenset(wrong))
    source = card.source if card.knows("source", "path") else _package(directory)
    return Draft(directory, source, card)


def check_tiny_names(card: Card, sink: Sink, missing: Container[str] = ()) -> None:
    """Report what `[tiny]` has and `[generics]` has not, but for names that are reported as
    `missing` there."""
    if not card.knows("generics"):
        return
    table = _table(card.toml, "generics")
    for key in _table(card.toml, "tiny"):
        if key not in table and key not in missing:
            message = f"{shown(key)} in `[tiny]` is not among `[generics]`"
            hint = did_you_mean(key, table)
            sink.add(Diagnostic("E5001", message, card.toml.key("tiny", key), help=hint))


def _find(name_or_path: str | os.PathLike[str], sink: Sink) -> Path | None:
    path = card_path(name_or_path)
    if path.name == CARD and path.is_file():
        return path.parent
    if (path / CARD).is_file():
        return path
    if path.is_dir():
        message = f"the folder {os.fspath(name_or_path)} holds no nest.toml, so it is no card"
        if os.path.lexists(path / CARD):
            message = f"the nest.toml of {os.fspath(name_or_path)} {_why(path / 'nest.toml')}"
        sink.add(Diagnostic("E5001", message, None))
        return None
    if path.suffix == ".linnet" and path.is_file():
        _report_source(path, os.fspath(name_or_path), sink)
        return None
    given, names = os.fspath(name_or_path), list_cards()
    known = f"shipped cards: {', '.join(names)}" if names else "no cards are shipped"
    hint = did_you_mean(given, names) or _item(given)
    hint = hint or "give a shipped card's name or the path of a card's folder"
    message = f"there is no card named {shown(given)}, and no folder of that path"
    sink.add(Diagnostic("E5001", message, None, notes=(known,), help=hint))
    return None


def _item(given: str) -> str | None:
    """What to say of an item of the library where a card was to be named."""
    use = in_library(given)
    return None if use is None else f"{shown(given)} is part of a program: {use}"


def _report_source(path: Path, given: str, sink: Sink) -> None:
    """A file of a program alone does not say which sizes it is to be run with."""
    message = f"{shown(given)} is a source file, and what runs is a card"
    note = (
        "a card is a folder with a nest.toml, which names an entry and gives the generics numbers"
    )
    name = path.stem if path.stem.isidentifier() else "NAME"
    hint = f"`linnet init {name}` makes one, with a program in {name}/src to put yours in"
    sink.add(Diagnostic("E5001", message, None, notes=(note,), help=hint))


def _why(path: Path) -> str:
    return absence(path) or "is no file"


def _package(directory: Path) -> Path | None:
    return directory if is_file(directory / MANIFEST) else None


def bindings_path(directory: Path, weights: Mapping[str, Any]) -> Path | None:
    """The file of bindings that the table `[weights]` names, else `bindings.json` if there is
    one."""
    path = directory / weights.get("bindings", "bindings.json")
    return path if "bindings" in weights or os.path.lexists(path) else None


def _check_files(directory: Path, file: TomlFile, sink: Sink) -> set[Key]:
    """Report a name that is not the folder's, and a source that is not there.

    Returns what is not known for that.
    """
    name: Any = _table(file, "model").get("name")
    folder = real(directory).name
    if TEXT.accepts(name) and name != folder:
        message = f"the card's name {shown(name)} differs from its folder's, {shown(folder)}"
        hint = "give both the same name"
        sink.add(Diagnostic("E5001", message, file.value("model", "name"), help=hint))
    return _check_source(directory, file, sink)


def _check_source(directory: Path, file: TomlFile, sink: Sink) -> set[Key]:
    """Report a package or a source that is not there; returns what is not known for that."""
    table = _table(file, "source")
    source: Any = table.get("path")
    package: Any = table.get("package")
    if package is not None:
        if not FOLDER.accepts(package):
            return {("source", "path")}
        if not is_file(directory / package / MANIFEST):
            message = f"no package at {shown(package)}: there is no {MANIFEST} in that folder"
            sink.add(Diagnostic("E5001", message, file.value("source", "package")))
            return {("source", "path"), ("source", "package")}
    folder = package_of(directory, table)
    if SOURCE.accepts(source) and _is_absent(folder / source):
        why = _why(folder / source)
        holder = "the card's folder" if package is None else f"the package {shown(package)}"
        what = f"is not in {holder}" if why == MISSING else why
        message = f"the source file {shown(source)} {what}"
        sink.add(Diagnostic("E5001", message, file.value("source", "path")))
        return {("source", "path")}
    return set()


def sources_of(directory: Path) -> Path:
    """Where the sources of the card in a folder are: in the package that it names, else there.
    What is wrong with its `nest.toml` is left to whoever reads the card."""
    file = read_toml(directory / CARD, Sink())
    table = {} if file is None else _table(file, "source")
    if not FOLDER.accepts(table.get("package")):
        return directory
    package = package_of(directory, table)
    return package if is_file(package / MANIFEST) else directory


def package_of(directory: Path, source: Mapping[str, Any]) -> Path:
    """The folder of the package that the table `[source]` of a card's `nest.toml` names, the
    card's own without one."""
    if "package" not in source:
        return directory
    return Path(shown_path(real(directory / source["package"])))


def _is_absent(source: Path) -> bool:
    """Whether there is no such source. A link that leads nowhere is one that cannot be read, which
    the check of the sources says."""
    return not is_file(source) and (os.path.isdir(source) or not os.path.lexists(source))


def _table(file: TomlFile, name: str) -> dict[str, Any]:
    """A table's values; empty if it is missing or something else, which is reported elsewhere."""
    value = file.values.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _card(directory: Path, file: TomlFile, wrong: frozenset[Key]) -> Card:
    """The card of a file, without the values that are not known for what is `wrong`."""
    tables = {
        table: {k: v for k, v in _table(file, table).items() if (table, k) not in wrong}
        for table in TABLES
    }
    model, source, weights = tables["model"], tables["source"], tables["weights"]
    return Card(
        directory=directory,
        name=model.get("name", directory.name),
        title=model.get("title", ""),
        summary=model.get("summary", ""),
        license=model.get("license", ""),
        family=model.get("family", ""),
        tags=tuple(model.get("tags", ())),
        parameters=model.get("parameters", 0),
        links=tables["links"],
        source=package_of(directory, source) / source.get("path", ""),
        root=source.get("root", ""),
        entry=source.get("entry", ""),
        generics=tables["generics"],
        check=tables["check"],
        tiny=tables["tiny"],
        generate=tables["generate"],
        weights=Weights(
            repo=weights.get("repo", ""),
            revision=weights.get("revision", ""),
            files=tuple(weights.get("files", ())),
            bindings=bindings_path(directory, weights),
            tied=tuple(tuple(group) for group in weights.get("tied", ())),
        ),
        toml=file,
        unknown=wrong,
    )
