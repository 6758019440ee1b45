"""`linnet explain` on PyTorch: which kernels a device gets, and why."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from linnet.backends import registry
from linnet.backends.base import default_backend, get_backend
from linnet.backends.torch.kernels import experts
from linnet.cli.main import main

Capture = pytest.CaptureFixture[str]
GPU = ("--backend", "torch", "--device", "cuda", "--entry", "decode")


def explained(capsys: Capture, *words: str) -> str:
    """What the command prints for the shipped card."""
    assert main(["explain", "gpt-oss-20b", *words]) == 0
    return capsys.readouterr().out


def ops(capsys: Capture, *words: str) -> dict[str, Any]:
    """The ops of the document by the last part of their names."""
    (entry,) = json.loads(explained(capsys, *words, "--json"))["entries"]
    return {op["op"].rpartition("::")[2]: op for op in entry["ops"]}


def refusals(op: dict[str, Any]) -> dict[str, str]:
    return {c["kernel"]: c["reason"] for c in op["considered"]}


def test_every_kernel_says_what_it_is_good_for() -> None:
    for name in ("numpy", "torch"):
        for kernel in get_backend(name).kernels:
            assert 10 <= len(kernel.why) <= 80, kernel.name
            assert kernel.why[0].islower() or kernel.why.startswith("`"), kernel.why
            assert not kernel.why.endswith("."), kernel.why


def test_a_gpu_that_is_not_here_decodes_with_triton(capsys: Capture) -> None:
    pytest.importorskip("triton")
    found = ops(capsys, *GPU)
    assert {name: found[name]["chosen"] for name in found if "triton" in found[name]["chosen"]} == {
        "sink_attention": "triton.sink_attention",
        "mxfp4_experts": "triton.mxfp4_experts",
        "mxfp4_experts_shared": "triton.mxfp4_experts_shared",
    }
    packed = found["mxfp4_experts"]
    assert packed["reason"].startswith("reads the packed bytes of the chosen experts in place")
    assert packed["count"] == 24
    assert refusals(packed)["cpu.chosen_mxfp4_experts"].startswith("the device is cuda: ")
    assert [k["kernel"] for k in packed["after"]] == ["triton.mxfp4_experts_grouped"]
    attention = found["sink_attention"]
    refused = refusals(attention)
    assert refused.pop("cpu.sink_attention").startswith("the device is cuda: ")
    assert refused.pop("cpu.sink_attention_f32").startswith("the device is cuda: ")
    assert refused == {"torch.flex_sink_attention": "`Q` is 1: a block mask is not worth it"}
    # No kernel of an op runs its body, where weights are unpacked.
    assert "dequantize_mxfp4" not in found


def test_exact_is_the_body_and_says_why(capsys: Capture) -> None:
    found = ops(capsys, *GPU, "--numerics", "exact")
    attention = found["sink_attention"]
    assert (attention["chosen"], attention["tier"]) == ("body", None)
    assert attention["reason"] == "`exact` allows none of its kernels"
    assert set(refusals(attention).values()) == {
        "its numerics are `fast`, `exact` was asked for",
        "its numerics are `equivalent`, `exact` was asked for",
    }
    assert found["embedding"]["chosen"] == "torch.embedding"
    # The bodies of both products unpack the weights.
    assert found["dequantize_mxfp4"]["count"] == 48
    text = explained(capsys, *GPU, "--numerics", "exact")
    assert re.search(r"in the body of mxfp4_experts_shared \(\S+:\d+\): Out = 5760", text)


@pytest.mark.parametrize(
    ("dtype", "few", "grouped"),
    [
        ("f32", None, "`T` is f32, the kernel takes bf16 and f16"),
        (
            "f64",
            "`T` is f64, the kernel takes bf16, f16 and f32",
            "`T` is f64, the kernel takes bf16 and f16",
        ),
    ],
)
def test_a_dtype_that_a_kernel_does_not_take_is_the_reason(
    capsys: Capture, dtype: str, few: str | None, grouped: str
) -> None:
    pytest.importorskip("triton")
    found = ops(capsys, *GPU, "--set", f"T={dtype}")
    reasons = refusals(found["mxfp4_experts"])
    assert reasons.get("triton.mxfp4_experts") == few
    assert reasons["triton.mxfp4_experts_grouped"] == grouped
    assert found["mxfp4_experts"]["chosen"] == ("body" if few else "triton.mxfp4_experts")


def test_a_processor_is_told_why_it_gets_no_kernel_of_a_gpu(capsys: Capture) -> None:
    found = ops(capsys, "--backend", "torch", "--entry", "decode")
    assert found["mxfp4_experts"]["chosen"] == "cpu.chosen_mxfp4_experts"
    assert refusals(found["mxfp4_experts"])["triton.mxfp4_experts"] == (
        "the device is cpu: Triton's kernels are for GPUs of CUDA"
    )


def test_a_device_beyond_those_here_is_answered_for(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """One device is here, and another is asked about."""

    def capability(index: int) -> tuple[int, int]:
        assert index < 1
        return (7, 5)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_capability", capability)
    words = ("--backend", "torch", "--entry", "decode", "--device")
    assert ops(capsys, *words, "cuda:3")["linear"]["count"] == 121

    class Site:
        device = "cuda"

    assert experts.available(Site()) == "the device has no grouped product"  # type: ignore[arg-type]


def test_the_text_fits_a_terminal_and_groups_what_is_alike(capsys: Capture) -> None:
    for words in (GPU, (*GPU, "--numerics", "exact"), ("--entry", "step_packed")):
        text = explained(capsys, *words)
        assert [line for line in text.splitlines() if len(line) > 100] == []
    text = " ".join(explained(capsys, *GPU).split())
    assert text.startswith("decode: 387 calls of library ops, torch on cuda, numerics fast ")
    assert (
        "x96 in sliding.self_attn and full.self_attn: q_proj (S = [1, 1], In = 2880, Out = 4096);"
        " k_proj and v_proj (S = [1, 1], In = 2880, Out = 512);"
        " o_proj (S = [1, 1], In = 4096, Out = 2880)" in text
    )
    assert "x24 in sliding.mlp and full.mlp: router (" in text
    assert "x1 in the model: lm_head (" in text


def test_the_document_tells_the_blocks(capsys: Capture) -> None:
    calls = ops(capsys, *GPU)["linear"]["calls"]
    blocks = {call["generics"]["Out"]: call["blocks"] for call in calls}
    assert blocks["4096"] == ["pairs.*.sliding.self_attn.q_proj", "pairs.*.full.self_attn.q_proj"]
    assert blocks["201088"] == ["lm_head"]


def test_what_is_explained_without_a_backend_is_what_is_loaded_without_one(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    assert json.loads(explained(capsys, "--json"))["backend"] == "torch"

    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(registry, "find_spec", nothing)
    assert default_backend() == "numpy"


def test_options_of_cards_are_refused_for_a_code(tmp_path: Path, capsys: Capture) -> None:
    assert main(["explain", "E2203", "--backend", "torch"]) == 1
    assert "`--backend` is for a card or a file, not for a code" in capsys.readouterr().err
