"""Runs a kernel, and the body of its op on the reference interpreter, on the same arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from linnet.backends.base import CallSite, Kernel, Tier
from linnet.backends.code import Code, name
from linnet.backends.numpy.interpreter import run
from linnet.backends.selection import select
from linnet.check.program import Program
from linnet.dtypes import BY_NAME
from linnet.ir.core import Module
from linnet.lower.module import lower_function
from linnet.pipeline import check_paths
from tests.stdlib.conftest import DTYPES, NUMPY_DTYPES

torch: Any = pytest.importorskip("torch")

from linnet.backends.torch.dtypes import OF_TORCH  # noqa: E402
from linnet.backends.torch.kernels import KERNELS  # noqa: E402

Array = np.ndarray[Any, Any] | np.generic
Generic = int | tuple[int, ...] | str

# The most that one rounding to a dtype changes, relative to the value.
UNIT = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}
FLOATS = list(UNIT)
# The distance of the subnormal numbers of f16, each rounding's half of it on two sides; the other
# dtypes have smaller ones.
SMALLEST = 2.0**-24


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an op; the arrays by the op's own names."""

    module: Module
    site: CallSite
    arrays: Mapping[str, Array]

    def operands(self) -> list[Any]:
        """The operands of the op's function in order."""
        order = [(n, i) for n, i in self.site.signature.params if isinstance(i, int)]
        return [self.arrays[n] for n, _ in sorted(order, key=lambda pair: pair[1])]

    def body(self) -> list[Any]:
        """What the op's body gives."""
        with np.errstate(all="ignore"):
            return [np.asarray(r) for r in run(self.module, self.operands())]

    def kernel(self, named: str) -> Kernel:
        """The kernel of the op that is called so."""
        return kernel(self.site.op, named)

    def run(self, named: str) -> list[Any]:
        """What a kernel gives that applies here; it leaves its operands alone."""
        found = self.kernel(named)
        assert found.applies(self.site) is None
        tensors = [to_torch(x) for x in self.operands()]
        before = [bits(t) for t in tensors]
        results = evaluate(found.emit(self.site, names(tensors)), tensors)
        assert [bits(t) for t in tensors] == before
        self.shaped(results)
        if found.applies(replace(self.site, device="cuda")) is None:
            # Tensors without data: whatever a GPU would be waited for is an error.
            empty = [t.to("meta") for t in tensors]
            self.shaped(evaluate(found.emit(self.site, names(empty)), empty))
        numbers = found.number_operands(self.site)
        given = [t.item() if i in numbers else t for i, t in enumerate(tensors)]
        with_numbers = evaluate(found.emit(self.site, names(given)), given)
        assert [bits(r) for r in with_numbers] == [bits(r) for r in results]
        return [from_torch(r) for r in results]

    def prepared(self, named: str) -> list[Any]:
        """What a kernel gives that applies here with its work on some operands done first."""
        found = self.kernel(named)
        assert found.applies(self.site) is None and found.preparing is not None
        tensors = [to_torch(x) for x in self.operands()]
        (made,) = evaluate([found.preparing.emit(self.site, names(tensors))], tensors)
        # Nothing else than what was made stands for them.
        kept = [
            None if i in {self.site.argument(o) for o in found.preparing.operands} else t
            for i, t in enumerate(tensors)
        ]
        held = name(f"x{len(tensors)}")
        codes = found.preparing.emit_with(self.site, names(tensors), held)
        results = evaluate(codes, [*kept, made])
        self.shaped(results)
        return [from_torch(r) for r in results]

    def shaped(self, results: Sequence[Any]) -> None:
        """They have the shapes and dtypes of the op's results."""
        for got, type_ in zip(results, self.site.results, strict=True):
            assert tuple(got.shape) == tuple(d.as_int() for d in type_.shape)
            assert str(OF_TORCH[got.dtype]) == str(type_.dtype)

    def chosen(self, numerics: Tier, device: str = "cpu") -> str:
        """The name of the kernel that a policy takes."""
        return select(KERNELS, replace(self.site, device=device), numerics).chosen

    def refused(self, named: str, device: str = "cpu") -> str | None:
        """Why a kernel does not apply."""
        return self.kernel(named).applies(replace(self.site, device=device))


def kernel(op: str, named: str) -> Kernel:
    (found,) = (k for k in KERNELS if k.op == op and k.name == named)
    return found


