"""Which calls the kernels are for, and what is written for them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from linnet.backends.base import CallSite, Decision, call_sites, decide
from linnet.backends.code import name
from linnet.backends.torch.kernels.triton import KERNELS, reasons
from linnet.dims.dims import Dim
from linnet.dtypes import BY_NAME
from linnet.ir.core import Module
from linnet.lower.module import lower_entry
from linnet.pipeline import check_paths

ROOT = Path(__file__).parents[4]
CARD = ROOT / "models" / "gpt-oss-20b"


program = cache(lambda: check_paths([CARD]).program)


@cache
def card(entry: str, dtype: str = "bf16", batch: int = 1) -> Module:
    """An entry of gpt-oss-20b at its real size."""
    bound = tomllib.loads((CARD / "nest.toml").read_text())["generics"]
    bound |= {"T": dtype, "Batch": batch}
    generics = {k: BY_NAME[v] if k == "T" else Dim.of(v) for k, v in bound.items()}
    return lower_entry(program(), "gpt_oss::Model", generics, entry, lambda _: True)


def chosen(entry: str, device: str = "cuda:0", **options: Any) -> dict[str, str]:
    """What the ops that there are kernels for get."""
    decisions = decide(card(entry, **options), KERNELS, "equivalent", device)
    ours = {k.op for k in KERNELS}
    return {d.site.op.partition("::")[2]: d.chosen for d in decisions if d.site.op in ours}


def refusals(entry: str, op: str, device: str = "cuda", **options: Any) -> dict[str, str]:
    """Why kernels are not for the first call of an op."""
    decisions: list[Decision] = decide(card(entry, **options), KERNELS, "equivalent", device)
    found = next(d for d in decisions if d.site.op.endswith(f"::{op}"))
    return {c.kernel.name: c.reason for c in found.considered}


def test_a_token_reads_its_experts_alone() -> None:
    found = chosen("decode")
    assert found["mxfp4_experts_shared"] == "triton.mxfp4_experts_shared"
    assert found["mxfp4_experts"] == "triton.mxfp4_experts"
    assert found["sink_attention"] == "triton.sink_attention"


def test_a_prompt_is_grouped_by_expert() -> None:
    found = chosen("prefill")
    assert found["mxfp4_linear_experts_shared"] == "triton.mxfp4_linear_experts_shared"
    assert found["mxfp4_combine_experts"] == "triton.mxfp4_combine_experts"
    assert found["sink_attention"] == "body"
    why = refusals("prefill", "mxfp4_combine_experts")
    assert why["triton.mxfp4_combine_experts_few_rows"] == (
        "`R` is S: for any number of rows they are grouped by expert"
    )
    why = refusals("prefill", "sink_attention")
    assert why["triton.sink_attention"] == "`Q` is S, not known to be at most 16"


def test_rows_that_share_experts_are_grouped() -> None:
    assert chosen("decode", batch=4)["mxfp4_experts"] == "triton.mxfp4_experts"
    assert chosen("decode", batch=5)["mxfp4_experts"] == "triton.mxfp4_experts_grouped"
    why = refusals("decode", "mxfp4_experts", batch=5)
    assert why == {
        "triton.mxfp4_experts": ("5 rows choose 4 each of 32 experts: they share too many of them")
    }


def test_dtypes() -> None:
    assert chosen("decode", dtype="f32")["mxfp4_experts"] == "triton.mxfp4_experts"
    why = refusals("prefill", "mxfp4_combine_experts", dtype="f32")
    assert why["triton.mxfp4_combine_experts"] == "`T` is f32, the kernel takes bf16 and f16"
    assert set(chosen("decode", dtype="f64").values()) == {"body"}
    why = refusals("decode", "mxfp4_experts", dtype="f64")
    assert why["triton.mxfp4_experts"] == "`T` is f64, the kernel takes bf16, f16 and f32"


@pytest.mark.parametrize("device", ["cpu", "mps"])
def test_other_devices(device: str) -> None:
    assert set(chosen("decode", device=device).values()) == {"body"}
    why = refusals("decode", "sink_attention", device=device)
    reason = f"the device is {device}: Triton's kernels are for GPUs of CUDA"
    assert why == {"triton.sink_attention": reason}


def test_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasons, "find_spec", lambda _: None)
    assert set(chosen("decode").values()) == {"body"}
    why = refusals("decode", "sink_attention")
    reason = "Triton is not installed: `pip install 'linnet[triton]'`"
    assert why == {"triton.sink_attention": reason}


def site(entry: str, op: str) -> CallSite:
    module = card(entry)
    return next(s for s in call_sites(module, "cuda") if s.op.endswith(f"::{op}"))


def written(entry: str, op: str, kernel: str) -> str:
    """The call that is generated, its operands named as the op's parameters."""
    at = site(entry, op)
    operands = [name("?")] * len(at.operands)
    for parameter, argument in at.signature.params:
        assert isinstance(argument, int)
        operands[argument] = name(parameter)
    (found,) = (k for k in KERNELS if k.name == f"triton.{kernel}")
    (code,) = found.emit(at, operands)
    assert all(f.__name__ in code.text for f in code.functions) and code.functions
    return code.text


def test_the_calls_that_are_written() -> None:
    assert written("decode", "mxfp4_experts", "mxfp4_experts") == (
        "triton_mxfp4_experts(x, blocks, scales, experts)"
    )
    assert written("prefill", "mxfp4_combine_experts", "mxfp4_combine_experts") == (
        "triton_mxfp4_combine_experts_grouped(x, blocks, scales, experts, weights)"
    )
    assert written("prefill", "dequantize_mxfp4", "dequantize_mxfp4") == (
        "triton_dequantize_mxfp4(blocks, scales, torch.bfloat16)"
    )
    assert written("decode", "sink_attention", "sink_attention") == (
        "triton_sink_attention(query, key, value, sinks, scale, mask)"
    )


def test_the_records_need_no_triton() -> None:
    code = (
        "import sys; sys.modules['triton'] = None\n"
        "from linnet.backends.torch.kernels.triton import KERNELS; print(len(KERNELS))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == f"{len(KERNELS)}\n"
