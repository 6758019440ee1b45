"""What `scripts/gpu-check` measures runs at a small size; how long it takes is no test's matter."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.backends.torch.triton.harness import DEVICE

SCRIPT = Path(__file__).parents[4] / "scripts" / "gpu-check"


def test_every_case_runs_and_counts_its_bytes() -> None:
    script: dict[str, Any] = runpy.run_path(str(SCRIPT))
    size = script["Size"](64, 32, 4, 2, 4, 2, 16, keys=16, window=4, tokens=(5,), rows=(1,))
    found: dict[str, int] = {}
    for case in script["cases"](size, DEVICE):
        case.runs[0]()
        found[case.name] = case.moved
    # Two of four experts of 64 outputs and two blocks of 17 bytes each.
    assert found["mxfp4_experts, gate and up, 1 token"] == 2 * 64 * 2 * 17
    # All of them, and two bytes for each of 64 weights.
    assert found["dequantize_mxfp4, gate and up"] == 4 * 64 * (2 * 17 + 64 * 2)
    # Keys and values of two heads, the mask, a query and a result of four heads.
    assert found["sink_attention, 4 of 16 keys, 1 rows"] == 2 * 2 * 4 * 16 * 2 + 16 + 2 * 4 * 16 * 2
    assert len(found) == 8


def test_the_model_decodes_and_reads_a_prompt_with_weights_made_on_the_device() -> None:
    script: dict[str, Any] = runpy.run_path(str(SCRIPT))
    generics = {
        "Vocab": 1000, "H": 64, "Heads": 4, "KvHeads": 2, "HeadDim": 16, "Inner": 32, "Experts": 4,
        "TopK": 2, "Layers": 2, "Window": 4, "Batch": 1, "MaxSeq": 32,
    }  # fmt: skip
    model = script["Loaded"].of("gpt-oss-20b", generics, DEVICE)
    for _, run in script["steps"](model, 16, 8):
        logits = run()
        assert logits.shape == (1, 1000) and logits.isfinite().all()
    # Of 4 experts 2, in 2 layers: 2 x 32 outputs of 2 blocks and 64 of 1 block, 17 bytes each; and
    # of the rest all but the embedding, of which a row.
    experts = 2 * 2 * (64 * 2 + 64) * 17
    others = [
        p for path, p in model.generated.module.named_parameters()
        if not path.endswith(("_blocks", "_scales", "embed_tokens.weight"))
    ]  # fmt: skip
    rest = sum(p.numel() * 2 for p in others) + 64 * 2
    assert model.read_for_a_token(2) == experts + rest


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_without_a_gpu_it_says_so() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "no GPU of CUDA is here\n")
