"""Kernels of `std.nn.cache`: bits are moved, so each is exact."""

from __future__ import annotations

from collections.abc import Sequence

from linnet.backends.code import Code, call, method
from linnet.backends.kernels import CallSite, Kernel
from linnet.backends.torch.kernels.functions import cache as functions
from linnet.backends.torch.kernels.records import Function, calling, kernel, written


def write(op: str, function: Function, *arguments: str) -> Kernel:
    """The op as `function(cache, *arguments)`, which overwrites the cache, or a copy of it."""

    def emit(site: CallSite, operands: Sequence[Code]) -> Sequence[Code]:
        cache, *others = (written(site, operands, name) for name in ("cache", *arguments))
        return [call(function, method(cache, "clone"), *others)]

    return kernel(
        f"std.nn.cache::{op}",
        f"torch.{op}",
        "exact",
        emit,
        why="writes into the cache where it lies; the rest of it is not moved",
        in_place="cache",
        emit_in_place=calling(function, "cache", *arguments),
    )


KERNELS = (
    write("write_at", functions.overwrite_span, "value", "at"),
    write("write_span", functions.overwrite_span, "value", "at"),
    write("write_rows", functions.overwrite_rows, "value", "at"),
    write("write_slot", functions.overwrite_slot, "value", "slot", "at"),
    write("write_slots", functions.overwrite_slots, "value", "slots", "at"),
    write("write_tokens", functions.overwrite_tokens, "value", "rows", "positions"),
)
