"""From what a user gives as weights to the checkpoint's files, none of them outside its folder."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from linnet.nest.card import Card
from linnet.nest.card_keys import is_inside
from linnet.nest.index import Index, read_index
from linnet.packages.absent import MISSING, absence
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.shown import reason, shown

_PICKLED = re.compile(r".+\.(?:pt|pth|bin|ckpt)(?:\.index\.json)?", re.IGNORECASE)
INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"


@dataclass(frozen=True, slots=True)
class Files:
    """A checkpoint's files, in order, and the index that named them, if one did.

    Not `whole`: some are missing or were refused, which is reported.
    """

    paths: tuple[Path, ...]
    index: Index | None = None
    whole: bool = True


def find_files(
    weights: Path, card: Card | None, sink: Sink, *, use_index: bool = True
) -> Files | None:
    """The files of a checkpoint.

    `weights` is a `.safetensors` file (opened as named), an index file, a
    folder with an index, a folder with the card's files, or one with a single
    `model.safetensors`. Each problem is an E5003.
    """
    try:
        return _find(weights, card, sink, use_index)
    except OSError as error:
        message = f"the weights {weights} cannot be read: {reason(error)}"
        sink.add(Diagnostic("E5003", message, None))
        return None


def pickled(name: str) -> bool:
    """Whether a file of this name is what `torch.save` writes, or an index of such files."""
    return _PICKLED.fullmatch(name) is not None


def conversion(name: str) -> str:
    """How a checkpoint of PyTorch becomes one that is read: unpickling it may run what it holds."""
    if name.lower().endswith(".index.json"):
        return "convert each of its files by `safetensors.torch.save_file`"
    read = f'torch.load("{name}", weights_only=True)'
    return f'convert it: `safetensors.torch.save_file({read}, "{SINGLE}")`'


def _find(weights: Path, card: Card | None, sink: Sink, use_index: bool) -> Files | None:
    if weights.is_file():
        old = pickled(weights.name)
        if weights.name.endswith(".index.json") and not old:
            return _from_index(weights, sink)
        if weights.suffix == ".safetensors":
            return Files((weights,))
        message = f"{weights} is neither a .safetensors file nor a folder of them"
        hint = conversion(weights.name) if old else None
        sink.add(Diagnostic("E5003", message, None, help=hint))
        return None
    if not weights.is_dir():
        why = absence(weights) or "is neither a file nor a folder"
        what = "does not exist" if why == MISSING else why
        message = f"there are no weights at {weights}: it {what}"
        hint = "give a .safetensors file or the folder that holds the checkpoint"
        sink.add(Diagnostic("E5003", message, None, help=hint))
        return None
    if use_index and _exists(weights / INDEX):
        return _from_index(weights / INDEX, sink)
    return _listed(weights, card, sink)


def _listed(weights: Path, card: Card | None, sink: Sink) -> Files | None:
    """The files of a folder without an index."""
    if card is not None and any(_exists(weights / f) for f in card.weights.files):
        return _inside(weights, card.weights.files, f"the card {card.name}", sink)
    if _exists(weights / SINGLE):
        return _inside(weights, (SINGLE,), "the folder", sink)
    if card is not None and not card.knows("weights", "files"):
        return _all_of(weights, sink)
    own = () if card is None else card.weights.files
    expected = dict.fromkeys((*own, INDEX, SINGLE))
    message = f"the folder {weights} holds no checkpoint"
    notes = (f"looked for {', '.join(expected)}",)
    others = sorted(p.name for p in weights.iterdir() if pickled(p.name))
    hint = conversion(others[0]) if others else None
    sink.add(Diagnostic("E5003", message, None, notes=notes, help=hint))
    return None


def _exists(path: Path) -> bool:
    """Whether there is something of that name; an `OSError` where that cannot be seen."""
    try:
        path.lstat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            return False
        raise
    return True


def _from_index(path: Path, sink: Sink) -> Files | None:
    if not is_allowed(path.parent, path):
        _refuse(path.parent, path.name, "is a link that leaves the folder", sink)
        return None
    index = read_index(path, sink)
    if index is None:
        return _all_of(path.parent, sink)
    files = _inside(path.parent, index.names(), path.name, sink, index)
    return files if not index.unclear else replace(files, whole=False)


def _all_of(folder: Path, sink: Sink) -> Files:
    """All checkpoint files of a folder, where what says which it needs is wrong."""
    names = sorted(p.name for p in folder.glob("*.safetensors"))
    return replace(_inside(folder, names, "the folder", sink), whole=False)


def _inside(
    folder: Path, names: Sequence[str], whose: str, sink: Sink, index: Index | None = None
) -> Files:
    """The named files of a folder; names that lead out of it are refused, absent files listed."""
    before = sink.errors
    files: list[Path] = []
    absent: list[str] = []
    for name in names:
        path = folder / name if is_inside(name) else None
        if path is None:
            _refuse(folder, name, "is no name of a file inside the folder", sink)
        elif (why := absence(path)) is not None:
            if why == MISSING:
                absent.append(name)
            else:
                message = f"{folder}: the checkpoint file {shown(name)} {why}"
                sink.add(Diagnostic("E5003", message, None))
        elif not is_allowed(folder, path):
            _refuse(folder, name, "is a link that leaves the folder", sink)
        else:
            files.append(path)
    if absent:
        _report_absent(folder, absent, len(names), whose, sink)
    return Files(tuple(files), index, sink.errors == before)


def _report_absent(folder: Path, absent: Iterable[str], total: int, whose: str, sink: Sink) -> None:
    names = [shown(n) for n in absent]
    files = "file" if total == 1 else "files"
    verb = "is" if len(names) == 1 else "are"
    message = f"{len(names)} of the {total} {files} of {whose} {verb} missing: {', '.join(names)}"
    hint = "the download may be incomplete: fetch the missing files, or give another folder"
    sink.add(Diagnostic("E5003", message, None, notes=(f"looked in {folder}",), help=hint))


def _refuse(folder: Path, name: str, why: str, sink: Sink) -> None:
    message = f"{folder}: the checkpoint file {shown(name)} {why}"
    notes = ("links may leave a folder only in a Hugging Face cache, into its own `blobs`",)
    notes = notes if "link" in why else ()
    sink.add(Diagnostic("E5003", f"{message}; it was not opened", None, notes=notes))


def is_allowed(folder: Path, path: Path) -> bool:
    """Whether the file, links followed, is inside the folder or in its own cache's blobs."""
    real = Path(os.path.realpath(path))
    root = Path(os.path.realpath(folder))
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
