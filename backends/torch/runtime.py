"""A loaded model in PyTorch: interpreted, or as generated source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from linnet.backends.contract import Compiled, Given, Taken
from linnet.backends.torch.arrays import of_numpy, parameters, to_numpy
from linnet.backends.torch.dtypes import TORCH
from linnet.backends.torch.emit.module import Selecting
from linnet.backends.torch.faults import called, no_memory
from linnet.backends.torch.generated import Generated
from linnet.backends.torch.graphs import Graphs
from linnet.backends.torch.inductor.compiling import Inductor
from linnet.backends.torch.interpreter import Interpreter
from linnet.backends.torch.tree import Block, Stores, at, reset, set_parameter, states_of
from linnet.dtypes import DType


@dataclass(slots=True)
class TorchRuntime:
    """Entries are lowered at their first call. On the CPU, the parameters are the memory of the
    arrays that they were given as, unless they are `trainable`."""

    compiled: Compiled
    device: torch.device
    selecting: Selecting
    generate: bool
    inductor: Inductor | None = None
    graphs: Graphs | None = None
    trainable: bool = False
    module: nn.Module = field(init=False)
    _generated: Generated | None = None
    _stores: Stores = field(init=False)
    _ready: dict[tuple[str, Given], Interpreter] = field(
        default_factory=dict[tuple[str, Given], Interpreter]
    )

    def __post_init__(self) -> None:
        compiled = self.compiled
        weights = parameters(compiled.weights, self.device)
        if self.trainable:
            weights = {path: tensor.clone() for path, tensor in weights.items()}
        if self.generate:
            assert compiled.written is not None, "what is written is needed to generate source"
            self._generated = Generated(
                compiled.name, compiled.entries, compiled.written, self.selecting, self.inductor
            )
            self.module = self._generated.module
        else:
            self.module = Block()
        for path, tensor in weights.items():
            set_parameter(*at(self.module, path), tensor)
        for parameter in self.module.parameters():
            parameter.requires_grad_(self.trainable and parameter.is_floating_point())
        self.reset_state()
        self._stores = Stores.of(self.module)
        if self.selecting.prepare and self._generated is not None:
            self._generated.source()  # what is prepared, entries tell that are written
            root: Any = self.module
            root.register_load_state_dict_post_hook(self._prepare_again)

    def _prepare_again(self, *_: Any) -> None:
        """What is prepared is made of parameters, which a state dict has replaced."""
        if self._generated is not None:
            self._generated.prepare()

    @property
    def state(self) -> Mapping[str, Tensor]:
        """The states by path."""
        return dict(states_of(self.module, self.compiled.states))

    def take(self, value: Any, dtype: DType) -> Taken | Any:
        """A tensor of that dtype, a copy on the device: what is run may keep it as a state."""
        if not isinstance(value, Tensor) or value.layout is not torch.strided or value.is_meta:
            return value
        if value.dtype == TORCH[dtype]:
            source = value if self._records() else value.detach()
            with no_memory():
                own = source.to(self.device, copy=True, memory_format=torch.contiguous_format)
            return Taken(own)
        try:
            return to_numpy(value)
        except TypeError:  # a dtype that NumPy has not, which is told as of any value
            return value

    def _records(self) -> bool:
        """Whether a run is to have gradients."""
        return self.trainable and torch.is_grad_enabled()

    def call(self, entry: str, arguments: Sequence[Any], given: Given = ()) -> tuple[Tensor, ...]:
        """The results of `entry`, tensors of their own on the device."""
        tensors = [a if isinstance(a, Tensor) else of_numpy(a, self.device) for a in arguments]
        with torch.set_grad_enabled(self._records()):
            if self._generated is None:
                found = self._interpreted(entry, given, tensors)
            elif self.graphs is None:
                found = called(self._generated.method(entry, given), tensors)
            else:
                run = partial(called, self._generated.method(entry, given))
                found = self.graphs.run(entry, given, run, tensors, self._stores)
            return self._own(found, tensors)

    def _interpreted(self, entry: str, given: Given, tensors: list[Tensor]) -> tuple[Tensor, ...]:
        """A run that ends in a fault leaves the states as they were."""
        key = entry, given
        how = self.selecting
        if key not in self._ready:
            module = self.compiled.lower(entry, given)
            self._ready[key] = Interpreter.of(module, self.device, how.kernels, how.numerics)
        state = dict(self.state)
        weights = dict(self.module.named_parameters(remove_duplicate=False))
        results = self._ready[key].run(tensors, weights=weights, state=state)
        for path, tensor in state.items():
            holder, name = at(self.module, path)
            holder._buffers[name] = tensor  # pyright: ignore[reportPrivateUsage]
        return tuple(results)

    def _own(self, results: Sequence[Tensor], arguments: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The results, copies of those that share memory with what stays."""
        kept = (*self._stores.tensors(), *arguments)
        memory = {t.untyped_storage().data_ptr() for t in kept}
        own: list[Tensor] = []
        for found in results:
            place = found.untyped_storage().data_ptr()
            own.append(found.clone() if place in memory else found.contiguous())
            memory.add(place)
        return tuple(own)

    @property
    def variants(self) -> Mapping[str, int]:
        """By piece how often it has been compiled, or by entry how many graphs there are of it."""
        if self.inductor is not None:
            return dict(self.inductor.variants)
        return {} if self.graphs is None else self.graphs.variants

    def reset_state(self) -> None:
        """Every state at zero, as after loading."""
        reset(self.module, self.compiled.states, self.device)

    def source(self) -> str | None:
        """The generated source of all entries, if there is any."""
        return None if self._generated is None else self._generated.source()
