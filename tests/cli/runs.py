"""`linnet run` as tests call it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from linnet.cli.main import main

Capture = pytest.CaptureFixture[str]


def run(card: Path, capsys: Capture, *words: str, status: int = 0) -> tuple[list[str], str]:
    """The lines of the result without the time, and what is on standard error."""
    assert main(["run", str(card), "--weights", "random", *words]) == status
    out, err = capsys.readouterr()
    return out.splitlines()[:-1], err


def interruptible() -> None:
    """In a new process: an interrupt is not ignored, as it is by processes in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
