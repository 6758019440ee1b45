"""Kernels as operations that a compiler does not look into."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from linnet.backends.torch.kernels import functions, opaque

SCALE = torch.tensor(0.25)
ROWS, CHOSEN, EXPERTS, INNER, OUT = 3, 2, 4, 32, 5


def bytes_of(*shape: int, low: int = 0, high: int = 256) -> Tensor:
    made = torch.Generator().manual_seed(1)
    return torch.randint(low, high, shape, generator=made).to(torch.uint8)


def arguments(name: str, dtype: torch.dtype) -> list[Tensor]:
    made = torch.Generator().manual_seed(0)
    if "attention" in name:
        # The heads of a query are beside one another in memory, as a projection leaves them.
        query = torch.randn(ROWS, OUT, 4, 8, generator=made).to(dtype).transpose(1, 2)
        key, value = (torch.randn(ROWS, 2, 6, 8, generator=made).to(dtype) for _ in range(2))
        mask = torch.rand(ROWS, OUT, 6, generator=made) < 0.5
        return [query, key, value, torch.randn(4, generator=made).to(dtype), SCALE, mask]
    weight = [torch.randn(EXPERTS, OUT, INNER, generator=made).to(dtype)]
    if name.startswith("mxfp4"):
        packed = bytes_of(EXPERTS, OUT, 1, 16)
        weight = [packed, bytes_of(EXPERTS, OUT, 1, low=120, high=130)]
    x = torch.randn(ROWS, CHOSEN, INNER, generator=made).to(dtype)
    chosen = torch.tensor([[0, 3], [1, 0], [2, 3]])
    shares = [torch.rand(ROWS, CHOSEN, generator=made)] if "combine" in name else []
    return [x, *weight, chosen, *shares]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kernel", opaque.SHAPES, ids=lambda k: k.__name__)
def test_the_operation_is_the_kernel_and_its_shape_is_foretold(
    kernel: Any, dtype: torch.dtype
) -> None:
    given = arguments(kernel.__name__, dtype)
    operation = opaque.operation(kernel)
    assert torch.equal(operation(*given), kernel(*given))
    checks = ("test_schema", "test_faketensor")
    torch.library.opcheck(operation, given, test_utils=checks)
    assert opaque.operation(kernel) is operation
    # Generated source has a scalar that it knows as a number.
    known = [0.25 if g is SCALE else g for g in given]
    assert torch.equal(opaque.as_operation(kernel)(*known), kernel(*known))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("absent", ["no key", "no key is seen", "no query"])
def test_attention_to_nothing_has_the_shape_that_is_foretold(
    absent: str, dtype: torch.dtype
) -> None:
    for kernel in (k for k in opaque.SHAPES if "attention" in k.__name__):
        query, key, value, sinks, scale, mask = arguments(kernel.__name__, dtype)
        if absent == "no key":
            key, value, mask = key[:, :, :0], value[:, :, :0], mask[:, :, :0]
        elif absent == "no query":
            query, mask = query[:, :, :0], mask[:, :0]
        else:
            mask = torch.zeros_like(mask)
        given = query, key, value, sinks, scale, mask
        assert not kernel(*given).any()
        torch.library.opcheck(opaque.operation(kernel), given, test_utils=("test_faketensor",))


READS = {"item", "nonzero", "tolist", "unique"}
"""Methods whose result, or its shape, is what a tensor holds."""


def every_function() -> Iterator[Any]:
    """Those that kernels call and that generated source may."""
    for found in pkgutil.iter_modules(functions.__path__, functions.__name__ + "."):
        for value in vars(importlib.import_module(found.name)).values():
            if hasattr(value, "__code__") and value.__module__ == found.name:
                yield value


def test_every_kernel_that_reads_on_the_host_is_there() -> None:
    """`by_expert` takes a function: its callers are those that generated source calls."""
    code = {f.__name__: f.__code__ for f in every_function()}
    assert len(code) > 40

    def reads(name: str, seen: tuple[str, ...] = ()) -> bool:
        names = code[name].co_names
        called = [n for n in names if n in code and n not in seen]
        return bool(READS & {*names}) or any(reads(n, (*seen, name)) for n in called)

    assert {n for n in code if reads(n)} - {"by_expert"} == {k.__name__ for k in opaque.SHAPES}
