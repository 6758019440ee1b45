"""What has to be so before any test is collected.

Triton decides when it is first imported whether it runs its kernels in its interpreter, on tensors
of the CPU, and PyTorch's compiler imports it. The tests of its kernels want the interpreter, with
a GPU or without, unless `LINNET_TEST_DEVICE` is `cuda`.
"""

from __future__ import annotations

import os

on_gpu = os.environ.get("LINNET_TEST_DEVICE", "cpu") == "cuda"
os.environ["TRITON_INTERPRET"] = "0" if on_gpu else "1"
