"""The NumPy backend: no kernels, every op runs as its body says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linnet.backends.base import Compiled, Given, Kernel, Tier
from linnet.backends.devices import by_torch, no_device
from linnet.backends.numpy.dtypes import NUMPY, Array
from linnet.backends.numpy.interpreter import Interpreter
from linnet.dtypes import DType
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError


@dataclass(frozen=True, slots=True)
class NumpyBackend:
    """The reference: what it computes is what a program means."""

    name: str = "numpy"
    kernels: tuple[Kernel, ...] = ()
    kinds: tuple[str, ...] = ("cpu",)

    def check(self, device: str | None, options: Mapping[str, Any]) -> None:
        """There is one device, and no option."""
        if device is not None and device != "cpu":
            torch = by_torch(device)
            way_out = f'use device="cpu", or {torch}' if torch else 'use device="cpu"'
            raise no_device("numpy", device, way_out)
        if options:
            message = f"the backend `numpy` has no option `{next(iter(options))}`"
            raise LinnetError([Diagnostic("E2102", message, None, help="it has no options")])

    def load(
        self, compiled: Compiled, *, numerics: Tier, device: str | None, **options: Any
    ) -> NumpyRuntime:
        """A runtime for `compiled`."""
        self.check(device, options)
        return NumpyRuntime(compiled)

    def hand_out(self, model: Any, runtime: Any) -> Any:
        """The model itself."""
        return model


@dataclass(slots=True)
class NumpyRuntime:
    """A loaded model: entries are lowered at their first call."""

    compiled: Compiled
    state: dict[str, Array] = field(default_factory=dict[str, Array])
    _ready: dict[tuple[str, Given], Interpreter] = field(
        default_factory=dict[tuple[str, Given], Interpreter]
    )

    def __post_init__(self) -> None:
        self.reset_state()

    def take(self, value: Any, dtype: DType) -> Any:
        """The value: inputs are NumPy arrays anyway."""
        return value

    def call(self, entry: str, arguments: Sequence[Array], given: Given = ()) -> tuple[Array, ...]:
        """The results of `entry`, none of them a view of a weight or a state. A run that ends in
        a fault leaves the states as they were."""
        key = entry, given
        if key not in self._ready:
            self._ready[key] = Interpreter.of(self.compiled.lower(entry, given))
        weights: Mapping[str, Array] = self.compiled.weights
        state = dict(self.state)
        results = self._ready[key].run(arguments, weights=weights, state=state)
        self.state.update(state)
        return tuple(r.copy() for r in results)

    def reset_state(self) -> None:
        """Every state at zero, as after loading."""
        for state in self.compiled.states:
            self.state[state.path] = np.zeros(state.shape, NUMPY[state.dtype])

    @property
    def variants(self) -> Mapping[str, int]:
        """Empty: nothing is compiled."""
        return {}

    def source(self) -> str | None:
        """None: nothing is generated."""
        return None


def backend() -> NumpyBackend:
    """The backend, for the registry."""
    return NumpyBackend()
