"""Kernels of `std.nn.norm`.

The framework's own functions take epsilon as a number of the host, which a value on the device is
not, and `F.rms_norm` multiplies by the weight before it rounds.
"""

from __future__ import annotations

from linnet.backends.torch.kernels.functions import norm as functions
from linnet.backends.torch.kernels.records import Extent, calling, kernel, known

KERNELS = (
    kernel(
        "std.nn.norm::rms_norm",
        "torch.rms_norm",
        "equivalent",
        calling(functions.rms_norm, "x", "weight", "eps"),
        why="a few operations on whole rows, in f32",
    ),
    kernel(
        "std.nn.norm::layer_norm",
        "torch.layer_norm",
        "equivalent",
        calling(functions.layer_norm, "x", "weight", "bias", "eps"),
        why="a few operations on whole rows, in f32",
    ),
    kernel(
        "std.nn.norm::group_norm",
        "torch.group_norm",
        "equivalent",
        calling(functions.group_norm, "x", "weight", "bias", "eps", Extent("Groups")),
        known("Groups"),
        why="a few operations on whole groups, in f32",
    ),
    kernel(
        "std.nn.norm::batch_norm",
        "torch.batch_norm",
        "equivalent",
        calling(functions.batch_norm, "x", "mean", "variance", "weight", "bias", "eps"),
        why="a scale and a shift for each channel",
    ),
)
