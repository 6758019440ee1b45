"""The header of a `.safetensors` file, read without believing a number in it.

Layout: eight bytes of little-endian length, that many bytes of JSON, then the
tensors' data. Every length and offset is compared with the file's size before
it is used, so a lying file costs neither memory nor time.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from linnet.nest.strict_json import JsonError, parse_json
from linnet.nest.words import counted, kind, shape_text
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.shown import reason, shown

# The limit of the format's reference reader.
HEADER_LIMIT = 100_000_000
SIZE_LIMIT = 2**63 - 1

DTYPE_BITS: Mapping[str, int] = {
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "F8_E8M0": 8,
    "U16": 16,
    "I16": 16,
    "F16": 16,
    "BF16": 16,
    "U32": 32,
    "I32": 32,
    "F32": 32,
    "U64": 64,
    "I64": 64,
    "F64": 64,
    "C64": 64,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
}


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor as a header declares it; `start` and `end` are offsets in the file."""

    name: str
    file: Path
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def nbytes(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Header:
    """One file's tensors, in the order of its header, and its size when it was read.

    Where something is wrong, `sound` is false and `tensors` are those that may be right.
    """

    file: Path
    size: int
    tensors: tuple[TensorInfo, ...]
    metadata: dict[str, str]
    sound: bool = True


def read_header(path: Path, sink: Sink) -> Header | None:
    """Read one file's header, None if it cannot be; each thing wrong with it is an E5003."""
    return _Reader(path, sink).read()


class _MalformedError(Exception):
    """The header cannot be read any further; the message says why."""


class _Reader:
    def __init__(self, path: Path, sink: Sink) -> None:
        self.path = path
        self.sink = sink
        self.before = sink.errors

    def report(self, message: str, tensor: str | None = None, help: str | None = None) -> None:
        about = f"{self.path}: tensor {shown(tensor)}: " if tensor is not None else f"{self.path}: "
        self.sink.add(Diagnostic("E5003", about + message, None, help=help))

    def read(self) -> Header | None:
        try:
            length, size, text = self.header_bytes()
            entries = _parse(text)
        except OSError as error:
            self.report(f"cannot be read: {reason(error)}")
            return None
        except _MalformedError as error:
            self.report(str(error), help="the file is damaged, or its download is incomplete")
            return None
        metadata = self.metadata(entries)
        begin = 8 + length
        tensors = [self.tensor(n, e, begin, size) for n, e in entries.items()]
        sound = [t for t in tensors if t is not None]
        torn: set[str] = set()
        if len(sound) == len(tensors):
            torn = self.check_ranges(sound, begin, size)
        believed = tuple(t for t in sound if t.name not in torn)
        return Header(self.path, size, believed, metadata, self.sink.errors == self.before)

    def header_bytes(self) -> tuple[int, int, bytes]:
        # Opening a pipe would wait for its other end, so the kind of file comes first.
        if not stat.S_ISREG(self.path.stat().st_mode):
            raise _MalformedError("is not a file")
        with self.path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size < 8:
                few = f"{counted(size, 'byte')} {'is' if size == 1 else 'are'} too few"
                raise _MalformedError(f"{few} for the length of a header")
            length = int.from_bytes(file.read(8), "little")
            if length > size - 8:
                raise _MalformedError(
                    f"the header should have {counted(length, 'byte')}, but "
                    f"only {size - 8} follow{'s' if size == 9 else ''} its length"
                )
            if length > HEADER_LIMIT:
                raise _MalformedError(
                    f"a header of {length} bytes is above the limit of {HEADER_LIMIT}"
                )
            text = file.read(length)
            if len(text) != length:
                raise _MalformedError("the file became shorter while it was read")
            return length, size, text

    def metadata(self, entries: dict[str, Any]) -> dict[str, str]:
        given = entries.pop("__metadata__", {})
        if not isinstance(given, dict) or not all(
            isinstance(v, str) for v in cast("dict[str, Any]", given).values()
        ):
            self.report("`__metadata__` must map texts to texts")
            return {}
        return cast("dict[str, str]", given)

    def tensor(self, name: str, entry: Any, begin: int, size: int) -> TensorInfo | None:
        problem = _entry_problem(entry)
        if problem is None:
            problem = _size_problem(entry, size - begin)
        if problem is not None:
            self.report(problem, name)
            return None
        start, end = entry["data_offsets"]
        shape = tuple(entry["shape"])
        return TensorInfo(name, self.path, entry["dtype"], shape, begin + start, begin + end)

    def check_ranges(self, tensors: list[TensorInfo], begin: int, size: int) -> set[str]:
        """The ranges must follow each other without a gap and cover all data. Returns the tensors
        that contradict each other, by the bytes that both claim."""
        torn: set[str] = set()
        ordered = sorted(tensors, key=lambda t: (t.start, t.end))
        if ordered and ordered[0].start > begin:
            gap = ordered[0].start - begin
            self.report(_lost(gap, "before its data"), ordered[0].name)
        for one, two in pairwise(ordered):
            if two.start < one.end:
                lie = f"its bytes {_range(two, begin)} overlap {_range(one, begin)}"
                self.report(f"{lie} of {shown(one.name)}", two.name)
                torn.update((one.name, two.name))
            elif two.start > one.end:
                where = f"between it and {shown(one.name)}"
                self.report(_lost(two.start - one.end, where), two.name)
        last = max((t.end for t in tensors), default=begin)
        if last < size:
            after = f" {shown(ordered[-1].name)}" if ordered else " the header"
            self.report(_lost(size - last, f"after the end of{after}"))
        return torn


def _lost(count: int, where: str) -> str:
    return f"{counted(count, 'byte')} {where} {'belongs' if count == 1 else 'belong'} to no tensor"


def _range(tensor: TensorInfo, begin: int) -> str:
    return shape_text((tensor.start - begin, tensor.end - begin))


def _parse(text: bytes) -> dict[str, Any]:
    if not text.startswith(b"{"):
        raise _MalformedError("the header does not begin with `{`")
    try:
        return cast("dict[str, Any]", parse_json(text, "the header"))
    except JsonError as error:
        raise _MalformedError(str(error)) from None


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _entry_problem(entry: Any) -> str | None:
    """What keeps an entry from being `{"dtype", "shape", "data_offsets"}` of the right kinds."""
    if not isinstance(entry, dict):
        return f"its entry must be an object, not {kind(entry)}"
    values = cast("dict[str, Any]", entry)
    missing = [k for k in ("dtype", "shape", "data_offsets") if k not in values]
    if missing:
        return f"its entry lacks {' and '.join(f'`{k}`' for k in missing)}"
    dtype, shape, offsets = values["dtype"], values["shape"], values["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        return f"unknown dtype {shown(dtype) if isinstance(dtype, str) else kind(dtype)}"
    if not _is_list(shape) or not all(_is_size(d) for d in shape):
        return f"its shape {_short(shape)} must be a list of integers from 0"
    if not _is_list(offsets) or len(offsets) != 2 or not all(_is_size(o) for o in offsets):
        return f"its data_offsets {_short(offsets)} must be two integers from 0"
    return None


def _size_problem(entry: dict[str, Any], data: int) -> str | None:
    """What is wrong with offsets and shape, `data` being the bytes that follow the header."""
    start, end = entry["data_offsets"]
    offsets = _short([start, end])
    if end < start:
        return f"its data_offsets {offsets} end before they start"
    if end > data:
        return (
            f"its data_offsets {offsets} leave the file, which has {counted(data, 'byte')} of data"
        )
    dtype, shape = entry["dtype"], entry["shape"]
    bits = DTYPE_BITS[dtype]
    for dim in shape:
        # Beyond this no array can be formed; stopping early keeps the product small.
        bits *= dim or 1
        if bits > 8 * SIZE_LIMIT:
            return f"the shape {_short(shape)} of {dtype} is too large for any file"
    if 0 in shape:
        bits = 0
    if bits != 8 * (end - start):
        needed = counted(bits // 8, "byte") if bits % 8 == 0 else counted(bits, "bit")
        return f"{_short(shape)} of {dtype} needs {needed}, its data_offsets {offsets} hold" + (
            f" {end - start}"
        )
    return None


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _short(value: Any) -> str:
    """A JSON value on one short line."""
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
