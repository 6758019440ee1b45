"""Kernels of `std.nn.softmax` and `std.nn.loss`."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.backends.code import Code, method
from linnet.backends.kernels import CallSite
from linnet.backends.torch.kernels.functions import loss as functions
from linnet.backends.torch.kernels.records import (
    Element,
    Emit,
    Position,
    Word,
    call_of,
    calling,
    dtype,
    kernel,
    of_dtype,
    written,
)
from linnet.dtypes import FLOATS, DType


def in_f32(function: str) -> Emit:
    """`function(x, dim=-1, dtype=torch.float32)`, rounded to `T`."""

    def emit(site: CallSite, operands: Sequence[Code]) -> Sequence[Code]:
        last, wide = Word("-1"), Word("torch.float32")
        found = call_of(function, site, operands, "x", dim=last, dtype=wide)
        if dtype(site, "T") == DType.F32:
            return [found]
        return [method(found, "to", written(site, operands, Element("T")))]

    return emit


FLOAT = of_dtype("T", *FLOATS)

KERNELS = (
    kernel(
        "std.nn.softmax::softmax",
        "torch.softmax",
        "equivalent",
        in_f32("torch.softmax"),
        FLOAT,
        why="one operation of the framework, in f32",
    ),
    kernel(
        "std.nn.loss::log_softmax",
        "torch.log_softmax",
        "equivalent",
        in_f32("torch.log_softmax"),
        FLOAT,
        why="one operation of the framework, in f32",
    ),
    kernel(
        "std.nn.loss::token_log_probs",
        "torch.token_log_probs",
        "equivalent",
        calling(functions.token_log_probs, "logits", Position("targets")),
        why="the framework's log-softmax in f32, of which the targets' are picked",
    ),
    kernel(
        "std.nn.loss::cross_entropy",
        "torch.cross_entropy",
        "equivalent",
        calling(functions.cross_entropy, "logits", Position("targets"), "weights"),
        why="the framework's log-softmax in f32, and a weighted sum",
    ),
    kernel(
        "std.nn.loss::entropy",
        "torch.entropy",
        "equivalent",
        calling(functions.entropy, "logits"),
        why="the framework's log-softmax in f32, and a sum",
    ),
    kernel(
        "std.nn.loss::linear_cross_entropy",
        "torch.linear_cross_entropy",
        "equivalent",
        calling(functions.linear_cross_entropy, "x", "weight", Position("targets"), "weights"),
        why="the logits of 4096 words at a time, never all at once",
    ),
)