def call(op: str, generics: Mapping[str, Generic], **arrays: Array) -> Call:
    """A call of `op`, `std.nn.linear::linear`, by the op's own names; an optional that is not
    among `arrays` is absent. Dtypes are written as the language names them."""
    program = library()
    bound = {n: BY_NAME[g] if isinstance(g, str) else g for n, g in generics.items()}
    given = {p.local.name: p.local.name in arrays for p in program.functions[op].params}
    module = lower_function(program, op, bound, given)
    function = module.functions[module.entry]
    assert function.op is not None
    params, results = (tuple(v.type for v in vs) for vs in (function.params, function.results))
    site = CallSite(function.op, function.name, "probe", params, results, None, 1)
    for type_, array in zip(params, Call(module, site, arrays).operands(), strict=True):
        assert str(type_.dtype) == DTYPES[array.dtype]
        assert all(d.as_int() in (None, n) for d, n in zip(type_.shape, array.shape, strict=True))
    return Call(module, site, arrays)


@cache
def library() -> Program:
    """The standard library, checked."""
    checked = check_paths([Path(__file__).parents[4] / "stdlib"])
    assert not list(checked.sink)
    return checked.program


def names(tensors: Sequence[Any]) -> list[Code]:
    return [name(f"x{i}") for i in range(len(tensors))]


def evaluate(codes: Sequence[Code], tensors: Sequence[Any]) -> list[Any]:
    """The values of expressions about `names(tensors)`; one may be a tuple for several results."""
    known = {"torch": torch, "F": torch.nn.functional}
    known |= {f"x{i}": t for i, t in enumerate(tensors)}
    values = [eval(c.text, known | {f.__name__: f for f in c.functions}) for c in codes]
    return list(values[0]) if len(values) == 1 and isinstance(values[0], tuple) else values


def to_torch(x: Array) -> Any:
    """A tensor of its own memory with the same bits; a scalar has no axes."""
    array = np.array(x, order="C")
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def from_torch(x: Any) -> np.ndarray[Any, Any]:
    if x.dtype == torch.bfloat16:
        return x.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return x.numpy()


def bits(x: Any) -> bytes:
    return from_torch(x).tobytes()


def draw(seed: int, shape: tuple[int, ...], dtype: str, scale: float = 1.0) -> Any:
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return values.astype(NUMPY_DTYPES[dtype])


def wide(x: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(x).astype(np.float64)


def summing(dtype: str) -> float:
    """The rounding of an accumulator: f32, or f64 in f64."""
    return min(UNIT[dtype], UNIT["f32"])


def same(got: Any, want: Any) -> None:
    """The same bits; any NaN is any other, whose bits no page defines."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    if got.dtype.kind not in "iub":
        assert np.array_equal(np.isnan(wide(got)), np.isnan(wide(want)))
        got, want = (np.where(np.isnan(wide(x)), x.dtype.type(0), x) for x in (got, want))
    assert got.tobytes() == want.tobytes()


def near(got: Any, want: Any, bound: Any) -> None:
    """Infinities and NaNs in the same places, else no further apart than `bound`, elementwise."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    a, b = wide(got), wide(want)
    finite = np.isfinite(b)
    assert np.array_equal(a[~finite], b[~finite], equal_nan=True)
    error = np.abs(np.where(finite, a, 0.0) - np.where(finite, b, 0.0))
    allowed = np.broadcast_to(bound, b.shape) + SMALLEST * (want.dtype == np.float16)
    assert (error[finite] <= allowed[finite]).all(), float((error - allowed)[finite].max())


def product_bound(dtype: str, want: Any, terms: Any, count: int, roundings: int = 1) -> Any:
    """How far two sums of `count` products of the size `terms` may be apart that each accumulate
    as `summing` says and round to the dtype so many times."""
    return 2.02 * roundings * UNIT[dtype] * np.abs(wide(want)) + 4 * count * summing(dtype) * terms


__all__ = [
    "FLOATS",
    "NUMPY_DTYPES",
    "UNIT",
    "Array",
    "Call",
    "bits",
    "call",
    "draw",
    "evaluate",
    "from_torch",
    "kernel",
    "names",
    "near",
    "product_bound",
    "same",
    "summing",
    "to_torch",
    "torch",
    "wide",
]
