"""A declaration of the seed card taken out is one error, wherever it is named.

Each row: the declaration as `removals.py` names it, the code, and the line of the error. Some
removals are no mistake, of an entry or a cache that nothing reads, say, and have no row.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.render import render_text
from tests.check.mutants import SEED
from tests.check.removals import removals

ROWS: list[tuple[str, str, str, int]] = []


@pytest.mark.skipif(not SEED.is_dir(), reason="the shared folder is not here")
@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r[0]} {r[1]}")
def test_one_error_for_what_is_taken_out(row: tuple[str, str, str, int]) -> None:
    what, code, file, line = row
    module, kind, name = what.split(":")
    path = (SEED / f"{module}.linnet").resolve()
    (text,) = [t for k, n, t in removals(path) if (k, n) == (kind, name)]
    found = list(check_paths([SEED.parent], {path: text}).sink)
    report = "\n".join(map(render_text, found))
    assert [d.code for d in found] == [code], report
    span = found[0].span
    assert span is not None
    at = Path(span.file.path).stem, span.file.position(span.start).line
    assert at == (file, line), report
