"""`linnet explain CODE`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from linnet.cli.main import main
from linnet.source.codes import CODES

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("word", ["E2203", "e2203"])
def test_a_code_in_any_letter_case(word: str, capsys: Capture) -> None:
    assert main(["explain", word]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("E2203: `reshape` count not provable\n\n`reshape` keeps the number")
    assert "\nRejected:\n\n    module example\n\n    pub fn halves<D: Dim>(" in out
    assert "\nAccepted:\n\n    module example\n\n" in out
    assert "\n    where D % 2 == 0 {\n" in out
    assert "```" not in out and "\x1b" not in out
    assert all(line == line.rstrip() for line in out.splitlines())


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_shown_as_text_and_as_a_document(code: str, capsys: Capture) -> None:
    assert main(["explain", code]) == 0
    text = capsys.readouterr().out
    assert main(["explain", code, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert sorted(document) == ["code", "parts", "severity", "title", "version"]
    assert (document["version"], document["code"]) == (1, code)
    assert document["severity"] == ("warning" if code[0] == "W" else "error")
    assert document["title"] == CODES[code]
    assert {part["kind"] for part in document["parts"]} == {"text", "example"}
    flat = " ".join(text.split())
    for part in document["parts"]:
        if part["kind"] == "text":
            assert sorted(part) == ["kind", "text"]
        else:
            assert sorted(part) == ["kind", "language", "path", "rejected", "text"]
        assert " ".join(part["text"].split()) in flat


def test_a_narrow_terminal_folds_prose_and_no_code(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["explain", "E2203"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 40 for line in lines if not line.startswith("    "))
    assert "    pub fn halves<D: Dim>(x: Tensor[D; f32]) -> Tensor[2, D / 2; f32] {" in lines


def test_color_where_it_is_asked_for(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert main(["explain", "W1001"]) == 0
    assert "\x1b[1;33mW1001\x1b[0m: unused import\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "help_"),
    [
        ("E2299", "did you mean `E2209`?"),
        ("e21033", "did you mean `E2103`?"),
        ("W9876", "as in `error[E2203]`"),
    ],
)
def test_an_unknown_code_is_a_finding(word: str, help_: str, capsys: Capture) -> None:
    assert main(["explain", word]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error[E2102]: there is no code `{word}`\n")
    assert help_ in err
    assert main(["explain", word, "--json"]) == 1
    (finding,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert finding["code"] == "E2102" and help_ in finding["help"]


@pytest.mark.parametrize(
    "option",
    [["--entry", "forward"], ["--set", "N=1"], ["--device", "cuda"], ["--numerics", "exact"]],
)
def test_options_of_ops_are_refused(option: list[str], capsys: Capture) -> None:
    assert main(["explain", "E2203", *option]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error[E2102]: `{option[0]}` is for a card or a file, not for a code\n")


def test_a_file_or_folder_of_the_name_needs_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "E2203").mkdir()
    source = "module m\n\npub entry f(x: f32) -> f32 {\n    return x\n}\n"
    (tmp_path / "E2203" / "m.linnet").write_text(source)
    (tmp_path / "E2203.linnet").write_text(source)
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "E2203"]) == 0
    assert capsys.readouterr().out.startswith("E2203: ")
    for path in ("./E2203", "E2203/", "E2203.linnet"):
        assert main(["explain", path]) == 0
        assert capsys.readouterr().out.startswith("f: 0 calls of library ops")


def test_a_terminal_of_few_characters_gets_them_all() -> None:
    words = [sys.executable, "-m", "linnet", "explain", "E1001"]
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "", "COLUMNS": "80"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("E1001: a character that cannot appear\n")
