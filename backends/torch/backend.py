"""The PyTorch backend: which devices and options there are, and what loads."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from linnet.backends.contract import Compiled
from linnet.backends.devices import TORCH_KINDS, no_device
from linnet.backends.kernels import Kernel, Tier
from linnet.backends.torch.emit.module import Selecting
from linnet.backends.torch.face import hand_out
from linnet.backends.torch.graphs import Cuda, Graphs
from linnet.backends.torch.inductor.compilers import lacking
from linnet.backends.torch.inductor.compiling import Inductor
from linnet.backends.torch.kernels import KERNELS
from linnet.backends.torch.runtime import TorchRuntime
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.suggest import did_you_mean

COMPILE: tuple[bool | str, ...] = (False, True, "inductor", "reduce-overhead")
"""What `compile` may be: `False` evaluates operation by operation."""
OPTIONS = ("compile", "prepare", "trainable")


@dataclass(frozen=True, slots=True)
class TorchBackend:
    """PyTorch on the CPU or on CUDA."""

    name: str = "torch"
    kernels: tuple[Kernel, ...] = KERNELS
    kinds: tuple[str, ...] = TORCH_KINDS

    def check(self, device: str | None, options: Mapping[str, Any]) -> None:
        """Refuse a device that is not there, an option that there is not, and what does not go
        together."""
        place = _device(device)
        for option in options:
            if option not in OPTIONS:
                listed = f"its options are {', '.join(f'`{o}`' for o in OPTIONS)}"
                message = f"the backend `torch` has no option `{option}`"
                raise _refused("E2102", message, did_you_mean(option, OPTIONS) or listed)
        _check_compile(options.get("compile", True))
        for option in ("prepare", "trainable"):
            chosen = options.get(option, False)
            if not isinstance(chosen, bool):
                raise _refused("E2102", f"`{option}` is {chosen!r}", "it is `True` or `False`")
        _check_prepare(options)
        _check_compiler(options.get("compile"), place, options.get("trainable", False))

    def load(
        self, compiled: Compiled, *, numerics: Tier, device: str | None, **options: Any
    ) -> TorchRuntime:
        """A runtime for `compiled`."""
        self.check(device, options)
        place = _device(device)
        chosen, trainable = options.get("compile", True), options.get("trainable", False)
        kernels = tuple(map(_apart, self.kernels)) if trainable else self.kernels
        return TorchRuntime(
            compiled,
            place,
            Selecting(kernels, numerics, place.type, options.get("prepare", False)),
            chosen is not False and compiled.written is not None,
            Inductor(trainable, numerics == "exact") if chosen == "inductor" else None,
            _graphs(place) if chosen == "reduce-overhead" else None,
            trainable,
        )

    def hand_out(self, model: Any, runtime: Any) -> Any:
        """The root module, which has all that the model has."""
        return hand_out(runtime.module, model)


def _apart(kernel: Kernel) -> Kernel:
    """The kernel without its form that overwrites an operand: gradients may be computed with the
    old value."""
    return replace(kernel, in_place=None, emit_in_place=None)


def _check_compile(chosen: Any) -> None:
    known = isinstance(chosen, bool) or (isinstance(chosen, str) and chosen in COMPILE)
    if not known:
        listed = ", ".join(map(repr, COMPILE))
        raise _refused("E2102", f"`compile` is {chosen!r}", f"it is one of {listed}")


def _check_compiler(chosen: Any, device: torch.device, trainable: bool) -> None:
    lacks = lacking(device.type) if chosen == "inductor" else None
    if lacks is not None:
        message, way_out = lacks
        raise _refused("E2190", f'`compile="inductor"` cannot compile: {message}', way_out)
    if chosen == "reduce-overhead" and trainable:
        message = '`compile="reduce-overhead"` has no gradients, which `trainable` asks for'
        raise _refused("E2102", message, "use compile=True")


def _graphs(device: torch.device) -> Graphs | None:
    """What captures graphs; where there is nothing to capture, a warning says that."""
    if device.type == "cuda":
        return Graphs(Cuda(device))
    message = (
        '`compile="reduce-overhead"` captures CUDA graphs, and the model is on the CPU: it runs as'
        ' with compile=True. With a GPU, pass device="cuda"'
    )
    warnings.warn(message, stacklevel=4)
    return None


def _check_prepare(options: Mapping[str, Any]) -> None:
    if not options.get("prepare", False):
        return
    if options.get("compile", True) is False:
        message = "`prepare=True` is for generated source, which `compile=False` does without"
        raise _refused("E2102", message, "leave one of the two out")
    if options.get("trainable", False):
        message = "`prepare=True` reads parameters once, and `trainable=True` lets them change"
        raise _refused("E2102", message, "leave one of the two out")


def _device(name: str | None) -> torch.device:
    """The device called `name`, if PyTorch has it here; without a name the CPU."""
    if name is None:
        return torch.device("cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in TORCH_KINDS:
        raise no_device("torch", name, _devices())
    if device.type == "cpu" and device.index in (None, 0):
        return torch.device("cpu")
    if device.type == "cuda" and (device.index or 0) < torch.cuda.device_count():
        return device
    raise _refused("E2102", f"there is no device `{name}` here", _devices())


def _devices() -> str:
    there = ["cpu", *(f"cuda:{k}" for k in range(torch.cuda.device_count()))]
    return f"the devices here are {', '.join(f'`{d}`' for d in there)}"


def _refused(code: str, message: str, way_out: str) -> LinnetError:
    return LinnetError([Diagnostic(code, message, None, help=way_out)])


def backend() -> TorchBackend:
    """The backend, for the registry."""
    return TorchBackend()
