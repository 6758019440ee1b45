"""The progress bar: on a terminal only."""

from __future__ import annotations

import io
import sys

import pytest

from linnet.nest.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "enabled", "shown"),
    [(Terminal(), True, True), (Terminal(), False, False), (io.StringIO(), True, False)],
)
def test_bar(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, enabled: bool, shown: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with progress("reading weights", 100, enabled) as advance:
        advance(60)
        advance(40)
    assert ("reading weights" in stream.getvalue()) == shown
