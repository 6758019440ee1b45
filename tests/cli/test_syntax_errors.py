"""Syntax errors as the commands show them: place, caret, what to type, and never a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linnet.cli.main import main

Capture = pytest.CaptureFixture[str]

LINES = [
    "module m",
    "",
    "pub fn f<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] {",
    "    let y = exp(x * (x + 1.0))",
    "    return max(y, (x))",
    "}",
]
CLOSERS = [(i, c) for i, line in enumerate(LINES) for c, sign in enumerate(line) if sign == ")"]
INTERNAL = re.compile(r"__|ANON|\$END|\b(?:[A-Z]{4,}|LPAR|RPAR|LSQB|RSQB)\b")


@pytest.mark.parametrize("command", ["check", "explain"])
@pytest.mark.parametrize(("line", "column"), CLOSERS)
def test_a_parenthesis_is_missing(
    tmp_path: Path, capsys: Capture, command: str, line: int, column: int
) -> None:
    assert len(CLOSERS) == 5
    lines = list(LINES)
    lines[line] = lines[line][:column] + lines[line][column + 1 :]
    path = tmp_path / "m.linnet"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    assert main([command, str(path)]) == 1
    out, err = capsys.readouterr()
    assert "Traceback" not in err and out == ""
    shown = err.splitlines()
    assert shown[0].startswith("error[E1101]: unexpected ")
    assert "`)`" in shown[0]
    place = re.search(r"m\.linnet:(\d+):(\d+)$", shown[1])
    assert place is not None
    row, at = int(place[1]), int(place[2])
    # What cannot follow is on the line of the parenthesis or begins the next one.
    assert row - 1 in (line, line + 1)
    # Above it there may be the line of the parenthesis that is open.
    source = next(i for i, text in enumerate(shown) if text.startswith(f"{row} | "))
    assert shown[source] == f"{row} | {lines[row - 1]}"
    assert shown[source + 1].startswith("  | " + " " * (at - 1) + "^")
    words = [text for text in shown if not re.match(r"\d+ \|", text)]
    assert not INTERNAL.search("\n".join(words))
    assert shown[-1] == "1 error"


@pytest.mark.parametrize("command", ["check", "explain"])
@pytest.mark.parametrize("depth", [400, 5000, 20000])
def test_deep_nesting_is_a_finding(
    tmp_path: Path, capsys: Capture, command: str, depth: int
) -> None:
    path = tmp_path / "m.linnet"
    expression = "(" * depth + "x" + ")" * depth
    path.write_text(f"module m\n\npub fn f(x: i32) -> i32 {{\n    return {expression}\n}}\n")
    assert main([command, str(path)]) == 1
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == "" and "Traceback" not in err
    assert re.fullmatch(r"error\[E1104\]: nested too deeply \(limit \d+\)", lines[0])
    assert re.search(r"m\.linnet:4:\d+$", lines[1])
    assert max(map(len, lines)) < 1000
    assert lines[-1] == "1 error"
