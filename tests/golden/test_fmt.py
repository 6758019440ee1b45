"""Texts and what they are formatted to: `fmt/<case>.linnet` and, beside it, `<case>.formatted`.

`LINNET_GOLDEN=write pytest tests/golden/test_fmt.py` rewrites the expected files.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.format.source import formatted

CASES = sorted((Path(__file__).parent / "fmt").glob("*.linnet"))


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.stem)
def test_is_formatted_to_the_text_beside_it(case: Path) -> None:
    text = formatted(SourceFile(case.name, case.read_text("utf-8")), Sink())
    assert text is not None
    expected = case.with_suffix(".formatted")
    if os.environ.get("LINNET_GOLDEN") == "write":
        expected.write_text(text, "utf-8")
    assert text == expected.read_text("utf-8")


def test_there_are_cases() -> None:
    assert len(CASES) >= 3
