"""A card's own checkpoint: from its folder, from the Hugging Face cache, or downloaded into it."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from linnet.nest.card import Card
from linnet.nest.locate import Files, find_files
from linnet.source.diagnostics import Diagnostic, Sink


def default_files(card: Card, sink: Sink, *, offline: bool | None = None) -> Files | None:
    """The checkpoint's files: those in the card's folder, else those at its pinned revision.

    A complete copy in the cache is used without asking the network. `offline`
    forbids the network; None leaves that to `HF_HUB_OFFLINE`.
    """
    if is_beside(card):
        return _in_order(card.directory, card, sink)
    if not card.weights.repo:
        return _not_beside(card, sink)
    folder = snapshot_folder(card)
    if folder is not None and _is_complete(folder, card):
        return _in_order(folder, card, sink)
    barrier = _barrier(offline)
    if barrier is not None:
        return _nowhere(card, *barrier, sink)
    return _download(card, sink)


def download_beside(card: Card, names: Sequence[str], *, offline: bool | None) -> str | None:
    """Download files that lie beside the card's checkpoint into the cache, the first of which it
    must have; why that was not done."""
    barrier = _barrier(offline)
    if barrier is not None:
        return barrier[0].removeprefix("and ")
    hub: Any = import_module("huggingface_hub")
    weights = card.weights
    for name in names:
        try:
            hub.hf_hub_download(
                weights.repo, name, revision=weights.revision, cache_dir=cache_folder()
            )
        except Exception as error:
            if name == names[0]:
                return _reason(error)
    return None


def _barrier(offline: bool | None) -> tuple[str, str] | None:
    """Why nothing can be downloaded, and how the way out begins; None if it can."""
    if offline is None:
        offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    if offline:
        return "and the network is not to be used", "give"
    if find_spec("huggingface_hub") is None:
        why = "and the package huggingface_hub, which downloads, is not installed"
        return why, "install it with `pip install 'linnet[hub]'`, or give"
    if not _has_network():
        return "and there is no network to download it", "give"
    return None


def is_beside(card: Card) -> bool:
    """Whether the whole checkpoint is in the card's folder."""
    return _is_complete(card.directory, card)


def _is_complete(folder: Path, card: Card) -> bool:
    try:
        return all((folder / f).exists() for f in card.weights.files)
    except OSError:
        return False


def cache_folder() -> Path:
    """Where Hugging Face keeps its files, by its own environment variables."""
    if os.environ.get("HF_HUB_CACHE"):
        return _expanded(os.environ["HF_HUB_CACHE"])
    default = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return _expanded(os.environ.get("HF_HOME") or default) / "hub"


def _expanded(path: str | Path) -> Path:
    # Unlike the method of a path, this leaves a `~` that means nobody as it is.
    return Path(os.path.expanduser(path))


def snapshot_folder(card: Card) -> Path | None:
    """The cache's folder for the card's revision, if there is one."""
    weights = card.weights
    if not weights.repo:
        return None
    repository = cache_folder() / f"models--{weights.repo.replace('/', '--')}"
    folder = repository / "snapshots" / weights.revision
    return folder if os.path.isdir(folder) else None


def _in_order(folder: Path, card: Card, sink: Sink) -> Files | None:
    # The snapshot may hold an index as well; the card's own list is the pinned one.
    return find_files(folder, card, sink, use_index=False)


def _has_network() -> bool:
    """Whether the hub's name can be looked up; the package's own attempts take half a minute."""
    try:
        host = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co")).hostname
    except ValueError:
        host = None  # the package will say what is wrong with it
    if getproxies() or host is None:
        return True
    try:
        socket.getaddrinfo(host, 443)
    except OSError:
        return False
    return True


def _download(card: Card, sink: Sink) -> Files | None:
    # Of the `hub` extra: imported only where something is downloaded, untyped where absent.
    hub: Any = import_module("huggingface_hub")
    weights = card.weights
    folder: Path | None = None
    for name in weights.files:
        try:
            found = hub.hf_hub_download(
                weights.repo, name, revision=weights.revision, cache_dir=cache_folder()
            )
        # The package's errors have no common base, and none is a fault of this program.
        except Exception as error:
            why = f"and `{name}` could not be downloaded: {_reason(error)}"
            return _nowhere(card, why, "give", sink)
        folder = Path(found)
        for _ in Path(name).parts:
            folder = folder.parent
    return _in_order(folder, card, sink) if folder is not None else None


def _not_beside(card: Card, sink: Sink) -> None:
    message = f"the checkpoint of {card.name} is not in the card's folder"
    lacking = [f for f in card.weights.files if not os.path.exists(card.directory / f)]
    notes = (f"{card.directory} lacks {', '.join(lacking)}",)
    hint = (
        f"put it there, give its folder as `weights`, or {_without(card)}; a checkpoint that is "
        "published is found by `repo` and `revision`"
    )
    sink.add(
        Diagnostic("E5003", message, card.toml.value("weights", "files"), notes=notes, help=hint)
    )


def _without(card: Card) -> str:
    """How a card is run without its checkpoint: small, where it says how."""
    if "tiny" in card.toml.values:
        return "`tiny=True`, its small variant with random weights"
    return '`weights="random"`'


def _reason(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _nowhere(card: Card, why: str, begin: str, sink: Sink) -> None:
    weights = card.weights
    message = f"the checkpoint of {card.name} is not in the cache, {why}"
    notes = (
        f"looked in {cache_folder()} for {weights.repo} at revision {weights.revision}",
        f"its files are {', '.join(weights.files)}",
    )
    hint = f"{begin} a folder that holds the files as `weights`, or {_without(card)}"
    place = card.toml.value("weights", "repo")
    sink.add(Diagnostic("E5003", message, place, notes=notes, help=hint))
