"""How a value of another dtype than an input asks for is made one of it."""

from __future__ import annotations

from typing import Any

from linnet.dtypes import DType
from linnet.nest.checkpoint import Array
from linnet.nest.random_weights import array_dtype


def repair(value: Any, found: Array, dtype: DType, own: bool = False) -> str | None:
    """A help line for `value`, which is `found` as an array; None where nothing converts it. `own`:
    it is of the framework that the model runs on."""
    if found.dtype.names is not None:  # fields, and no numbers
        return None
    if not hasattr(value, "dtype"):
        return f"give {_numbers(dtype)}"
    name = array_dtype(dtype.value).name
    if hasattr(value, "detach"):  # a tensor of PyTorch
        if dtype == DType.BF16 and not own:
            return "convert it: `.float().numpy().astype(ml_dtypes.bfloat16)`"
        return f"convert it: `.to(torch.{name})`"
    if dtype == DType.BF16:
        return "convert it: `.astype(ml_dtypes.bfloat16)`"
    return f"convert it: `.astype(np.{'bool_' if dtype == DType.BOOL else name})`"


def _numbers(dtype: DType) -> str:
    if dtype == DType.BOOL:
        return "True or False"
    return "numbers" if dtype.is_float else "whole numbers"
