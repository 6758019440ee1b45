"""Kernels of `std.nn.decoding`, and the routing of `std.nn.moe`."""

from __future__ import annotations

from linnet.backends.torch.kernels.functions import decoding as functions
from linnet.backends.torch.kernels.records import Extent, calling, kernel, known, of_dtype
from linnet.dtypes import FLOATS, KINDS, DType

# The framework finds no maximum of the other unsigned integers.
NUMBERS = KINDS["Numeric"] - {DType.U16, DType.U32, DType.U64}

KERNELS = (
    kernel(
        "std.nn.decoding::argmax",
        "torch.argmax",
        "exact",
        calling(functions.first_greatest, "x"),
        of_dtype("T", *NUMBERS),
        why="one reduction",
    ),
    kernel(
        "std.nn.decoding::top_k",
        "torch.top_k",
        "exact",
        calling(functions.top_k, "x", Extent("K")),
        of_dtype("T", *NUMBERS),
        known("K"),
        why="one stable sort of the last axis",
    ),
    kernel(
        "std.nn.moe::top_k_routing",
        "torch.top_k_routing",
        "equivalent",
        calling(functions.top_k_routing, "scores", Extent("K")),
        of_dtype("T", *FLOATS),
        known("K"),
        why="one stable sort of the scores, and a softmax of the best in f32",
    ),
)
