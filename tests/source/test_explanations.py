"""The pages of the codes: each has one, and what its examples show is so."""

from __future__ import annotations

import json
import runpy
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from linnet.cli.main import main
from linnet.source.codes import CODES
from linnet.source.explanations import FOLDER, Example, Prose, explanation

ROOT = Path(__file__).parents[2]
MODULE = "module example\n"
PACKAGE = '[package]\nname = "example"\nversion = "0.1.0"\nlanguage = "0.1"\n'
CARD = """\
[model]
name = "example"
title = "Example"
summary = "The card around an example."
license = "MIT"
family = "example"
parameters = 4

[links]
huggingface = "https://huggingface.co/example/example"

[source]
path = "src/lib.linnet"
root = "Model"
entry = "forward"

[generics]
N = 4

[weights]
repo = "example/example"
revision = "0000000000000000000000000000000000000000"
files = ["model.safetensors"]
"""


@dataclass(frozen=True)
class Case:
    """One program of a page: the files it consists of, or a command line."""

    rejected: bool
    files: dict[str, str]
    command: str = ""


def together(before: Example, example: Example) -> bool:
    """Whether two examples that follow each other are files of one program."""
    apart = before.path in ("", example.path) or not example.path
    return not apart and before.rejected == example.rejected


def groups(code: str) -> Iterator[list[Example]]:
    """The examples of a page, those that are files of one program together."""
    group: list[Example] = []
    for part in explanation(code).parts:
        if group and not (isinstance(part, Example) and together(group[-1], part)):
            yield group
            group = []
        if isinstance(part, Example):
            group.append(part)
    if group:
        yield group


def cases(code: str) -> list[Case]:
    found: list[Case] = []
    for group in groups(code):
        first = group[0]
        if first.language == "sh":
            found.append(Case(first.rejected, {}, first.text))
            continue
        files = {example.path or "example.linnet": example.text for example in group}
        if not first.rejected:
            files = {**found[-1].files, **files}
        found.append(Case(first.rejected, files))
    return found


def codes_of(
    case: Case, command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """What a program gets of a command, in a package and a card where it is a part of them."""
    if case.command:
        (line,) = case.command.splitlines()
        words = shlex.split(line)
        assert words[0] == "linnet"
    else:
        around = {"linnet.toml": PACKAGE, "src/lib.linnet": MODULE} if in_package(case) else {}
        if "bindings.json" in case.files:
            around["nest.toml"] = CARD
        for name, text in {**around, **case.files}.items():
            path = folder / "example" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        words = ["linnet", command, "example"]
    status = main([*words[1:], *(["--json"] if words[1] in ("check", "lint") else [])])
    out, err = capsys.readouterr()
    if words[1] in ("check", "lint"):
        found = [finding["code"] for finding in json.loads(out)["diagnostics"]]
    else:
        lines = err.splitlines()
        found = [line[len("error[") :][:5] for line in lines if line.startswith("error[")]
    assert status == any(code.startswith("E") for code in found), err
    return found


def in_package(case: Case) -> bool:
    return "example.linnet" not in case.files


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert sorted(p.name for p in FOLDER.iterdir()) == sorted(f"{code}.md" for code in CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_page_says_something_and_pairs_its_examples(code: str) -> None:
    parts = explanation(code).parts
    assert isinstance(parts[0], Prose)
    found = [case.rejected for case in cases(code)]
    assert found and found == [True, False] * (len(found) // 2)
    for part in parts:
        if isinstance(part, Prose):
            assert "```" not in part.text, "a fence that is not read as one"
            assert part.text[0] not in "#-*|", "paragraphs are all that a terminal is shown"


@pytest.mark.parametrize("code", CODES)
def test_rejected_examples_get_the_code_and_accepted_ones_nothing(
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number, case in enumerate(cases(code)):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        found = codes_of(case, "lint" if code.startswith("W2") else "check", folder, capsys)
        assert found == ([code] if case.rejected else []), case


@pytest.mark.parametrize("code", CODES)
def test_a_repair_is_of_the_example_before_it(code: str) -> None:
    for wrong, right in pairwise(cases(code)):
        if wrong.rejected:
            assert wrong != replace(right, rejected=True)
            assert wrong.files.keys() == right.files.keys()


def test_the_pages_of_the_documentation_are_those_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run `python docs/write_diagnostics.py` where this fails."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    script = runpy.run_path(str(ROOT / "docs" / "write_diagnostics.py"))
    (tmp_path / "E9999.md").write_text("of a code that is no more")
    script["write"](tmp_path, script["pages"]())
    made = {p.name: p.read_text("utf-8") for p in tmp_path.iterdir()}
    there = {p.name: p.read_text("utf-8") for p in (ROOT / "docs" / "diagnostics").iterdir()}
    assert made == there
    assert there.keys() == {"README.md", *(f"{code}.md" for code in CODES)}
    for code in CODES:
        assert f"[{code}]({code}.md)" in there["README.md"]
