"""Kernels of `std.nn.linear` and `std.nn.embedding`."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.backends.code import Code, infix
from linnet.backends.kernels import CallSite
from linnet.backends.torch.kernels.records import (
    SIXTEEN_BITS,
    WIDE,
    call_of,
    calling,
    kernel,
    not_on,
    of_dtype,
)

REDUCED = "it may add up parts of a 16-bit product in 16 bits"


def product_then_bias(site: CallSite, operands: Sequence[Code]) -> Sequence[Code]:
    """Two roundings, as the op's body has."""
    product = call_of("F.linear", site, operands, "x", "weight")
    bias = site.pick("bias", operands)
    return [product if bias is None else infix(product, "+", bias)]


KERNELS = (
    kernel(
        "std.nn.linear::linear",
        "torch.linear",
        "equivalent",
        calling("F.linear", "x", "weight", "bias"),
        of_dtype("T", *WIDE),
        why="one product of the framework, added up in the dtype itself",
    ),
    # One rounding where the body has two, and on a GPU parts of a sum in 16 bits.
    kernel(
        "std.nn.linear::linear",
        "torch.linear_fused",
        "fast",
        calling("F.linear", "x", "weight", "bias"),
        of_dtype("T", *SIXTEEN_BITS),
        why="one product of the framework, the bias added before it rounds once",
    ),
    kernel(
        "std.nn.linear::linear",
        "torch.linear_then_bias",
        "equivalent",
        product_then_bias,
        of_dtype("T", *SIXTEEN_BITS),
        not_on("cuda", REDUCED),
        why="one product of the framework, and the bias added after its rounding",
    ),
    kernel(
        "std.nn.embedding::embedding",
        "torch.embedding",
        "exact",
        calling("F.embedding", "ids", "table"),
        why="one gather of rows",
    ),
)
