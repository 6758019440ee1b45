"""Modules of PyTorch that mirror the blocks of a model, by the paths of its tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from linnet.backends.contract import Stored
from linnet.backends.torch.dtypes import TORCH


class Block(nn.Module):
    """A block whose methods are run from outside."""


def set_parameter(holder: nn.Module, name: str, tensor: Tensor) -> None:
    """Also where `nn.Module` has an attribute of that name."""
    parameter = nn.Parameter(tensor, requires_grad=False)
    holder._parameters[name] = parameter  # pyright: ignore[reportPrivateUsage]


def reset(root: nn.Module, states: tuple[Stored, ...], device: torch.device) -> None:
    """Every state at zero: a buffer that no state dict has. One that is there already is kept and
    filled, whoever else holds it; but one that a run with gradients left is part of what led to its
    results, and stays with them."""
    for state in states:
        holder, name = at(root, state.path)
        held = holder._buffers.get(name)  # pyright: ignore[reportPrivateUsage]
        if held is not None and held.device == device and not held.requires_grad:
            held.zero_()
            continue
        zeros = torch.zeros(state.shape, dtype=TORCH[state.dtype], device=device)
        holder._buffers[name] = zeros  # pyright: ignore[reportPrivateUsage]
        holder._non_persistent_buffers_set.add(name)  # pyright: ignore[reportPrivateUsage]


def at(root: nn.Module, path: str) -> tuple[nn.Module, str]:
    """The module that holds a tensor and the tensor's name. Modules on the way are made if nothing
    else is in them; numbers are the elements of a `ModuleList`."""
    *blocks, name = path.split(".")
    holder = root
    for block, below in pairwise((*blocks, name)):
        children = holder._modules  # pyright: ignore[reportPrivateUsage]
        found = children.get(block)
        if found is None:
            found = children[block] = nn.ModuleList() if below.isdecimal() else Block()
        holder = found
    return holder, name


def states_of(root: nn.Module, states: tuple[Stored, ...]) -> Iterator[tuple[str, Tensor]]:
    """The states by path."""
    for state in states:
        holder, name = at(root, state.path)
        held = holder._buffers[name]  # pyright: ignore[reportPrivateUsage]
        assert held is not None
        yield state.path, held


@dataclass(frozen=True, slots=True)
class Stores:
    """What the modules of a tree keep their tensors in: what these hold later is seen in them
    too."""

    parameters: tuple[dict[str, Any], ...]
    buffers: tuple[dict[str, Any], ...]

    @staticmethod
    def of(root: nn.Module) -> Stores:
        """Those of `root` and of all modules below it."""
        each = list(root.modules())
        return Stores(
            tuple(m._parameters for m in each),  # pyright: ignore[reportPrivateUsage]
            tuple(m._buffers for m in each),  # pyright: ignore[reportPrivateUsage]
        )

    def tensors(self) -> Iterator[Tensor]:
        """All that they hold."""
        every = (t for store in (*self.parameters, *self.buffers) for t in store.values())
        return (t for t in every if t is not None)


def shown(root: nn.Module) -> str:
    """The tree with the names, shapes and dtypes of its tensors."""
    return "\n".join([f"{type(root).__name__}(", *_lines(root, "  "), ")"])


def _lines(module: nn.Module, indent: str) -> Iterator[str]:
    tensors = [
        *module.named_parameters(recurse=False),
        *module.named_buffers(recurse=False),
    ]
    for name, tensor in tensors:
        dtype = str(tensor.dtype).removeprefix("torch.")
        yield f"{indent}({name}): {dtype}{list(tensor.shape)}"
    for name, inner, count in _children(module):
        times = f"{count} x " if count > 1 else ""
        yield f"{indent}({name}): {times}{type(inner).__name__}("
        yield from _lines(inner, indent + "  ")
        yield f"{indent})"


def _children(module: nn.Module) -> Iterator[tuple[str, nn.Module, int]]:
    """The modules below; those of a list that look the same, together."""
    group: tuple[str, nn.Module, int, str] | None = None
    for name, inner in module.named_children():
        look = "\n".join(_lines(inner, "")) if isinstance(module, nn.ModuleList) else name
        if group is not None and group[3] == look:
            group = (group[0], group[1], group[2] + 1, look)
            continue
        if group is not None:
            yield _span(group)
        group = name, inner, 1, look
    if group is not None:
        yield _span(group)


def _span(group: tuple[str, nn.Module, int, str]) -> tuple[str, nn.Module, int]:
    name, inner, count, _ = group
    return (f"{name}-{int(name) + count - 1}" if count > 1 else name), inner, count
