"""NumPy arrays as tensors."""

from __future__ import annotations

import warnings
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
        return torch.from_numpy(array)
