"""Links within the documentation lead somewhere, and to every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import DOCS

ROOT = DOCS.parent
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    return CODE.sub("", page.read_text("utf-8"))


def links(page: Path) -> list[tuple[Path, str]]:
    """The files that a page links to, and the headings in them."""
    found: list[tuple[Path, str]] = []
    for target in LINK.findall(prose(page)):
        path, _, heading = target.partition("#")
        if "://" not in target:
            found.append(((page.parent / path).resolve() if path else page, heading))
    return found


def headings(page: Path) -> set[str]:
    """The names of a page's headings in links, as code hosts make them."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for path, heading in links(page):
        assert path.exists(), path
        assert not heading or heading in headings(path), f"{path.name}#{heading}"


def test_every_page_is_linked_to() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            waiting += [path for path, _ in links(page)]
    assert {p for p in PAGES if p not in reached} == set()
