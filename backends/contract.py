"""What a backend is: what it is given to load, and what a loaded model does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from linnet.backends.kernels import Kernel, Tier
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.ir.core import Module
from linnet.ir.places import Place
from linnet.lower.module import AsWritten
from linnet.lower.outline import Outline


class RuntimeFault(Exception):  # noqa: N818, a fault is no error of this code
    """A run that the program's meaning forbids: an index out of range, a missing weight.

    `place` is filled in by the interpreter as the fault passes it.
    """

    def __init__(self, message: str, code: str = "E2209") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.place: Place | None = None


def no_index(index: int, axis: int, extent: int) -> RuntimeFault:
    """To be raised: an axis has no element of that number."""
    return RuntimeFault(f"index {index} is out of range for axis {axis} of {extent} elements")


@dataclass(frozen=True, slots=True)
class Stored:
    """A parameter, buffer or state of a bound model; `path` is dotted."""

    path: str
    shape: tuple[int, ...]
    dtype: DType


Given: TypeAlias = tuple[tuple[str, bool], ...]
"""Of the parameters of an entry that may be left out, those that were not: whether each is a
value, which is among the arguments, or `none`."""


@dataclass(frozen=True, slots=True)
class Sources:
    """A model as it is written. `lower`: as that of `Compiled`, each function over symbols for
    its own generics. `outline`: the blocks, and what the symbols of the root stand for."""

    lower: Callable[[str, Given], AsWritten]
    outline: Callable[[], tuple[Outline, Mapping[Symbol, Dim]]]


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a backend is given to load: entries by name, lowered when asked for, and data.

    `lower` takes an entry and which of its parameters are passed; what is not takes its default.
    `weights` are NumPy arrays by path, possibly memory-mapped; `states` begin at zero.
    `written` is for who generates source.
    """

    name: str
    entries: tuple[str, ...]
    lower: Callable[[str, Given], Module]
    weights: Mapping[str, Any]
    states: tuple[Stored, ...]
    written: Sources | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """An array of the backend's framework, of the dtype of an input: `call` gets it as it is."""

    array: Any


class Runtime(Protocol):
    """A loaded model as a backend runs it. `take` is asked for each tensor or scalar of an input:
    it gives what is `Taken`, a copy, or the value as something that NumPy makes an array of.
    `call` gets what was taken, else NumPy arrays, that fit the entry, and which of its parameters
    they are. `variants` counts what has been compiled for certain shapes,
    by the names of the parts that are compiled on their own."""

    @property
    def state(self) -> Mapping[str, Any]: ...

    @property
    def variants(self) -> Mapping[str, int]: ...

    def take(self, value: Any, dtype: DType) -> Taken | Any: ...

    def call(self, entry: str, arguments: Sequence[Any], given: Given = ()) -> tuple[Any, ...]: ...

    def reset_state(self) -> None: ...

    def source(self) -> str | None: ...


class Backend(Protocol):
    """`kernels` in order of preference. `kinds` are the kinds of device that they may be asked
    about, `cuda` of `cuda:1`, whether there is such a device here or not. `check` refuses a device
    or an option that it does not have, before any weight is read. `hand_out` is what the user gets
    for a loaded model (a `linnet.nest.Model`) and the runtime that it runs on: the model itself, or
    something of the framework that does as the model does."""

    @property
    def name(self) -> str: ...

    @property
    def kernels(self) -> Sequence[Kernel]: ...

    @property
    def kinds(self) -> Sequence[str]: ...

    def check(self, device: str | None, options: Mapping[str, Any]) -> None: ...

    def load(
        self, compiled: Compiled, *, numerics: Tier, device: str | None, **options: Any
    ) -> Runtime: ...

    def hand_out(self, model: Any, runtime: Any) -> Any: ...
