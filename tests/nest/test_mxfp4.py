"""Counting weights where blocks of 4-bit weights stand beside their scales."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from linnet.nest.card import load_card
from linnet.nest.mxfp4 import check_count, count_parameters, scale_names
from linnet.source.diagnostics import Sink


def test_a_block_byte_is_two_weights_and_a_scale_none() -> None:
    tensors = {
        "x.blocks": ((3, 2, 16), "u8"),
        "x.scales": ((3, 2), "u8"),
        "norm": ((5,), "bf16"),
        "scalar": ((), "f32"),
    }
    assert scale_names(tensors) == {"x.scales": "x.blocks"}
    assert count_parameters(tensors) == 3 * 2 * 16 * 2 + 5 + 1


def test_bytes_that_are_no_pair_count_as_they_are() -> None:
    tensors = {
        "a_blocks": ((3, 2, 16), "u8"),
        "a_scales": ((3, 3), "u8"),
        "b_scales": ((4,), "u8"),
        "c_blocks": ((4, 16), "f32"),
        "c_scales": ((4,), "u8"),
    }
    assert scale_names(tensors) == {}
    assert count_parameters(tensors) == 96 + 9 + 4 + 64 + 4


def test_the_published_20b_checkpoint() -> None:
    """The shapes of the checkpoint as its card describes them."""
    hidden, heads, kv, dim, experts, vocab = 2880, 64, 8, 64, 32, 201088
    layer = {
        "q.weight": (heads * dim, hidden),
        "q.bias": (heads * dim,),
        "k.weight": (kv * dim, hidden),
        "k.bias": (kv * dim,),
        "v.weight": (kv * dim, hidden),
        "v.bias": (kv * dim,),
        "o.weight": (hidden, heads * dim),
        "o.bias": (hidden,),
        "sinks": (heads,),
        "norm1": (hidden,),
        "norm2": (hidden,),
        "router.weight": (experts, hidden),
        "router.bias": (experts,),
        "gate_up_blocks": (experts, 2 * hidden, hidden // 32, 16),
        "gate_up_scales": (experts, 2 * hidden, hidden // 32),
        "gate_up_bias": (experts, 2 * hidden),
        "down_blocks": (experts, hidden, hidden // 32, 16),
        "down_scales": (experts, hidden, hidden // 32),
        "down_bias": (experts, hidden),
    }
    tensors = {
        f"layers.{i}.{n}": (s, "u8" if n.endswith(("blocks", "scales")) else "bf16")
        for i in range(24)
        for n, s in layer.items()
    }
    tensors |= {
        "embed": ((vocab, hidden), "bf16"),
        "head": ((vocab, hidden), "bf16"),
        "norm": ((hidden,), "bf16"),
    }
    assert len(tensors) == 459
    assert count_parameters(tensors) == 20_914_757_184


def test_a_card_with_another_count(make_card: Callable[..., Path]) -> None:
    sink = Sink()
    card = load_card(make_card(), sink)
    assert card is not None
    check_count(card, 6, 6, sink)
    assert not list(sink)
    check_count(card, 8, 8, sink)
    (found,) = sink
    assert found.message == "`parameters` says 6, but the model has 8 weights"
    assert found.help == "write `parameters = 8`"
    assert (found.code, found.span and found.span.text) == ("E5001", "6")
