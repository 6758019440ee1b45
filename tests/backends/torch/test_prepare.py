"""Work on parameters that is done once, at load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linnet import nest
from linnet.backends.torch.graphs import Graphs
from linnet.backends.torch.kernels.functions import experts as functions
from tests.backends.torch.recorder import Recorder

SOURCE = """module m

use std.quant::{dequantize_mxfp4, mxfp4_experts_shared}

block Experts {
    param blocks: Tensor[3, 5, 1, 16; u8]
    param scales: Tensor[3, 5, 1; u8]

    pub fn forward<R: Dim>(
        x: Tensor[R, 1, 32; f32],
        to: Tensor[R, 2; i64],
    ) -> Tensor[R, 2, 5; f32] {
        return mxfp4_experts_shared(x, blocks, scales, to)
    }
}

pub block Model {
    sub layers: [Experts; 2]
    param prepare: Tensor[3, 5, 1, 16; u8]
    param scales: Tensor[3, 5, 1; u8]

    pub entry forward<R: Dim>(
        x: Tensor[R, 1, 32; f32],
        to: Tensor[R, 2; i64],
    ) -> Tensor[R, 2, 5; f32] {
        var sum = mxfp4_experts_shared(x, prepare, scales, to)
        static for layer in layers {
            sum = sum + layer.forward(x, to)
        }
        return sum
    }

    pub entry twice<R: Dim>(
        x: Tensor[R, 1, 32; f32],
        to: Tensor[R, 2; i64],
    ) -> Tensor[R, 2, 5; f32] {
        return mxfp4_experts_shared(x + x, prepare, scales, to)
    }

    pub entry outside<R: Dim>(
        x: Tensor[R, 1, 32; f32],
        to: Tensor[R, 2; i64],
        given: Tensor[3, 5, 1, 16; u8],
    ) -> Tensor[R, 2, 5; f32] {
        return mxfp4_experts_shared(x, given, scales, to)
    }
}
"""
CARD = """[model]
name = "m"
title = "M"
summary = "A card for tests."
license = "MIT"
family = "m"
tags = ["test"]
parameters = 1215

[links]
huggingface = "https://huggingface.co/a/m"

[source]
path = "m.linnet"
root = "Model"
entry = "forward"

[check]
R = 2

[weights]
repo = "a/m"
revision = "0123456789abcdef0123456789abcdef01234567"
files = ["one.safetensors"]
"""


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cards") / "m"
    folder.mkdir()
    (folder / "m.linnet").write_text(SOURCE, "utf-8")
    (folder / "nest.toml").write_text(CARD, "utf-8")
    return folder


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes of what is unpacked."""
    seen: list[tuple[int, ...]] = []
    plain = functions.dequantize_mxfp4

    def dequantize_mxfp4(blocks: Any, scales: Any, dtype: Any) -> Any:
        seen.append(tuple(scales.shape))
        return plain(blocks, scales, dtype)

    monkeypatch.setattr(functions, "dequantize_mxfp4", dequantize_mxfp4)
    return seen


def model_of(card: Path, **options: Any) -> Any:
    return nest.load(card, weights="random", progress=False, **options)


X = np.random.default_rng(0).standard_normal((4, 1, 32)).astype(np.float32)
TO = np.array([[0, 2], [1, 1], [2, 0], [0, 1]])


def test_weights_are_unpacked_once_and_shared(card: Path, unpacked: list[tuple[int, ...]]) -> None:
    plain = model_of(card)
    given = plain.get_parameter("prepare").numpy()
    want = plain(X, TO), plain.twice(X, TO), plain.outside(X, TO, given)
    unpacked.clear()
    model = model_of(card, prepare=True)
    assert unpacked == [(3, 5, 1)] * 3
    found = model(X, TO), model.twice(X, TO)
    assert unpacked == [(3, 5, 1)] * 3
    # What is passed is no parameter: the experts that are chosen are unpacked, each call.
    found = *found, model.outside(X, TO, given)
    assert unpacked == [(3, 5, 1)] * 3 + [(5, 1)] * 3
    assert all(torch.equal(a, b) for a, b in zip(found, want, strict=True))


def test_what_is_prepared_is_in_no_state_dict(card: Path) -> None:
    """And is made again of the parameters of one that is loaded."""
    plain, model = model_of(card), model_of(card, prepare=True)
    state = model.state_dict()
    assert state.keys() == plain.state_dict().keys()
    assert torch.equal(model(X, TO), plain(X, TO))
    changed = {k: v + 1 if k.endswith("scales") else v for k, v in state.items()}
    before = model(X, TO)
    model.load_state_dict(changed)
    # One more in a scale byte is twice the weight.
    assert torch.equal(model(X, TO), 2 * before)


def test_names_that_members_have(card: Path) -> None:
    """The root has a parameter `prepare`, so its method is called otherwise."""
    source = model_of(card, prepare=True).source()
    assert source is not None
    assert "self.prepared = dequantize_mxfp4(self.prepare, self.scales, torch.float32)" in source
    assert "self.prepared = dequantize_mxfp4(self.blocks, self.scales, torch.float32)" in source
    assert source.count("def prepare(self) -> None:") == 1
    assert "block.prepare_2()" in source
    assert "dequantize" not in (model_of(card).source() or "")


def test_pieces_that_are_compiled_read_what_is_prepared(
    card: Path, unpacked: list[tuple[int, ...]]
) -> None:
    """Once for all layers, and also when it has been made again."""
    plain = model_of(card)
    model = model_of(card, prepare=True, compile="inductor")
    assert unpacked == [(3, 5, 1)] * 3
    before = model(X, TO)
    assert torch.equal(before, plain(X, TO))
    assert torch.equal(model.twice(X, TO), plain.twice(X, TO))
    assert unpacked.count((3, 5, 1)) == 3
    state = plain.state_dict()
    model.load_state_dict({k: v + 1 if k.endswith("scales") else v for k, v in state.items()})
    assert torch.equal(model(X, TO), 2 * before)
    assert model.variants == {"forward_1": 1, "forward_2": 1, "twice_1": 1}


def test_graphs_read_what_is_prepared(card: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph knows what it reads by where it is: made again, it is elsewhere."""
    recorder = Recorder()
    graphs = Graphs(recorder)
    monkeypatch.setattr("linnet.backends.torch.backend._graphs", lambda device: graphs)
    plain, model = model_of(card), model_of(card, prepare=True, compile="reduce-overhead")
    want = plain(X, TO)
    assert all(torch.equal(model(X, TO), want) for _ in range(3))
    assert (recorder.captured, recorder.replayed) == (1, 2)
    state = plain.state_dict()
    model.load_state_dict({k: v + 1 if k.endswith("scales") else v for k, v in state.items()})
    assert all(torch.equal(model(X, TO), 2 * want) for _ in range(2))
    assert (recorder.captured, recorder.replayed) == (2, 3)
