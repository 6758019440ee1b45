"""All that a backend, and who asks for one, imports: what a backend is (`contract.py`), kernels
as records (`kernels.py`), how they are chosen (`selection.py`), and the backends that there are
(`registry.py`)."""

from __future__ import annotations

from linnet.backends.contract import (
    Backend,
    Compiled,
    Given,
    Runtime,
    RuntimeFault,
    Sources,
    Stored,
    Taken,
)
from linnet.backends.kernels import TIERS, CallSite, Considered, Decision, Kernel, Tier
from linnet.backends.registry import (
    backend_names,
    check_numerics,
    default_backend,
    get_backend,
)
from linnet.backends.selection import call_sites, decide, select

__all__ = [
    "TIERS",
    "Backend",
    "CallSite",
    "Compiled",
    "Considered",
    "Decision",
    "Given",
    "Kernel",
    "Runtime",
    "RuntimeFault",
    "Sources",
    "Stored",
    "Taken",
    "Tier",
    "backend_names",
    "call_sites",
    "check_numerics",
    "decide",
    "default_backend",
    "get_backend",
    "select",
]
