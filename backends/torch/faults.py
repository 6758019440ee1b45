"""What goes wrong in a run of generated source, in the words of the interpreter."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from linnet.backends.contract import RuntimeFault, no_index

GENERATED = "<linnet "
"""How the names of generated files begin."""

_BELOW = -(1 << 62)
"""Where `semantics.position` puts negative positions."""
_COMPILED = re.compile(r"index out of bounds: 0 <= \w+ < (\w+)")
"""What a kernel of TorchInductor says of a position; a negative one is counted from the end, or
is what `semantics.position` makes of it."""
_COMPILERS = ("torch._dynamo", "torch._inductor")
_BOUNDS = re.compile(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")


@contextmanager
def no_memory() -> Generator[None]:
    """What PyTorch says where there is no memory is what it is in Python."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise MemoryError(str(error)) from None
    except RuntimeError as error:
        if "can't allocate memory" in str(error):
            raise MemoryError(str(error)) from None
        raise


def called(function: Callable[..., Any], tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """What generated source gives. A position that PyTorch finds out of range is a fault, at the
    line of the source; no memory is what it is in Python."""
    try:
        with no_memory():
            found = function(*tensors)
    except IndexError as error:
        fault = out_of_range(error)
        fault.place = _place(error)
        raise fault from None
    except RuntimeError as error:
        fault = _of_compiled(error)
        if fault is None:
            raise
        raise fault from error
    if isinstance(found, Tensor):
        return (found,)
    return () if found is None else tuple(found)


def _of_compiled(error: RuntimeError) -> RuntimeFault | None:
    """The fault that an error of compiled source is, or of compiling it."""
    if type(error).__module__.startswith(_COMPILERS):
        return RuntimeFault(
            f"TorchInductor could not compile this, compile=True can do without: {error}", "E2190"
        )
    found = _COMPILED.search(str(error))
    if found is None:
        return None
    extent = found.group(1).removesuffix("L")
    of = f" of {extent} elements" if extent.isdecimal() else ""
    return RuntimeFault(f"an index is out of range for an axis{of}")


def out_of_range(error: IndexError) -> RuntimeFault:
    """The fault that a position is which PyTorch found out of range."""
    return _of_embedding(error) or _worded(str(error))


def _of_embedding(error: IndexError) -> RuntimeFault | None:
    """What an embedding could not look up, of which PyTorch tells neither position nor extent."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames or frames[-1].f_code is not F.embedding.__code__:
        return None
    at, extent = frames[-1].f_locals["input"], frames[-1].f_locals["weight"].shape[0]
    bad = at[(at < 0) | (at >= extent)]
    return no_index(int(bad[0]), 0, extent) if bad.numel() else None


def _worded(message: str) -> RuntimeFault:
    found = _BOUNDS.search(message)
    if found is None:
        return RuntimeFault(message)
    at, axis, extent = map(int, found.groups())
    return no_index(at | 1 << 62 if at < _BELOW else at, axis, extent)


def _place(error: BaseException) -> str | None:
    """The innermost line of generated source that a traceback has."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename.startswith(GENERATED)]
    if not own:
        return None
    return f"line {own[-1].lineno} of the generated source: {own[-1].line}"
