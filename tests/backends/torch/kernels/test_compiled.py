"""What kernels call can be traced whole by `torch.compile`, for sizes that are not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from linnet.backends.torch.kernels.functions import attention, cache, decoding, experts, norm, rope
from tests.backends.torch.kernels.harness import torch


def attending(rows: int, keys: int) -> tuple[Any, ...]:
    query, key = torch.randn(2, 4, rows, 8), torch.randn(2, 2, keys, 8)
    mask = torch.rand(2, rows, keys) < 0.5
    return query, key, key + 1, torch.randn(4), torch.tensor(0.3), mask


def writing(kind: str) -> Callable[[int, int], tuple[Any, ...]]:
    def arguments(rows: int, size: int) -> tuple[Any, ...]:
        value = torch.randn(1 if kind in ("slot", "tokens") else 3, 2, rows, 4)
        at = torch.tensor(size - 2, dtype=torch.int32)
        number = torch.tensor([0, 2, 2], dtype=torch.int32)
        places = {"span": (at,), "slot": (number[1], at), "slots": (number, at)}
        some = torch.randint(-1, 4, (2, rows), dtype=torch.int32).unbind()
        return torch.randn(3, 2, size, 4), value, *places.get(kind, some)

    return arguments


def packed(rows: int, groups: int) -> tuple[Any, ...]:
    blocks = torch.randint(0, 256, (rows, groups, 16), dtype=torch.uint8)
    return blocks, torch.randint(0, 255, (rows, groups), dtype=torch.uint8), torch.bfloat16


CASES: list[tuple[Callable[..., Any], Callable[[int, int], tuple[Any, ...]]]] = [
    (attention.sink_attention, attending),
    (cache.overwrite_span, writing("span")),
    (cache.overwrite_slot, writing("slot")),
    (cache.overwrite_slots, writing("slots")),
    (cache.overwrite_tokens, writing("tokens")),
    (decoding.top_k, lambda rows, n: (torch.randn(rows, n), 2)),
    (norm.rms_norm, lambda rows, n: (torch.randn(rows, n), torch.randn(n), torch.tensor(1e-5))),
    (rope.rope_rows, lambda rows, n: (torch.randn(2, 3, rows, 8), *torch.randn(2, 2, rows, 8))),
    (experts.dequantize_mxfp4, packed),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_traced(function: Callable[..., Any], arguments: Any) -> None:
    torch.compiler.reset()
    traced = torch.compile(function, backend="eager", fullgraph=True, dynamic=True)
    for rows, size in ((3, 7), (5, 11)):
        given = arguments(rows, size)
        copies = [g.clone() if isinstance(g, torch.Tensor) else g for g in given]
        results = traced(*given), function(*copies)
        got, want = (r if isinstance(r, tuple) else (r,) for r in results)
        assert all(torch.equal(one, other) for one, other in zip(got, want, strict=True))
