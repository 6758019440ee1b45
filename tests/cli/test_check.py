from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from linnet.cli.main import main

GOOD = "module a\n\npub fn f(x: i32) -> i32 {\n    return x\n}\n"
BAD = "module a\n\npub fn f(x: i32) -> i32 {\n    return y\n}\n"
LINT = "module a\n\npub fn f(x: i32) -> i32 {\n    let y = x\n    return x\n}\n"

Capture = pytest.CaptureFixture[str]


def write(folder: Path, text: str) -> str:
    path = folder / "a.linnet"
    path.write_text(text, "utf-8")
    return str(path)


def test_nothing_to_say_about_a_good_file(tmp_path: Path, capsys: Capture) -> None:
    assert main(["check", write(tmp_path, GOOD)]) == 0
    assert capsys.readouterr() == ("", "")


def test_an_error_is_shown_at_its_place(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path, BAD)
    assert main(["check", path]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0].startswith("error[E1201]: ")
    assert lines[1].endswith("a.linnet:4:12")
    assert lines[3] == "4 |     return y"
    assert lines[4].startswith("  |            ^")
    assert lines[-1] == "1 error"


def test_a_lint_is_no_error(tmp_path: Path, capsys: Capture) -> None:
    assert main(["check", write(tmp_path, LINT)]) == 0
    assert "warning[W1002]" in capsys.readouterr().err


def test_json_is_one_document_on_standard_output(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path, BAD)
    assert main(["check", "--json", path]) == 1
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert err == ""
    assert document["version"] == 1
    assert document["summary"] == {"errors": 1, "warnings": 0}
    (finding,) = document["diagnostics"]
    assert (finding["code"], finding["severity"]) == ("E1201", "error")
    assert finding["start"] == {"line": 4, "column": 12, "offset": 47}
    assert finding["end"] == {"line": 4, "column": 13, "offset": 48}
    assert sorted(finding) == sorted(
        ["code", "severity", "message", "label", "file", "start", "end", "related", "notes", "help"]
    )


def test_json_of_a_good_file(tmp_path: Path, capsys: Capture) -> None:
    assert main(["check", write(tmp_path, GOOD), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "version": 1,
        "diagnostics": [],
        "summary": {"errors": 0, "warnings": 0},
    }


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["chekc"],
        ["check"],
        ["check", "--wrong", "."],
        ["check", "no-such-file.linnet"],
        ["nest"],
        ["nest", "shw"],
        ["run"],
        ["explain"],
    ],
)
def test_a_wrong_command_line_exits_with_2(words: list[str], capsys: Capture) -> None:
    assert main(words) == 2
    assert "usage: linnet" in capsys.readouterr().err


def test_the_command_is_installed_under_its_name() -> None:
    command = [sys.executable, "-m", "linnet.cli.main", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "linnet 0.1.0\n")


def test_a_reader_that_leaves_early_is_no_crash(tmp_path: Path) -> None:
    path = write(tmp_path, BAD)
    process = subprocess.Popen(
        [sys.executable, "-m", "linnet.cli.main", "check", "--json", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 1
    assert b"Traceback" not in error
