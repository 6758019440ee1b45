"""The examples of a page: programs, and what is shown of them.

    ```rust                     a program: a file, named after its module
    ```rust src/lib.linnet      one file of several: those that follow each other are a program
    ```python                   the same in PyTorch, if it stands before a program
    ```text                     after a program: its findings, as `linnet check` prints them, or
                                values (`running.py`). Without it there are no findings.

`LINNET_GOLDEN=write pytest tests/docs` writes into the pages what is shown there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from linnet.pipeline import CheckResult, check_paths
from linnet.source.render import render_text

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Fence:
    language: str
    path: str
    text: str
    number: int  # among the fences of its page
    line: int  # of the first line of the text


@dataclass
class Example:
    """`shown` is None where a page says nothing but that the program is right."""

    files: list[Fence] = field(default_factory=list[Fence])
    python: Fence | None = None
    shown: Fence | None = None

    @property
    def rejected(self) -> bool:
        return self.shown is not None and self.shown.text.startswith(("error[", "warning["))

    def written(self, folder: Path) -> Path:
        """What of it is to be checked, its files being in `folder` now."""
        for fence in self.files:
            file = folder / (fence.path or f"{module(fence)}.linnet")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(fence.text, "utf-8")
        return Path("." if self.files[0].path else f"{module(self.files[0])}.linnet")


def module(fence: Fence) -> str:
    """The last part of the name of a file's module."""
    found = re.search(r"^module ([\w.]+)", fence.text, re.MULTILINE)
    return found[1].split(".")[-1] if found else "example"


def fences(page: str) -> list[Fence]:
    text = (DOCS / page).read_text("utf-8")
    return [
        Fence(f[1], f[2] or "", f[3], number, text.count("\n", 0, f.start()) + 2)
        for number, f in enumerate(FENCE.finditer(text))
    ]


def examples(page: str) -> list[Example]:
    found: list[Example] = []
    python: Fence | None = None
    before: Fence | None = None
    for fence in fences(page):
        if fence.language in ("rust", "toml"):
            more = before is not None and before.language in ("rust", "toml") and before.path
            if not (more and fence.path and found):
                found.append(Example(python=python))
                python = None
            found[-1].files.append(fence)
        elif fence.language == "python":
            python = fence
        elif fence.language == "text" and before is not None and before.language == "rust":
            found[-1].shown = fence
        before = fence
    return found


def parameters(page: str) -> list[Any]:
    """The examples of a page for `pytest.mark.parametrize`, named after their lines."""
    return [pytest.param(e, id=f"line {e.files[0].line}") for e in examples(page)]


def findings(result: CheckResult) -> str:
    return "\n".join(render_text(finding) for finding in result.sink)


def compare(
    page: str, example: Example, folder: Path, values: Callable[[CheckResult, str], str]
) -> None:
    """Checks an example in `folder`, the current one: what is shown of it is so."""
    result = check_paths(example.written(folder))
    said = findings(result)
    if example.shown is None:
        assert said == ""
        return
    if not example.rejected:
        assert said == ""
        said = values(result, example.shown.text)
    if os.environ.get("LINNET_GOLDEN") == "write":
        replace(page, example.shown, said)
    else:
        assert example.shown.text == said


def replace(page: str, fence: Fence, text: str) -> None:
    whole = (DOCS / page).read_text("utf-8")
    found = list(FENCE.finditer(whole))[fence.number]
    (DOCS / page).write_text(whole[: found.start(3)] + text + whole[found.end(3) :], "utf-8")
