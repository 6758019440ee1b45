"""A checkpoint: the headers of all its files, and its tensors as views of mapped memory."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from linnet.backends.numpy.dtypes import OF_NUMPY, cast
from linnet.nest.header import Header, TensorInfo, read_header
from linnet.nest.index import Index, compare
from linnet.nest.locate import Files
from linnet.nest.words import counted
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError
from linnet.source.shown import reason, shown

Array: TypeAlias = NDArray[Any]

# The 8-bit floats stay bytes: no operation of the language computes in them.
ARRAY_DTYPES: Mapping[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "F8_E4M3": np.dtype(np.uint8),
    "F8_E5M2": np.dtype(np.uint8),
    "F8_E8M0": np.dtype(np.uint8),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
    "C64": np.dtype("<c8"),
}

# How much of a tensor is converted between two returns of its pages to the system.
CHUNK = 4 << 20


@dataclass(slots=True)
class Checkpoint:
    """What the headers say. Nothing is mapped before the first `array`.

    `whole`: all its files are there and sound, so that a tensor that is not in `tensors` is none.
    Else `index`, which was read, tells what the others should hold.
    """

    headers: tuple[Header, ...]
    tensors: dict[str, TensorInfo]
    whole: bool = True
    index: Index | None = None
    _maps: dict[Path, mmap.mmap] = field(default_factory=dict[Path, mmap.mmap], repr=False)

    @property
    def nbytes(self) -> int:
        """The bytes of all tensors."""
        return sum(t.nbytes for t in self.tensors.values())

    def lacks(self, name: str) -> bool:
        """Whether no file has the tensor, those that could not be read among them."""
        if name in self.tensors:
            return False
        return self.whole or (self.index is not None and not self.index.lists(name))

    def array(self, info: TensorInfo) -> Array:
        """A read-only view of the tensor in the mapped file.

        It is a copy only where the file puts the tensor at an address that its
        dtype does not allow.
        """
        dtype = _array_dtype(info)
        if info.nbytes == 0:
            flat = np.empty(0, dtype)
        else:
            count = info.nbytes // dtype.itemsize
            # `ml_dtypes` types are no buffer formats, so bytes are viewed as them.
            view = np.frombuffer(self._map(info), np.uint8, info.nbytes, info.start)
            aligned = info.start % dtype.itemsize == 0
            flat = (view if aligned else view.copy()).view(dtype)[:count]
        result = flat.reshape(info.shape)
        result.flags.writeable = False
        return result

    def converted(self, info: TensorInfo, dtype: np.dtype[Any]) -> Array:
        """The tensor in another dtype, rounded to nearest even, as an array of its own.

        The mapped pages are given back on the way, so that the tensor is not held twice.
        """
        source = self.array(info).reshape(-1)
        result = np.empty(source.size, dtype)
        step = max(1, CHUNK // source.itemsize)
        for start in range(0, source.size, step):
            part = source[start : start + step]
            result[start : start + step] = cast(part, OF_NUMPY[dtype])
            at = info.start + start * source.itemsize
            self._give_back(info, at, at + part.nbytes)
        result.flags.writeable = False
        return result.reshape(info.shape)

    def release(self, info: TensorInfo) -> None:
        """Give the tensor's mapped pages back; a later use of a view reads them again."""
        self._give_back(info, info.start, info.end)

    def _give_back(self, info: TensorInfo, start: int, end: int) -> None:
        page = mmap.PAGESIZE
        first = start // page * page
        if info.file in self._maps and end > first and hasattr(mmap, "MADV_DONTNEED"):
            self._maps[info.file].madvise(mmap.MADV_DONTNEED, first, end - first)

    def _map(self, info: TensorInfo) -> mmap.mmap:
        if info.file not in self._maps:
            expected = next(h.size for h in self.headers if h.file == info.file)
            try:
                with info.file.open("rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    if size != expected:
                        now = f"has {counted(size, 'byte')} now, {expected} when checked"
                        message = f"{info.file}: {now}"
                        raise LinnetError([Diagnostic("E5003", message, None)])
                    self._maps[info.file] = _private(file.fileno())
            except OSError as error:
                message = f"{info.file}: cannot be read: {reason(error)}"
                raise LinnetError([Diagnostic("E5003", message, None)]) from None
        return self._maps[info.file]


def _private(file: int) -> mmap.mmap:
    """A map whose pages become copies where a framework writes, as `load_state_dict` does: the file
    stays as it is. No memory is set aside for copies that are never made."""
    if sys.platform != "win32":
        unreserved: int = getattr(mmap, "MAP_NORESERVE", 0)
        flags, access = mmap.MAP_PRIVATE | unreserved, mmap.PROT_READ | mmap.PROT_WRITE
        return mmap.mmap(file, 0, flags=flags, prot=access)
    return mmap.mmap(file, 0, access=mmap.ACCESS_COPY)


def _array_dtype(info: TensorInfo) -> np.dtype[Any]:
    if info.dtype not in ARRAY_DTYPES:
        message = f"{info.file}: tensor {shown(info.name)}: {info.dtype} has no array dtype"
        raise LinnetError([Diagnostic("E5002", message, None)])
    return ARRAY_DTYPES[info.dtype]


def read_headers(files: Files, sink: Sink) -> Checkpoint:
    """Read the headers of a checkpoint's files, as far as they can be.

    A broken file, or one that differs from the index, is E5003; a tensor that two files
    hold is E5002.
    """
    headers: list[Header] = []
    tensors: dict[str, TensorInfo] = {}
    for path in files.paths:
        header = read_header(path, sink)
        if header is None:
            continue
        headers.append(header)
        for tensor in header.tensors:
            first = tensors.setdefault(tensor.name, tensor)
            if first is not tensor:
                message = f"tensor {shown(tensor.name)} is in two files"
                notes = (f"in {first.file}", f"in {tensor.file}")
                sink.add(Diagnostic("E5002", message, None, notes=notes))
    sound = len(headers) == len(files.paths) and all(h.sound for h in headers)
    whole = files.whole and sound
    if files.index is not None:
        whole = compare(files.index, headers, whole, sink) and whole
    return Checkpoint(tuple(headers), tensors, whole, files.index)
