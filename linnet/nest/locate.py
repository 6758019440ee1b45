"""From what a user gives as weights to the checkpoint's files, none of them outside its folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from linnet.nest.card import Card
from linnet.nest.card_keys import is_inside
from linnet.nest.words import kind, shown
from linnet.source.diagnostics import Diagnostic, Sink

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"


def find_files(
    weights: Path, card: Card | None, sink: Sink, *, use_index: bool = True
) -> tuple[Path, ...] | None:
    """The files of a checkpoint, in order.

    `weights` is a `.safetensors` file (opened as named), an index file, a
    folder with an index, a folder with the card's files, or one with a single
    `model.safetensors`. Each problem is an E5003.
    """
    try:
        return _find(weights, card, sink, use_index)
    except OSError as error:
        message = f"the weights {weights} cannot be read: {(error.strerror or str(error)).lower()}"
        sink.add(Diagnostic("E5003", message, None))
        return None


def _find(weights: Path, card: Card | None, sink: Sink, use_index: bool) -> tuple[Path, ...] | None:
    if weights.is_file():
        if weights.name.endswith(".index.json"):
            return _from_index(weights, sink)
        if weights.suffix == ".safetensors":
            return (weights,)
        message = f"{weights} is neither a .safetensors file nor a folder of them"
        sink.add(Diagnostic("E5003", message, None))
        return None
    if not weights.is_dir():
        what = "is neither a file nor a folder" if weights.exists() else "does not exist"
        hint = "give a .safetensors file or the folder that holds the checkpoint"
        sink.add(Diagnostic("E5003", f"the weights {weights}: {what}", None, help=hint))
        return None
    if use_index and _exists(weights / INDEX):
        return _from_index(weights / INDEX, sink)
    if card is not None and any(_exists(weights / f) for f in card.weights.files):
        return _inside(weights, card.weights.files, f"of the card {card.name}", sink)
    if _exists(weights / SINGLE):
        return _inside(weights, (SINGLE,), "of the folder", sink)
    expected = [INDEX, SINGLE] if card is None else [*card.weights.files, INDEX, SINGLE]
    message = f"the folder {weights} holds no checkpoint"
    notes = (f"looked for {', '.join(expected)}",)
    sink.add(Diagnostic("E5003", message, None, notes=notes))
    return None


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _from_index(index: Path, sink: Sink) -> tuple[Path, ...] | None:
    names = _shard_names(index, sink)
    return None if names is None else _inside(index.parent, names, f"of {index.name}", sink)


def _shard_names(index: Path, sink: Sink) -> list[str] | None:
    """The file names of an index's `weight_map`, each once, in order of their names."""
    if not _allowed(index.parent, index):
        _refuse(index.parent, index.name, "is a link that leaves the folder", sink)
        return None
    try:
        value: Any = json.loads(index.read_bytes().decode("utf-8"))
    except OSError as error:
        message = f"{index}: cannot be read: {(error.strerror or str(error)).lower()}"
        sink.add(Diagnostic("E5003", message, None))
        return None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        sink.add(Diagnostic("E5003", f"{index}: is no JSON: {reason}", None))
        return None
    table = cast("dict[str, Any]", value).get("weight_map") if isinstance(value, dict) else None
    if not isinstance(table, dict) or not table:
        message = f"{index}: has no `weight_map` from tensor names to file names"
        sink.add(Diagnostic("E5003", message, None))
        return None
    shards = cast("dict[str, Any]", table)
    wrong = [(t, f) for t, f in shards.items() if not isinstance(f, str)]
    for tensor, file in wrong:
        message = f"{index}: tensor {shown(tensor)} must have a file's name, not {kind(file)}"
        sink.add(Diagnostic("E5003", message, None))
    return None if wrong else sorted(set(cast("dict[str, str]", shards).values()))


def _inside(folder: Path, names: Sequence[str], whose: str, sink: Sink) -> tuple[Path, ...] | None:
    """The named files of a folder; names that lead out of it are refused, absent files listed."""
    before = sink.errors
    files: list[Path] = []
    absent: list[str] = []
    for name in names:
        path = folder / name if is_inside(name) else None
        if path is None:
            _refuse(folder, name, "is no name of a file inside the folder", sink)
        elif not path.exists():
            absent.append(name)
        elif not _allowed(folder, path):
            _refuse(folder, name, "is a link that leaves the folder", sink)
        else:
            files.append(path)
    if absent:
        _report_absent(folder, absent, len(names), whose, sink)
    return tuple(files) if sink.errors == before else None


def _report_absent(folder: Path, absent: Iterable[str], total: int, whose: str, sink: Sink) -> None:
    names = [shown(n) for n in absent]
    files = "file" if total == 1 else "files"
    verb = "is" if len(names) == 1 else "are"
    message = f"{len(names)} of the {total} {files} {whose} {verb} missing: {', '.join(names)}"
    hint = "the download may be incomplete: fetch the missing files, or give another folder"
    sink.add(Diagnostic("E5003", message, None, notes=(f"looked in {folder}",), help=hint))


def _refuse(folder: Path, name: str, why: str, sink: Sink) -> None:
    message = f"{folder}: the checkpoint file {shown(name)} {why}"
    notes = ("links may leave a folder only in a Hugging Face cache, into its own `blobs`",)
    notes = notes if "link" in why else ()
    sink.add(Diagnostic("E5003", f"{message}; it was not opened", None, notes=notes))


def _allowed(folder: Path, path: Path) -> bool:
    """Whether the file, links followed, is inside the folder or in its own cache's blobs."""
    real = path.resolve()
    root = folder.resolve()
    if real.is_relative_to(root):
        return True
    blobs = cache_blobs(root)
    return blobs is not None and real.parent == blobs


def cache_blobs(folder: Path) -> Path | None:
    """The `blobs` folder of the cache that a snapshot folder belongs to, None outside a cache.

    The layout is `models--owner--name/snapshots/<revision>/...` beside
    `models--owner--name/blobs/<hash>`.
    """
    for place in (folder, *folder.parents):
        repository = place.parent.parent
        if place.parent.name == "snapshots" and repository.name.startswith("models--"):
            return repository / "blobs"
    return None
