"""Tests of kernels of Triton, in its interpreter or on a GPU: see `tests/conftest.py`."""

from __future__ import annotations

collect_ignore = ["hopper.py"]
