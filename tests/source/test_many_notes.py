"""A finding with many notes: the first few as text, all of them in the document."""

from __future__ import annotations

import pytest

from linnet.source.diagnostics import Diagnostic
from linnet.source.render import render_json, render_text


@pytest.mark.parametrize(
    ("count", "last"), [(8, "n7"), (9, "n8"), (10, "and 2 more"), (63, "and 55 more")]
)
def test_the_help_stays_in_sight(count: int, last: str) -> None:
    notes = tuple(f"n{k}" for k in range(count))
    finding = Diagnostic("E5002", "apart", None, notes=notes, help="go on")
    lines = render_text(finding).splitlines()
    assert [line.partition(": ")[2] for line in lines[-2:]] == [last, "go on"]
    assert len(lines) == 1 + min(count, 9) + 1
    (document,) = render_json([finding])["diagnostics"]  # type: ignore[misc]
    assert document["notes"] == list(notes)
