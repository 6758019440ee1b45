"""Compiles every kernel of Triton for a Hopper card, without one, and prints what came out.

A script: Triton decides when it is first imported whether it interprets, and here it must not.
Each line is JSON: the kernel, its dtype and constants, the bytes of its machine code, the
instructions of its PTX that flush subnormal numbers and those of tensor cores. The names after
the command choose kernels; with `--keep DIRECTORY` the code itself is written there.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from linnet.backends.torch.kernels.triton import (
    device_attention,
    device_dequantize,
    device_few_rows,
    device_grouped,
    plans,
)

HOPPER = GPUTarget("cuda", 90, 32)
LANGUAGE = {"bf16": tl.bfloat16, "fp16": tl.float16, "fp32": tl.float32}
EXACT = {"bf16": (0, 240), "fp16": (104, 140), "fp32": (1, 0)}
TYPES = {
    "words": "*i32",
    "scales": "*u8",
    "experts": "*i64",
    "order": "*i32",
    "starts": "*i32",
    "mask": "*u8",
    "peaks": "*fp32",
    "totals": "*fp32",
    "mixed": "*fp32",
    "partial": "*fp32",
}
FLOATS = ("x", "out", "products", "weights", "query", "key", "value", "sinks")
OUT, GROUPS = 2880, 90


@dataclass
class Case:
    """A kernel at the sizes of gpt-oss-20b; `types` are those of its arguments that differ."""

    kernel: Any
    dtype: str
    constants: dict[str, Any]
    types: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.kernel.fn.__name__


def few_rows(dtype: str, pairs: int, out: int) -> Case:
    plan = plans.few_rows(pairs, out, GROUPS)
    low, high = EXACT[dtype]
    constants = {"LOW": low, "HIGH": high, "BO": plan.outputs, "BG": plan.blocks}
    types = {"x": "*fp32" if dtype == "fp32" else "*i32"}
    if plan.splits > 1:
        types["out"] = "*fp32"
    return Case(device_few_rows.few_rows_kernel, dtype, constants | {"T": LANGUAGE[dtype]}, types)


def grouped(dtype: str, pairs: int) -> Case:
    plan = plans.grouped(pairs, 32, OUT, GROUPS)
    tile = {"BO": plan.outputs, "BT": plan.pairs, "BG": plan.blocks}
    return Case(device_grouped.grouped_kernel, dtype, tile | {"WIDE": False, "EP": 32})


def splits(dtype: str, *, loaded: bool) -> Case:
    plan = plans.attention(8, 8, 4096, 64)
    constants = {"BM": plan.rows, "BN": plan.keys, "BD": plan.width, "LOADED": loaded}
    scale = {"scale": "*fp32" if loaded else "fp32"}
    return Case(device_attention.splits_kernel, dtype, constants, scale)


def cases() -> Iterator[Case]:
    """What depends on the dtype in all that it takes, the rest in bf16."""
    for dtype, language in LANGUAGE.items():
        yield few_rows(dtype, 4, OUT)
        yield splits(dtype, loaded=True)
        constants = {"T": language, "B": 512}
        yield Case(device_dequantize.dequantize_kernel, dtype, constants)
    yield grouped("fp16", 2048)
    for pairs in (64, 2048):
        yield grouped("bf16", pairs)
    yield few_rows("bf16", 1, 256)
    yield splits("bf16", loaded=False)
    yield Case(device_grouped.sort_kernel, "bf16", {"B": 1024})
    yield Case(device_grouped.combine_kernel, "bf16", {"B": 1024})
    yield Case(device_few_rows.add_splits_kernel, "bf16", {"B": 256})
    plan = plans.attention(8, 8, 4096, 64)
    constants = {"BS": plans.power(plan.splits), "BD": plan.width}
    yield Case(device_attention.join_kernel, "bf16", constants)


def compiled(case: Case) -> Any:
    types = TYPES | dict.fromkeys(FLOATS, f"*{case.dtype}") | case.types
    types |= dict.fromkeys(case.constants, "constexpr")
    signature = {name: types.get(name, "i32") for name in case.kernel.arg_names}
    aligned = {
        (i,): [["tt.divisibility", 16]]
        for i, type_ in enumerate(signature.values())
        if type_.startswith("*")
    }
    source = ASTSource(case.kernel, signature, case.constants, aligned)
    options = {"num_warps": 4, "enable_fp_fusion": True}
    return triton.compile(source, target=HOPPER, options=options)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    for case in cases():
        if given.names and case.name not in given.names:
            continue
        out = compiled(case)
        ptx = out.asm["ptx"]
        line = {
            "kernel": case.name,
            "dtype": case.dtype,
            "constants": {name: str(value) for name, value in case.constants.items()},
            "bytes": len(out.asm["cubin"]),
            "flushing": sorted(set(re.findall(r"\b(?:mul|fma|add|sub|cvt)\.\S*ftz\S*", ptx))),
            "tensor_cores": sorted(set(re.findall(r"\bwgmma\.mma_async|\bmma\.sync", ptx))),
        }
        print(json.dumps(line), flush=True)
        if given.keep:
            stem = "-".join([case.name, case.dtype, *line["constants"].values()])
            for stage in ("ttgir", "ptx"):
                (given.keep / f"{stem}.{stage}").write_text(out.asm[stage])
            (given.keep / f"{stem}.cubin").write_bytes(out.asm["cubin"])


main()
