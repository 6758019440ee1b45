"""Every kernel becomes machine code for a Hopper card; no GPU is needed for that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton", reason="triton is not installed")

ROOT = Path(__file__).parents[4]
SCRIPT = Path(__file__).with_name("hopper.py")


@cache
def compiled() -> list[dict[str, Any]]:
    """Without the interpreter, which the other tests here ask for."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TRITON_")}
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_all_of_them() -> None:
    found = Counter(line["kernel"] for line in compiled() if line["bytes"] > 0)
    assert found == {
        "few_rows_kernel": 4,
        "splits_kernel": 4,
        "dequantize_kernel": 3,
        "grouped_kernel": 3,
        "sort_kernel": 1,
        "combine_kernel": 1,
        "add_splits_kernel": 1,
        "join_kernel": 1,
    }


def test_subnormal_numbers_are_kept() -> None:
    """In PTX an instruction flushes them only if it says `.ftz`. Weights of the smallest scales
    are such products."""
    assert [line for line in compiled() if line["flushing"]] == []


def test_products_of_many_rows_use_tensor_cores() -> None:
    grouped = [line for line in compiled() if line["kernel"] == "grouped_kernel"]
    assert all(line["tensor_cores"] == ["wgmma.mma_async"] for line in grouped)
