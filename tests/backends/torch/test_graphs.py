"""Captured runs, with a device that records by running: what is kept, for which shapes, and that
replays do what runs do. Streams and recording on CUDA are in `test_cuda_graphs.py`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from linnet.backends.base import get_backend
from linnet.backends.torch.graphs import Graphs
from linnet.source.errors import LinnetError
from tests.backends.torch.layered import load, write_card
from tests.backends.torch.recorder import Recorder


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_card(tmp_path_factory.mktemp("graphs"))


@pytest.fixture
def captured(card: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Loads the model on a recorder."""

    def made(recorder: Recorder, **named: Any) -> tuple[Any, Graphs]:
        graphs = Graphs(recorder, **named)
        monkeypatch.setattr("linnet.backends.torch.backend._graphs", lambda device: graphs)
        model = load(card, "reduce-overhead")
        recorder.states = list(model.buffers())
        assert len(recorder.states) == 3
        return model, graphs

    return made


def test_a_graph_for_each_entry_and_shape(card: Path, captured: Callable[..., Any]) -> None:
    recorder = Recorder()
    model, _ = captured(recorder)
    plain = load(card, True)
    tokens = np.random.default_rng(0).integers(0, 32, 64)
    kept: list[tuple[Tensor, Tensor]] = []
    for count in (5, 6, 5, 7, 6):
        model.reset_state()
        plain.reset_state()
        kept.append((model.prefill(tokens[:count], 0), plain.prefill(tokens[:count], 0)))
        for at in range(count, count + 4):
            step = tokens[at : at + 1], at
            kept.append((model.decode(*step), plain.decode(*step)))
        for path, state in plain.state.items():
            assert torch.equal(model.state[path], state)
    for found, wanted in kept:  # a later run has not written over what an earlier one gave
        assert torch.equal(found, wanted)
    assert model.variants == {"prefill": 3, "decode": 1}
    assert (recorder.warmed, recorder.captured, recorder.replayed) == (4, 4, len(kept) - 4)


def test_a_state_that_is_replaced_stays_where_it_is(captured: Callable[..., Any]) -> None:
    recorder = Recorder()
    model, _ = captured(recorder)
    first = model.decode([3], 0)
    places = [s.data_ptr() for s in model.buffers()]
    assert [int(model.count()) for _ in range(4)] == [1, 2, 3, 4]
    assert int(model.state["calls"]) == 4
    assert [s.data_ptr() for s in model.buffers()] == places
    model.reset_state()
    assert torch.equal(model.decode([3], 0), first)
    assert int(model.count()) == 1
    assert model.variants == {"decode": 1, "count": 1}
    assert recorder.replayed == 3 + 1 + 1


def test_moved_parameters_are_captured_anew(card: Path, captured: Callable[..., Any]) -> None:
    recorder = Recorder()
    model, _ = captured(recorder)
    before = model.decode([3], 0)
    model.head.weight.data = model.head.weight.data * 2
    after = model.decode([3], 0)
    assert torch.equal(after, before * 2)
    assert model.variants == {"decode": 1} and recorder.captured == 2


def test_what_waits_for_the_device_runs_without(
    card: Path, captured: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    model, graphs = captured(Recorder(waits=True))
    plain = load(card, True)
    with caplog.at_level(logging.WARNING):
        for at in range(3):
            assert torch.equal(model.decode([3], at), plain.decode([3], at))
    (said,) = caplog.messages
    assert said.startswith("`decode` is not captured: something in it waits for the device: op")
    assert not model.variants and list(graphs.refused) == ["decode"]


def test_there_is_a_limit(
    card: Path, captured: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    model, _ = captured(Recorder(), limit=2)
    plain = load(card, True)
    with caplog.at_level(logging.WARNING):
        for count in (2, 3, 4, 3, 4):
            tokens = list(range(count))
            assert torch.equal(model.prefill(tokens, 0), plain.prefill(tokens, 0))
    assert model.variants == {"prefill": 2}
    assert caplog.messages == ["2 CUDA graphs are kept; other shapes run without one"]


def test_a_fault_leaves_states_where_they_are(captured: Callable[..., Any]) -> None:
    model, _ = captured(Recorder())
    places = [s.data_ptr() for s in model.buffers()]
    with pytest.raises(LinnetError, match="out of range"):
        model.decode([32], 0)
    assert [s.data_ptr() for s in model.buffers()] == places
    assert not model.variants


def test_without_a_gpu_it_says_so_and_the_rest_works(card: Path) -> None:
    with pytest.warns(
        UserWarning, match="the model is on the CPU: it runs as with compile=True"
    ) as w:
        model = load(card, "reduce-overhead")
    assert len(w) == 1
    assert torch.equal(model.decode([3], 0), load(card, True).decode([3], 0))
    assert not model.variants


def test_gradients_are_not_captured() -> None:
    with pytest.raises(LinnetError, match="has no gradients, which `trainable` asks for") as caught:
        get_backend("torch").check(None, {"compile": "reduce-overhead", "trainable": True})
    assert caught.value.diagnostics[0].help == "use compile=True"
