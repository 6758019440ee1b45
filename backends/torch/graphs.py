"""Runs captured as CUDA graphs: a run of the same entry with inputs of the same shapes is one
launch, whatever the number of kernels in it.

The first run of a kind is an ordinary one, on a stream of its own, which compiles what compiles
when it first runs. Then the work is recorded, which executes nothing. Later runs copy their inputs
to where the first one's copies are, launch, and copy the results. A graph knows its tensors by
where they are: what puts another one in the place of a state is followed by a copy into the first.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import torch
from torch import Tensor

from linnet.backends.contract import Given
from linnet.backends.torch.tree import Stores

LIMIT = 64
"""The most graphs that a model keeps: each holds memory of its own for its inputs."""

Run: TypeAlias = Callable[[Sequence[Tensor]], tuple[Tensor, ...]]
_Key: TypeAlias = tuple[str, Given, tuple[tuple[torch.Size, torch.dtype], ...]]
_log = logging.getLogger(__name__)


class Device(Protocol):
    """What records work."""

    def warm_up(self, run: Callable[[], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        """What `run` gives, run where work may be recorded next."""
        ...

    def capture(
        self, run: Callable[[], tuple[Tensor, ...]]
    ) -> tuple[Callable[[], None], tuple[Tensor, ...]]:
        """What repeats the work of `run`, and the tensors that it then fills with results.
        `RuntimeError` where something waits for the device."""
        ...


@dataclass(slots=True)
class Cuda:
    """A CUDA device; what its graphs compute in between shares memory."""

    device: torch.device
    _stream: Any = None
    _pool: Any = None

    def __post_init__(self) -> None:
        self._stream = torch.cuda.Stream(self.device)
        self._pool = torch.cuda.graph_pool_handle()

    def warm_up(self, run: Callable[[], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        """`run` on the stream that will record."""
        ours = torch.cuda.current_stream(self.device)
        self._stream.wait_stream(ours)
        with torch.cuda.stream(self._stream):
            found = run()
        ours.wait_stream(self._stream)
        for tensor in found:
            tensor.record_stream(ours)
        return found

    def capture(
        self, run: Callable[[], tuple[Tensor, ...]]
    ) -> tuple[Callable[[], None], tuple[Tensor, ...]]:
        """A graph of the work; other threads may go on using the device."""
        graph = torch.cuda.CUDAGraph()
        with (
            torch.cuda.device(self.device),
            torch.cuda.graph(
                graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
            ),
        ):
            results = run()
        return graph.replay, results


@dataclass(frozen=True, slots=True)
class _Graph:
    inputs: tuple[Tensor, ...]
    replay: Callable[[], None]
    results: tuple[Tensor, ...]

    def run(self, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        for own, given in zip(self.inputs, tensors, strict=True):
            own.copy_(given)
        self.replay()
        return tuple(r.clone() for r in self.results)


@dataclass(slots=True)
class Graphs:
    """The graphs of a model, by entry and the shapes of its inputs. `refused`: the entries that
    are not captured, and why."""

    device: Device
    limit: int = LIMIT
    refused: dict[str, str] = field(default_factory=dict[str, str])
    _graphs: dict[_Key, _Graph] = field(default_factory=dict[_Key, _Graph])
    _places: tuple[int, ...] = ()

    @property
    def variants(self) -> Mapping[str, int]:
        """How many graphs there are of each entry."""
        return Counter(entry for entry, _, _ in self._graphs)

    def run(
        self, entry: str, given: Given, function: Run, tensors: Sequence[Tensor], stores: Stores
    ) -> tuple[Tensor, ...]:
        """What `function` gives for `tensors`; its graph is made at the first call."""
        places = tuple(t.data_ptr() for t in stores.tensors())
        if places != self._places:  # the model was moved, or a parameter replaced
            self._graphs.clear()
            self._places = places
        key = entry, given, tuple((t.shape, t.dtype) for t in tensors)
        graph = self._graphs.get(key)
        if graph is not None:
            return graph.run(tensors)

        def run(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
            return _in_place(stores, lambda: function(tensors))

        if entry in self.refused or len(self._graphs) >= self.limit:
            return run(tensors)
        results = self.device.warm_up(lambda: run(tensors))
        self._capture(key, run, tensors)
        return results

    def _capture(self, key: _Key, run: Run, tensors: Sequence[Tensor]) -> None:
        inputs = tuple(t.clone() for t in tensors)
        try:
            replay, results = self.device.capture(lambda: run(inputs))
        except RuntimeError as error:
            self.refused[key[0]] = f"something in it waits for the device: {error}"
            _log.warning("`%s` is not captured: %s", key[0], self.refused[key[0]])
            return
        self._graphs[key] = _Graph(inputs, replay, results)
        if len(self._graphs) == self.limit:
            _log.warning("%d CUDA graphs are kept; other shapes run without one", self.limit)


def _in_place(stores: Stores, run: Callable[[], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """What `run` gives; the buffers are the same tensors after it, with the values that those
    have which it left, a fault the old ones."""
    before = [
        (store, {n: t for n, t in store.items() if t is not None}) for store in stores.buffers
    ]
    left: list[tuple[Tensor, Tensor]] = []
    try:
        results = run()
        memory = {t.untyped_storage().data_ptr() for _, old in before for t in old.values()}
        for store, old in before:
            for name, tensor in old.items():
                new: Tensor = store[name]
                if new is not tensor:
                    own = new.untyped_storage().data_ptr() not in memory
                    left.append((tensor, new if own else new.clone()))
    finally:
        for store, old in before:
            store.update(old)
    for tensor, new in left:
        tensor.copy_(new)
    return results
