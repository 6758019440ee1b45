"""Devices that a backend does not have, and which one has them."""

from __future__ import annotations

from importlib.util import find_spec

from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.shown import shown

TORCH_KINDS = ("cpu", "cuda")
"""The kinds of device of the backend `torch`, here for who asks without importing PyTorch."""
INSTALL_TORCH = "PyTorch, which is not installed: `pip install 'linnet[torch]'`"


def no_device(backend: str, device: str, way_out: str) -> LinnetError:
    """To be raised: the backend has no device of this name, wherever it runs."""
    message = f"the backend `{backend}` has no device {shown(device)}"
    return LinnetError([Diagnostic("E2102", message, None, help=way_out)])


def by_torch(device: str) -> str | None:
    """How a device of a kind that PyTorch alone has is reached; None of any other."""
    kind = device.partition(":")[0]
    if kind == "cpu" or kind not in TORCH_KINDS:
        return None
    there = find_spec("torch") is not None
    return 'backend="torch"' if there else f'backend="torch"; it needs {INSTALL_TORCH}'
