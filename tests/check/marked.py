"""Programs that mark their findings.

The line of a finding ends in `#code`, with `#+n` those where the n-th finding says that the same is
wrong, and with `#~n` those that may follow from it.
"""

from __future__ import annotations

import re
from pathlib import Path

from linnet.pipeline import check_paths
from linnet.source.files import Span
from linnet.source.render import render_text


def are_marked(source: str, folder: Path) -> None:
    """Hold the findings of a program against its marks."""
    path = folder / "m.linnet"
    path.write_text(re.sub(r"  #.*", "", source))
    sink = list(check_paths([path]).sink)
    report = "\n".join(map(render_text, sink))
    lines = list(enumerate(source.splitlines(), 1))
    marks = [(n, re.findall(r"E\d+", line.partition("  #")[2])) for n, line in lines]
    firsts = [(n, code) for n, codes in marks for code in codes]
    assert [(_line(d.span), d.code) for d in sink] == firsts, report
    for number, finding in enumerate(sink, 1):
        for mark, note in (("+", "the same is wrong"), ("~", "what may follow")):
            marked = [n for n, line in lines if re.search(rf"#.*{re.escape(mark)}{number}\b", line)]
            assert _told(finding.notes, note) == marked, report


def _line(span: Span | None) -> int:
    return 0 if span is None else span.file.position(span.start).line


def _told(notes: tuple[str, ...], beginning: str) -> list[int]:
    """The lines of a note such as "the same is wrong further on, at lines 3, 4"."""
    return [int(n) for x in notes if x.startswith(beginning) for n in re.findall(r"\d+", x)]
