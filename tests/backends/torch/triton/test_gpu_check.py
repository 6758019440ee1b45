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


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_without_a_gpu_it_says_so() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "no GPU of CUDA is here\n")
