"""Kernels of `std.nn.rope`."""

from __future__ import annotations

from linnet.backends.torch.kernels.functions import rope as functions
from linnet.backends.torch.kernels.records import calling, kernel

KERNELS = (
    kernel(
        "std.nn.rope::rope",
        "torch.rope",
        "exact",
        calling(functions.rope, "x", "cos_table", "sin_table"),
        why="four operations on whole tensors, each rounded as in the body",
    ),
    kernel(
        "std.nn.rope::rope_rows",
        "torch.rope_rows",
        "exact",
        calling(functions.rope_rows, "x", "cos_rows", "sin_rows"),
        why="four operations on whole tensors, each rounded as in the body",
    ),
)
