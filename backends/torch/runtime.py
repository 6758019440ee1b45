"""A loaded model in PyTorch, evaluated operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from linnet.backends.contract import Compiled, Given
from linnet.backends.kernels import Kernel, Tier
from linnet.backends.torch.arrays import of_numpy, parameters
from linnet.backends.torch.dtypes import TORCH
from linnet.backends.torch.interpreter import Interpreter


@dataclass(slots=True)
class TorchRuntime:
    """Entries are lowered at their first call. On the CPU, the parameters are the memory of the
    arrays that they were given as."""

    compiled: Compiled
    device: torch.device
    kernels: Sequence[Kernel]
    numerics: Tier
    state: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    _weights: Mapping[str, Tensor] = field(default_factory=dict[str, Tensor])
    _ready: dict[tuple[str, Given], Interpreter] = field(
        default_factory=dict[tuple[str, Given], Interpreter]
    )

    def __post_init__(self) -> None:
        self._weights = parameters(self.compiled.weights, self.device)
        self.reset_state()

    def call(self, entry: str, arguments: Sequence[Any], given: Given = ()) -> tuple[Tensor, ...]:
        """The results of `entry`, tensors of their own on the device. A run that ends in a fault
        leaves the states as they were."""
        key = entry, given
        if key not in self._ready:
            module = self.compiled.lower(entry, given)
            self._ready[key] = Interpreter.of(module, self.device, self.kernels, self.numerics)
        tensors = [of_numpy(a, self.device) for a in arguments]
        state = dict(self.state)
        results = self._ready[key].run(tensors, weights=self._weights, state=state)
        # Copied before the states change, so that no memory is a fault, too.
        copies = tuple(r.clone(memory_format=torch.contiguous_format) for r in results)
        self.state.update(state)
        return copies

    def reset_state(self) -> None:
        """Every state at zero, as after loading."""
        for state in self.compiled.states:
            dtype = TORCH[state.dtype]
            self.state[state.path] = torch.zeros(state.shape, dtype=dtype, device=self.device)

    def source(self) -> str | None:
        """None: nothing is generated."""
        return None
