"""A checkpoint's index, the file that says which file holds which tensor, and the check of it.

Index and headers say the same thing twice. Where they differ, the files are of different
downloads: the shapes may well fit, and the values would be those of a mixture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from linnet.nest.header import Header
from linnet.nest.report import Kind, Problems
from linnet.nest.strict_json import JsonError, parse_json
from linnet.nest.words import kind
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import read_file
from linnet.source.shown import reason, shown

MISPLACED = Kind(
    "a tensor is in another file than the index says",
    "{} tensors are in other files than the index says",
)
ABSENT = Kind("a tensor of the index is in no file", "{} tensors of the index are in no file")
UNLISTED = Kind("the index lacks a tensor", "the index lacks {} tensors")
KINDS = (MISPLACED, ABSENT, UNLISTED)
WAY_OUT = "index and files are of different downloads: fetch all of them again"


@dataclass(frozen=True, slots=True)
class Index:
    """The `weight_map` of the index at `path`: the file's name for each tensor. `unclear` are the
    tensors that have something else there."""

    path: Path
    files: Mapping[str, str]
    unclear: frozenset[str] = frozenset()

    def lists(self, tensor: str) -> bool:
        return tensor in self.files or tensor in self.unclear

    def names(self) -> list[str]:
        """The files, each once, in order of their names."""
        return sorted({*self.files.values()})


def read_index(path: Path, sink: Sink) -> Index | None:
    """Read an index, None if it cannot be; what is wrong with it is an E5003."""
    try:
        value = parse_json(read_file(path), "the index")
    except OSError as error:
        message = f"{path}: cannot be read: {reason(error)}"
        sink.add(Diagnostic("E5003", message, None))
        return None
    except JsonError as error:
        sink.add(Diagnostic("E5003", f"{path}: {error}", None))
        return None
    if not _is_table(value):
        message = f"{path}: the index must be an object, not {kind(value)}"
        sink.add(Diagnostic("E5003", message, None))
        return None
    table: Any = cast("dict[str, Any]", value).get("weight_map")
    if not _is_table(table) or not table:
        message = f"{path}: has no `weight_map` from tensor names to file names"
        sink.add(Diagnostic("E5003", message, None))
        return None
    files = cast("dict[str, Any]", table)
    wrong = [(tensor, file) for tensor, file in files.items() if not isinstance(file, str)]
    for tensor, file in wrong:
        message = f"{path}: tensor {shown(tensor)} must have a file's name, not {kind(file)}"
        sink.add(Diagnostic("E5003", message, None))
    unclear = frozenset(tensor for tensor, _ in wrong)
    return Index(path, {t: f for t, f in files.items() if t not in unclear}, unclear)


def compare(index: Index, headers: Sequence[Header], whole: bool, sink: Sink) -> bool:
    """Report (E5003) where the index and its files differ; whether all its tensors are there.

    Unless the headers are `whole`, a tensor may be in a file that could not be read; of such a
    file the index may say what it likes.
    """
    places: dict[str, list[Path]] = {}
    for header in headers:
        for tensor in header.tensors:
            places.setdefault(tensor.name, []).append(header.file)
    read = {header.file for header in headers}
    problems = Problems(KINDS, "E5003", f"{index.path}: ", WAY_OUT)
    for name, said in index.files.items():
        there = places.get(name)
        place = index.path.parent / said
        if there is None and whole:
            problems.add(ABSENT, f"{shown(name)}, said to be in {shown(said)}", None)
        elif there is not None and len(there) == 1 and there[0] != place and place in read:
            found = shown(there[0].relative_to(index.path.parent).as_posix())
            problems.add(MISPLACED, f"{shown(name)} is in {found}, not in {shown(said)}", None)
    for name, there in places.items():
        if not index.lists(name):
            found = shown(there[0].relative_to(index.path.parent).as_posix())
            problems.add(UNLISTED, f"{shown(name)} in {found}", None)
    for finding in problems.diagnostics():
        sink.add(finding)
    return ABSENT not in problems.found


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)
