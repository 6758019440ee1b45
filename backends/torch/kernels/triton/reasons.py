"""Why a kernel of Triton is not for a call: each function gives None where it is."""

from __future__ import annotations

from importlib.util import find_spec

from linnet.backends.kernels import CallSite
from linnet.dtypes import DType

MOST_QUERIES = 16
"""More queries are a prompt, which other kernels read in tiles of queries."""
WIDEST_HEAD = 256
"""A tile has the whole head dimension."""


def on_gpu(site: CallSite) -> str | None:
    """A GPU of CUDA, and Triton installed."""
    device = site.device.partition(":")[0]
    if device != "cuda":
        return f"the device is {device}: Triton's kernels are for GPUs of CUDA"
    return (
        None if find_spec("triton") else "Triton is not installed: `pip install 'linnet[triton]'`"
    )


def float_up_to_32(site: CallSite) -> str | None:
    """f64 has no kernel."""
    return _dtype(site, DType.BF16, DType.F16, DType.F32)


def sixteen_bits(site: CallSite) -> str | None:
    """Products of f32 on tensor cores would not be in f32."""
    return _dtype(site, DType.BF16, DType.F16)


def few_rows(site: CallSite) -> str | None:
    """The kernel reads an expert for each pair of a row and an expert. Where pairs are half as
    many as experts, or fewer, most experts are chosen by one row at most."""
    rows, chosen, experts = (site.extent(name) for name in ("R", "K", "E"))
    if rows is None:
        return f"`R` is {site.generic('R')}: for any number of rows they are grouped by expert"
    if rows <= 1:
        return None
    if chosen is None or experts is None:
        return f"`R` is {rows}, and `K` or `E` is no number yet: rows may share experts"
    if rows * chosen * 2 <= experts:
        return None
    return f"{rows} rows choose {chosen} each of {experts} experts: they share too many of them"


def few_queries(site: CallSite) -> str | None:
    """A program reads all keys of its split for one tile of rows."""
    return _at_most(site, "Q", MOST_QUERIES)


def narrow_heads(site: CallSite) -> str | None:
    """The head dimension fits into a tile."""
    return _at_most(site, "D", WIDEST_HEAD)


def _at_most(site: CallSite, generic: str, most: int) -> str | None:
    found = site.extent(generic)
    if found is None:
        return f"`{generic}` is {site.generic(generic)}, not known to be at most {most}"
    return None if found <= most else f"`{generic}` is {found}, more than {most}"


def _dtype(site: CallSite, *taken: DType) -> str | None:
    found = site.generic("T")
    if found in taken:
        return None
    *others, last = map(str, taken)
    return f"`T` is {found}, the kernel takes {', '.join(others)} and {last}"
