"""A call of a library op: its body on the reference interpreter, and a kernel of Triton for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from linnet.backends.base import CallSite, Kernel, call_sites
from linnet.backends.code import name
from linnet.backends.numpy.interpreter import run
from linnet.backends.torch.kernels.triton import KERNELS
from linnet.ir.core import Module
from linnet.lower.module import lower_function
from linnet.pipeline import check_paths
from tests.stdlib.conftest import DTYPES, NUMPY_DTYPES, tensor_type

pytest.importorskip("triton", reason="triton is not installed")

Array = NDArray[np.generic]

UNIT = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}
"""The most that a rounding changes, relative to the value."""
SMALLEST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149}
"""The distance of subnormal numbers."""


@dataclass(frozen=True)
class Call:
    """A call of an op, `site`, in a module; `arrays` are its operands."""

    module: Module
    site: CallSite
    arrays: tuple[Array, ...]

    def body(self) -> Array:
        (value,) = run(replace(self.module, entry=self.site.callee), list(self.arrays))
        return np.asarray(value)

    def kernel(self, name_: str) -> Array:
        """The result of the kernel with this name, as its generated call gives it."""
        names = [f"a{i}" for i in range(len(self.arrays))]
        (code,) = kernel(name_).emit(self.site, [name(n) for n in names])
        scope: dict[str, Any] = {f.__name__: f for f in code.functions}
        scope |= {n: tensor(a) for n, a in zip(names, self.arrays, strict=True)}
        return array(eval(code.text, {"torch": torch}, scope))


def kernel(name_: str) -> Kernel:
    (found,) = (k for k in KERNELS if k.name == f"triton.{name_}")
    return found


def tensor(x: Array) -> torch.Tensor:
    if x.dtype == NUMPY_DTYPES["bf16"]:
        return torch.from_numpy(x.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(np.array(x))


def array(x: torch.Tensor) -> Array:
    if x.dtype == torch.bfloat16:
        return x.view(torch.int16).numpy().view(NUMPY_DTYPES["bf16"])
    return x.numpy()


def call(directory: Path, op: str, result: str, generics: str = "", **operands: Array) -> Call:
    """`call(tmp_path, "std.quant::mxfp4_experts", "Tensor[..]", x=.., ..)`, by the op's own
    parameters, in order."""
    module_, _, function = op.partition("::")
    parameters = ", ".join(
        f"{key}: {tensor_type(x.shape, DTYPES[x.dtype]) if x.shape else DTYPES[x.dtype]}"
        for key, x in operands.items()
    )
    source = (
        f"module probe\n\nuse {module_}::{{{function}}}\n\n"
        f"pub entry probe({parameters}) -> {result} {{\n"
        f"    return {function}{generics}({', '.join(operands)})\n}}\n"
    )
    module = _lowered(directory, source)
    (site,) = (s for s in call_sites(module, "cuda") if s.op == op and s.caller == module.entry)
    return Call(module, site, tuple(operands.values()))


@cache
def _lowered(directory: Path, source: str) -> Module:
    file = directory / "probe.linnet"
    file.write_text(source)
    checked = check_paths([file])
    assert not list(checked.sink)
    return lower_function(checked.program, "probe::probe")


def wide(x: Array) -> NDArray[np.float64]:
    return x.astype(np.float64)


def near(got: Array, want: Array, bound: NDArray[np.float64]) -> None:
    """Finite values within `bound`, the others the same."""
    assert got.shape == want.shape and got.dtype == want.dtype
    finite = np.isfinite(wide(want))
    np.testing.assert_array_equal(wide(got)[~finite], wide(want)[~finite])
    with np.errstate(invalid="ignore"):
        error = np.abs(wide(got) - wide(want))
    assert (error <= bound)[finite].all(), f"{error[finite].max()} of {bound[finite].max()}"


def same_bits(got: Array, want: Array) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.tobytes() == want.tobytes()
