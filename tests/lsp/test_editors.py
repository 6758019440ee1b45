"""The folders of `editors` agree with the language and with themselves."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from linnet.check.intrinsics import TABLE
from linnet.dtypes import BY_NAME, KINDS
from linnet.syntax.tokens import KEYWORDS, REDUCTIONS, RESERVED

EDITORS = Path(__file__).parents[2] / "editors"
VSCODE = EDITORS / "vscode"
GRAMMAR: dict[str, Any] = json.loads(
    (VSCODE / "syntaxes" / "linnet.tmLanguage.json").read_text("utf-8")
)
LISTED = re.compile(r"\\b\(\?:([a-z0-9_|A-Z]+)\)\\b")


def rules(part: Any) -> Iterator[dict[str, Any]]:
    """All rules of a part of the grammar."""
    if isinstance(part, dict):
        yield part  # type: ignore[misc]
        part = list(part.values())  # type: ignore[arg-type]
    if isinstance(part, list):
        for inner in part:  # type: ignore[misc]
            yield from rules(inner)


def listed(part: Any) -> list[str]:
    """The words that the rules of a part list."""
    matches = [str(rule.get("match", "")) for rule in rules(part)]
    return [
        word for match in matches for found in LISTED.findall(match) for word in found.split("|")
    ]


def test_the_grammar_has_the_words_of_the_lexer() -> None:
    words = listed(GRAMMAR["repository"]["words"])
    # A module may be called `random`, so that it is not marked wherever it stands.
    assert sorted(words) == sorted(KEYWORDS | RESERVED - {"random"})


def test_the_grammar_has_the_names_of_the_prelude() -> None:
    names = listed(GRAMMAR["repository"]["names"])
    wanted = {*BY_NAME, *KINDS, "Tensor", "Dim", "Shape", *TABLE, *REDUCTIONS}
    assert set(names) == wanted


def test_the_grammar_is_whole() -> None:
    included = {str(rule["include"]) for rule in rules(GRAMMAR) if "include" in rule}
    assert included == {f"#{name}" for name in GRAMMAR["repository"]}
    for rule in rules(GRAMMAR):
        for key in ("match", "begin", "end"):
            if key in rule:
                re.compile(str(rule[key]))


def test_the_extension_names_files_that_are_there() -> None:
    package = json.loads((VSCODE / "package.json").read_text("utf-8"))
    contributes = package["contributes"]
    (language,), (grammar,) = contributes["languages"], contributes["grammars"]
    for path in (package["main"], language["configuration"], grammar["path"]):
        assert (VSCODE / path).is_file()
    assert grammar["scopeName"] == GRAMMAR["scopeName"]
    assert grammar["language"] == language["id"] == "linnet"
    assert contributes["configuration"]["properties"]["linnet.command"]["scope"] == "machine"
    json.loads((VSCODE / "language-configuration.json").read_text("utf-8"))
    source = (VSCODE / "extension.js").read_text("utf-8")
    assert all(command["command"] in source for command in contributes["commands"])


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_extension_is_javascript() -> None:
    done = subprocess.run(
        ["node", "--check", str(VSCODE / "extension.js")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_neovim_starts_the_same_command() -> None:
    text = (EDITORS / "neovim" / "linnet.lua").read_text("utf-8")
    assert 'cmd = { "linnet", "lsp" }' in text
