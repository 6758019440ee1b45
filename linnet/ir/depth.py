"""Room on Python's stack for a long chain of functions that call each other."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

_FRAMES = 12_000


@contextmanager
def deep_calls() -> Generator[None]:
    """A higher limit of recursion; beyond it, a `RecursionError` as ever."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
