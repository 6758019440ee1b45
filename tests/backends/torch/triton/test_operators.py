"""The kernels as operators of PyTorch: what its compilers and captures of graphs rely on."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

from linnet.backends.torch.kernels.triton import plans
from linnet.backends.torch.kernels.triton.attention import triton_sink_attention
from linnet.backends.torch.kernels.triton.launch import words_of
from linnet.backends.torch.kernels.triton.mxfp4 import (
    few_rows,
    sorted_by_expert,
    triton_mxfp4_combine_experts_grouped,
)
from tests.backends.torch.triton.harness import DEVICE

ROWS, CHOSEN, EXPERTS, OUT, GROUPS = 3, 2, 4, 5, 2


def packed() -> dict[str, torch.Tensor]:
    draw = torch.Generator().manual_seed(0)
    size = (EXPERTS, OUT, GROUPS)
    made = {
        "blocks": torch.randint(0, 256, (*size, 16), dtype=torch.uint8, generator=draw),
        "scales": torch.randint(120, 130, size, dtype=torch.uint8, generator=draw),
        "experts": torch.randint(0, EXPERTS, (ROWS, CHOSEN), generator=draw),
    }
    return {name: value.to(DEVICE) for name, value in made.items()}


def inputs(rows: int = ROWS * CHOSEN) -> torch.Tensor:
    x = torch.randn(rows, GROUPS * 32, generator=torch.Generator().manual_seed(1))
    return x.bfloat16().to(DEVICE)


def attended() -> tuple[torch.Tensor, ...]:
    q, k = torch.randn(1, 4, 1, 8), torch.randn(1, 2, 9, 8)
    mask = torch.ones(1, 1, 9, dtype=torch.bool)
    return tuple(t.to(DEVICE) for t in (q, k, k + 1, torch.zeros(4), torch.tensor(0.3), mask))


def operators() -> list[Any]:
    """Each with arguments."""
    ops = torch.ops.linnet_triton
    blocks, scales, experts = packed().values()
    query, key, value, sinks, scale, mask = attended()
    return [
        (ops.few_rows, (inputs(), blocks, scales, experts)),
        (ops.few_rows, (inputs(ROWS), blocks, scales, experts)),
        (ops.grouped, (inputs(), blocks, scales, experts)),
        (ops.combine, (torch.randn(3, 2, 5).to(DEVICE), torch.randn(3, 2).to(DEVICE))),
        (ops.dequantize, (blocks, scales, torch.bfloat16)),
        (ops.sink_attention, (query, key, value, sinks, scale, 0.0, mask)),
        (ops.sink_attention, (query, key, value, sinks, None, 0.3, mask)),
    ]


@pytest.mark.parametrize("case", range(7))
def test_what_is_declared_is_so(case: int) -> None:
    """Nothing is changed in place, and the shape, strides and dtype are as announced."""
    operator, arguments = operators()[case]
    checks = ("test_schema", "test_faketensor")
    torch.library.opcheck(operator.default, arguments, test_utils=checks)


def test_a_compiler_goes_through() -> None:
    """Without a break of the graph, and with any number of rows after the first two."""
    x, weights = inputs().reshape(ROWS, CHOSEN, -1), torch.ones(ROWS, CHOSEN).bfloat16().to(DEVICE)
    blocks, scales, experts = packed().values()
    count = CompileCounterWithBackend("aot_eager")
    torch._dynamo.reset()
    function = torch.compile(
        triton_mxfp4_combine_experts_grouped, fullgraph=True, dynamic=True, backend=count
    )
    for rows in (3, 2):
        # Copies: that two are the first rows of longer ones would be part of what is compiled.
        some = [t[:rows].clone() for t in (x, experts, weights)]
        arguments = (some[0], blocks, scales, *some[1:])
        want = triton_mxfp4_combine_experts_grouped(*arguments)
        assert torch.equal(function(*arguments), want)
    assert count.frame_count == 1


def test_a_compiler_goes_through_attention() -> None:
    arguments = attended()
    torch._dynamo.reset()
    function = torch.compile(triton_sink_attention, fullgraph=True, backend="aot_eager")
    assert torch.equal(function(*arguments), triton_sink_attention(*arguments))


@pytest.mark.parametrize("pairs", [1, 7, 1024, 2500])
def test_pairs_are_sorted_as_a_stable_sort_does(pairs: int) -> None:
    experts = torch.randint(0, 5, (pairs,), generator=torch.Generator().manual_seed(pairs))
    order, starts = (t.cpu() for t in sorted_by_expert(experts.to(DEVICE), 6))
    assert torch.equal(order.long(), torch.sort(experts, stable=True).indices)
    assert starts.tolist() == torch.searchsorted(experts.sort().values, torch.arange(7)).tolist()


def test_bytes_at_odd_places_are_moved() -> None:
    """Blocks that are not aligned to words are copied; others are read where they are."""
    blocks, scales, experts = packed().values()
    moved = torch.cat([blocks.flatten()[:1], blocks.flatten()])[1:].view(blocks.shape)
    assert moved.data_ptr() % 4 != 0 and words_of(blocks).data_ptr() == blocks.data_ptr()
    want = few_rows(inputs(), blocks, scales, experts)
    assert torch.equal(few_rows(inputs(), moved, scales, experts), want)


# --- plans -------------------------------------------------------------------


def test_a_plan_covers_everything() -> None:
    for pairs in (1, 4, 33, 2048):
        for out in (1, 15, 2880, 5760):
            for groups in (1, 31, 90, 1000):
                few = plans.few_rows(pairs, out, groups)
                assert (few.splits - 1) * few.span < groups <= few.splits * few.span
                assert few.span % few.blocks == 0
    for heads in (1, 8, 512):
        for keys in (1, 64, 4096, 131072):
            plan = plans.attention(heads, 8, keys, 64)
            assert (plan.splits - 1) * plan.span < keys <= plan.splits * plan.span
            assert plan.span % plan.keys == 0


@pytest.mark.parametrize(("pairs", "experts"), [(1, 32), (33, 4), (2048, 32), (5, 1)])
def test_there_are_tiles_for_the_worst_choice(pairs: int, experts: int) -> None:
    """One expert has all that is left when every other has one pair."""
    plan = plans.grouped(pairs, experts, 64, 2)
    for alone in range(min(experts, pairs)):
        needed = alone + plans.tiles(pairs - alone, plan.pairs)
        assert needed <= plan.tiles
    # The most there can be: each expert with one more than full tiles.
    most = min(experts, pairs)
    assert plan.tiles <= pairs // plan.pairs + most
