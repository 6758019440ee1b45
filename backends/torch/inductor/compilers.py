"""What TorchInductor itself needs on a machine."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from importlib.util import find_spec

_NAMES = {"darwin": "clang++", "win32": "cl"}


def lacking(device: str) -> tuple[str, str] | None:
    """What is not there that TorchInductor compiles with for a type of device, and a way out."""
    instead = "or use compile=True"
    if device == "cuda":
        if find_spec("triton") is None:
            return "Triton is not installed", f"pip install triton, {instead}"
        return None
    wanted = os.environ.get("CXX") or _NAMES.get(sys.platform, "g++")
    words = shlex.split(wanted)
    if words and shutil.which(words[0]) is not None:
        return None
    way_out = f"install one, set CXX to the one that there is, {instead}"
    return f"there is no C++ compiler `{wanted}`", way_out
