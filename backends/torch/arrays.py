"""NumPy arrays as tensors, and tensors as NumPy arrays."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linnet.backends.numpy.dtypes import NUMPY
from linnet.dtypes import DType

_BF16 = NUMPY[DType.BF16]


def of_numpy(array: NDArray[Any], device: torch.device | str = "cpu") -> Tensor:
    """`array` as a tensor, on the CPU of the same memory: a read-only one must not be written."""
    plain = np.asarray(array)
    if not plain.flags.c_contiguous:
        plain = plain.copy()
    if plain.dtype == _BF16:
        return _of_numpy(plain.view(np.int16)).view(torch.bfloat16).to(device)
    return _of_numpy(plain).to(device)


def _of_numpy(array: NDArray[Any]) -> Tensor:
    with warnings.catch_warnings():
        # Nothing that runs writes to a parameter, as the warning fears.
        warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
        return torch.as_tensor(array)


def to_numpy(tensor: Tensor) -> NDArray[Any]:
    """The values of `tensor`, of a dtype that NumPy has (TypeError)."""
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    if plain.dtype == torch.bfloat16:
        return plain.contiguous().view(torch.int16).numpy().view(_BF16)
    return plain.numpy()


def parameters(arrays: Mapping[str, NDArray[Any]], device: torch.device) -> dict[str, Tensor]:
    """The arrays as tensors by the same paths, those of one memory as one tensor."""
    found: dict[str, Tensor] = {}
    known: dict[tuple[Any, ...], Tensor] = {}
    for path, array in arrays.items():
        key = array.ctypes.data, array.shape, array.strides, array.dtype
        if key not in known:
            known[key] = of_numpy(array, device)
        found[path] = known[key]
    return found
