"""Kernels of Triton run in its interpreter here, on tensors of the CPU, with a GPU or without;
where `LINNET_TEST_DEVICE` is `cuda` they run there instead.

Triton decides it when it is first imported, for all that is imported then, so the variable is set
when the tests are collected.
"""

from __future__ import annotations

import os
import sys

import pytest

_WANTED = "1" if os.environ.get("LINNET_TEST_DEVICE", "cpu") == "cpu" else "0"
_TOO_LATE = "triton" in sys.modules and os.environ.get("TRITON_INTERPRET", "0") != _WANTED
os.environ["TRITON_INTERPRET"] = _WANTED

collect_ignore = ["hopper.py"]


@pytest.fixture(autouse=True)
def interpreter() -> None:
    if _TOO_LATE:
        pytest.fail("triton was imported before TRITON_INTERPRET was set")
