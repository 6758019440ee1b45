"""The first command of the README prints what stands below it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from linnet.cli.main import main

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def test_the_first_command_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tokenizers")
    command = re.search(r"^    pip install .* && (linnet generate .*)$", README, re.MULTILINE)
    said = re.search(r"^That prints `(.*)`\.$", README, re.MULTILINE)
    assert command is not None and said is not None
    assert main(shlex.split(command.group(1))[1:]) == 0
    assert capsys.readouterr().out.rstrip("\n") == said.group(1)
