"""A call of a library op: its body on the reference interpreter, and a kernel of Triton for it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from linnet.backends.base import CallSite, Kernel, call_sites
from linnet.backends.code import name
from linnet.backends.numpy.interpreter import run
from linnet.backends.torch.kernels.triton import KERNELS
from linnet.backends.torch.kernels.triton.launch import interpreted
from linnet.ir.core import Module
from linnet.lower.module import lower_function
from linnet.pipeline import check_paths
from tests.stdlib.conftest import NUMPY_DTYPES

pytest.importorskip("triton", reason="triton is not installed")
assert interpreted() == (os.environ["TRITON_INTERPRET"] == "1"), "triton was imported too early"

Array = NDArray[np.generic]

DEVICE = os.environ.get("LINNET_TEST_DEVICE", "cpu")
"""Where the kernels run: in Triton's interpreter, or on `cuda`."""
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
        return torch.from_numpy(x.view(np.int16).copy()).view(torch.bfloat16).to(DEVICE)
    return torch.from_numpy(np.array(x)).to(DEVICE)


def array(x: torch.Tensor) -> Array:
    if x.dtype == torch.bfloat16:
        return x.view(torch.int16).cpu().numpy().view(NUMPY_DTYPES["bf16"])
    return x.cpu().numpy()


_EXPERTS = "R: Dim, K: Dim, E: Dim, Out: Dim, G: Dim"
_PACKED = "blocks: Tensor[E, Out, G, 16; u8], scales: Tensor[E, Out, G; u8]"
_CHOICE = "experts: Tensor[R, K; i64]"
SIGNATURES = {
    "std.quant::dequantize_mxfp4": (
        "E: Dim, Out: Dim, G: Dim",
        _PACKED,
        "Tensor[E, Out, G * 32; T]",
    ),
    "std.quant::mxfp4_experts": (
        _EXPERTS,
        f"x: Tensor[R, K, G * 32; T], {_PACKED}, {_CHOICE}",
        "Tensor[R, K, Out; T]",
    ),
    "std.quant::mxfp4_experts_shared": (
        _EXPERTS,
        f"x: Tensor[R, 1, G * 32; T], {_PACKED}, {_CHOICE}",
        "Tensor[R, K, Out; T]",
    ),
    "std.quant::mxfp4_linear_experts_shared": (
        _EXPERTS,
        f"x: Tensor[R, G * 32; T], {_PACKED}, {_CHOICE}",
        "Tensor[R, K, Out; T]",
    ),
    "std.quant::mxfp4_combine_experts": (
        _EXPERTS,
        f"x: Tensor[R, K, G * 32; T], {_PACKED}, {_CHOICE}, weights: Tensor[R, K; T]",
        "Tensor[R, Out; T]",
    ),
    "std.nn.attention::sink_attention": (
        "B: Dim, Hk: Dim, N: Dim, Q: Dim, K: Dim, D: Dim",
        "query: Tensor[B, Hk * N, Q, D; T], key: Tensor[B, Hk, K, D; T],"
        " value: Tensor[B, Hk, K, D; T], sinks: Tensor[Hk * N; T], scale: f32,"
        " mask: Tensor[B, Q, K; bool]",
        "Tensor[B, Hk * N, Q, D; T]",
    ),
}
"""Generics, parameters and the result of an entry that calls the op, at any size."""


def call(op: str, dtype: str, **operands: Array) -> Call:
    """A call of `op` with its own parameters, in order."""
    module, site = _lowered(op, dtype)
    return Call(module, site, tuple(operands.values()))


@cache
def _lowered(op: str, dtype: str) -> tuple[Module, CallSite]:
    generics, parameters, result = SIGNATURES[op]
    path, _, function = op.partition("::")
    where = "where Hk > 0\n" if "Hk" in generics else ""
    explicit = f"<E, Out, G, {dtype}>" if function == "dequantize_mxfp4" else ""
    given = ", ".join(re.findall(r"(\w+): (?:Tensor|f32)", parameters))
    source = (
        f"module probe\n\nuse {path}::{{{function}}}\n\n"
        f"pub entry probe<{generics}>({parameters}) -> {result}\n{where}{{\n"
        f"    return {function}{explicit}({given})\n}}\n"
    ).replace("; T]", f"; {dtype}]")
    with TemporaryDirectory() as directory:
        file = Path(directory) / "probe.linnet"
        file.write_text(source)
        checked = check_paths([file])
    assert not list(checked.sink), source
    module = lower_function(checked.program, "probe::probe")
    (site,) = (s for s in call_sites(module, "cuda") if s.op == op and s.caller == module.entry)
    return module, site


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
