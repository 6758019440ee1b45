"""Kernels as operations that a compiler does not look into."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from linnet.backends.torch.kernels import opaque
from linnet.backends.torch.kernels.functions import experts as functions

ROWS, CHOSEN, EXPERTS, INNER, OUT = 3, 2, 4, 32, 5


def bytes_of(*shape: int, low: int = 0, high: int = 256) -> Tensor:
    made = torch.Generator().manual_seed(1)
    return torch.randint(low, high, shape, generator=made).to(torch.uint8)


def arguments(name: str, dtype: torch.dtype) -> list[Tensor]:
    made = torch.Generator().manual_seed(0)
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
    operation = opaque.as_operation(kernel)
    assert torch.equal(operation(*given), kernel(*given))
    checks = ("test_schema", "test_faketensor")
    torch.library.opcheck(operation, given, test_utils=checks)
    assert opaque.as_operation(kernel) is operation


def test_every_kernel_that_reads_on_the_host_is_there() -> None:
    """`by_expert` asks for numbers; its callers are those that generated source calls."""
    code = {n: f.__code__ for n, f in vars(functions).items() if hasattr(f, "__code__")}

    def reads(name: str, seen: tuple[str, ...] = ()) -> bool:
        named = [n for n in code[name].co_names if n in code and n not in seen]
        return "by_expert" in named or any(reads(n, (*seen, name)) for n in named)

    assert {n for n in code if reads(n)} == {k.__name__ for k in opaque.SHAPES}
