"""Every program in the documentation is laid out as `linnet fmt` would."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from linnet.source.diagnostics import Sink
from linnet.source.explanations import FOLDER
from linnet.source.files import SourceFile
from linnet.syntax.format.source import formatted

from .pages import DOCS

ROOT = DOCS.parent
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted(FOLDER.glob("*.md"))]
_FENCE = re.compile(r"^```(?:rust|linnet)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^(?:    [^\n]*)?\n)+", re.MULTILINE)


def programs(page: Path) -> list[str]:
    """The programs of a page that have no syntax errors."""
    text = page.read_text("utf-8")
    found = _FENCE.findall(text)
    found += [f"{dedent(block).strip()}\n" for block in _INDENTED.findall(_FENCE.sub("", text))]
    return [program for program in found if laid_out(program) is not None]


def laid_out(program: str) -> str | None:
    return formatted(SourceFile("example.linnet", program), Sink())


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_its_programs_are_formatted(page: Path) -> None:
    for program in programs(page):
        assert program == laid_out(program)


def test_there_are_programs() -> None:
    assert sum(len(programs(page)) for page in PAGES) > 150
    assert len(programs(ROOT / "README.md")) == 1
