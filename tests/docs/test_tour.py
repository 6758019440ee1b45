"""Every program of the tour is checked, and what is shown of it is what it gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pages import Example, compare, parameters
from .running import values

PAGE = "tour.md"


@pytest.mark.parametrize("example", parameters(PAGE))
def test_example(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    compare(PAGE, example, tmp_path, values)
