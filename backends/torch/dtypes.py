"""Dtypes in PyTorch."""

from __future__ import annotations

import torch

from linnet.dtypes import DType

TORCH: dict[DType, torch.dtype] = {
    DType.BOOL: torch.bool,
    DType.I8: torch.int8,
    DType.I16: torch.int16,
    DType.I32: torch.int32,
    DType.I64: torch.int64,
    DType.U8: torch.uint8,
    DType.U16: torch.uint16,
    DType.U32: torch.uint32,
    DType.U64: torch.uint64,
    DType.F16: torch.float16,
    DType.BF16: torch.bfloat16,
    DType.F32: torch.float32,
    DType.F64: torch.float64,
}
OF_TORCH: dict[torch.dtype, DType] = {t: d for d, t in TORCH.items()}
