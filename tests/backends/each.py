"""Programs on each backend that runs the IR: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from linnet.backends.base import Compiled, Runtime, get_backend
from linnet.backends.numpy import interpreter as numpy_interpreter
from linnet.backends.numpy.dtypes import NUMPY
from linnet.dtypes import DType
from linnet.ir.core import Module

Array = np.ndarray[Any, Any]

_TORCH = find_spec("torch") is not None
if _TORCH:
    import torch

    # The tensors are small: two threads that wait for one another, on processors that do other
    # work besides, take ten times as long as one.
    torch.set_num_threads(1)
_NEEDED = pytest.mark.skipif(not _TORCH, reason="torch is not installed")
BACKENDS = ["numpy", *(pytest.param(b, marks=_NEEDED) for b in ("torch", "torch-source"))]
"""For `pytest.mark.parametrize("backend", BACKENDS)`: the reference, and PyTorch operation by
operation and as generated source."""

HERE = ["numpy", "torch", "torch-source"] if _TORCH else ["numpy"]
"""For tests that run on all at once."""


def run(backend: str, module: Module, args: Sequence[Any], **named: Any) -> list[Array]:
    """What `module` gives, run once; `state` is replaced as in the reference."""
    if backend == "numpy":
        return numpy_interpreter.run(module, args, **named)
    if backend == "torch-source":
        return _run_source(module, args, **named)
    from linnet.backends.torch import interpreter
    from linnet.backends.torch.arrays import of_numpy

    state: MutableMapping[str, Array] = named.pop("state", None) or {}
    held = {path: of_numpy(np.asarray(x)) for path, x in state.items()}
    if named.get("weights"):
        named["weights"] = {path: of_numpy(x) for path, x in named["weights"].items()}
    tensors = [of_numpy(np.asarray(a)) for a in args]
    results = interpreter.run(module, tensors, state=held, **named)
    state.update((path, to_numpy(x)) for path, x in held.items())
    return [to_numpy(r) for r in results]


def _run_source(
    module: Module, args: Sequence[Any], state: MutableMapping[str, Any] | None = None, **named: Any
) -> list[Array]:
    from tests.backends import written

    results = written.run(module, args, held := dict(state or {}), **named)
    if state is not None:
        state.update((path, to_numpy(x)) for path, x in held.items())
    return [to_numpy(r) for r in results]


def load(backend: str, compiled: Compiled) -> Runtime:
    """A runtime of one of `BACKENDS`, which says of PyTorch whether source is generated."""
    name, _, source = backend.partition("-")
    options = {"compile": source == "source"} if name == "torch" else {}
    return get_backend(name).load(compiled, numerics="exact", device=None, **options)


def to_numpy(x: Any) -> Array:
    """An array, or a tensor of PyTorch, as an array of the same dtype."""
    if isinstance(x, np.ndarray):
        return x
    if x.dtype == torch.bfloat16:
        return x.cpu().contiguous().view(torch.int16).numpy().view(NUMPY[DType.BF16])
    return x.cpu().numpy()
