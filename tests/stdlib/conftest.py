"""Runs an expression of the language on arrays, for the tests of the standard library."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from linnet.backends.base import Compiled
from linnet.backends.contract import Sources
from linnet.lower.module import lower_function, lower_function_as_written
from linnet.pipeline import check_paths
from tests.backends.each import BACKENDS, load, to_numpy
from tests.backends.written import NO_BLOCK

FOLDER = Path(__file__).parent
Array = NDArray[np.generic]

DTYPES = {
    np.dtype(np.bool_): "bool",
    np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.uint8): "u8",
    np.dtype(np.uint16): "u16",
    np.dtype(np.uint32): "u32",
    np.dtype(np.uint64): "u64",
    np.dtype(np.float16): "f16",
    np.dtype(ml_dtypes.bfloat16): "bf16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
}
NUMPY_DTYPES = {name: dtype for dtype, name in DTYPES.items()}


class Run(Protocol):
    def __call__(
        self, use: str, expression: str, result: str, **inputs: Array | np.generic
    ) -> Array: ...


class RunAll(Protocol):
    def __call__(
        self, use: str, expression: str, result: str, **inputs: Array | np.generic
    ) -> tuple[Array, ...]: ...


def tensor_type(shape: tuple[int, ...], dtype: str) -> str:
    """`Tensor[2, 3; f32]`."""
    return f"Tensor[{', '.join(map(str, shape))}; {dtype}]"


def source_of(use: str, expression: str, result: str, inputs: dict[str, Array | np.generic]) -> str:
    """A module whose entry `probe` takes the inputs and returns the expression."""
    parameters = ", ".join(
        f"{name}: {tensor_type(x.shape, DTYPES[x.dtype]) if x.shape else DTYPES[x.dtype]}"
        for name, x in inputs.items()
    )
    return (
        f"module probe\n\nuse {use}\n\n"
        f"pub entry probe({parameters}) -> {result} {{\n    return {expression}\n}}\n"
    )


@lru_cache(maxsize=64)
def compiled(source: str) -> Compiled:
    """The checked and lowered entry of `source`, which tests of several backends share."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "probe.linnet"
        file.write_text(source)
        result = check_paths([file])
    assert not list(result.sink)
    key = "probe::probe"
    module = lower_function(result.program, key)
    sources = Sources(
        lambda _entry, _given: lower_function_as_written(result.program, key),
        lambda: (NO_BLOCK, {}),
    )
    return Compiled("probe", ("probe",), lambda _entry, _given: module, {}, (), sources)


@pytest.fixture(params=BACKENDS)
def run_all(request: pytest.FixtureRequest) -> RunAll:
    """As `run`, for an expression that is a tuple: all of its values."""

    def call(
        use: str, expression: str, result: str, **inputs: Array | np.generic
    ) -> tuple[Array, ...]:
        program = compiled(source_of(use, expression, result, inputs))
        values = load(request.param, program).call(
            "probe", [np.asarray(x) for x in inputs.values()]
        )
        return tuple(map(to_numpy, values))

    return call


@pytest.fixture
def run(run_all: RunAll) -> Run:
    """`run("std.nn.linear::{linear}", "linear(x, w)", "Tensor[3, 7; f32]", x=.., w=..)`."""

    def call(use: str, expression: str, result: str, **inputs: Array | np.generic) -> Array:
        (value,) = run_all(use, expression, result, **inputs)
        return value

    return call


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What differs in the backend alone is run one after the other: the program is checked once."""
    mine = [item for item in items if FOLDER in item.path.parents]
    places = iter([k for k, item in enumerate(items) if FOLDER in item.path.parents])
    first: dict[str, int] = {}
    for k, item in enumerate(mine):
        first.setdefault(_without_backend(item), k)
    for item in sorted(mine, key=lambda item: first[_without_backend(item)]):
        items[next(places)] = item


def _without_backend(item: pytest.Item) -> str:
    return re.sub(r"\[(numpy|torch-source|torch)\b", "[", item.nodeid)
