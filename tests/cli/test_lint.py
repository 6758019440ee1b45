from __future__ import annotations

import json
from pathlib import Path

import pytest

from linnet.cli.main import main
from tests.gpt_oss import SEED

ROOT = Path(__file__).parents[2]
Capture = pytest.CaptureFixture[str]
FINE = "module a\n\npub fn f(x: f32) -> f32 {\n    return x\n}\n"
# A local that is never read, and below it an item that is never used.
POOR = "module a\n\npub fn f(x: f32) -> f32 {\n    let y = x + x\n    return x\n}\n\nconst N = 1\n"
BAD = "module a\n\npub fn f(x: f32) -> f32 {\n    return y\n}\n\nconst N = 1\n"


def write(folder: Path, text: str) -> str:
    path = folder / "a.linnet"
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize("path", ["models", "stdlib"])
def test_what_is_shipped_gets_nothing(path: str, capsys: Capture) -> None:
    assert main(["lint", "--strict", str(ROOT / path)]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(not SEED.exists(), reason="../shared is absent")
def test_the_seed_gets_nothing(capsys: Capture) -> None:
    assert main(["lint", "--strict", str(SEED)]) == 0
    assert capsys.readouterr() == ("", "")


def test_what_the_check_warns_of_is_there_too(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path, POOR)
    assert main(["lint", path]) == 0
    out, err = capsys.readouterr()
    heads = [line for line in err.splitlines() if line.startswith("warning[")]
    assert out == "" and [h[:15] for h in heads] == ["warning[W1002]:", "warning[W2002]:"]
    assert err.splitlines()[-1] == "2 warnings"
    assert main(["check", path]) == 0
    assert "W2002" not in capsys.readouterr().err


@pytest.mark.parametrize(("text", "status"), [(FINE, 0), (POOR, 1), (BAD, 1)])
def test_strict(text: str, status: int, tmp_path: Path, capsys: Capture) -> None:
    assert main(["lint", "--strict", write(tmp_path, text)]) == status


def test_with_errors_there_are_no_lints(tmp_path: Path, capsys: Capture) -> None:
    assert main(["lint", write(tmp_path, BAD)]) == 1
    err = capsys.readouterr().err
    assert "error[E1201]" in err and "warning" not in err


@pytest.mark.parametrize("words", [["--json"], ["--format", "json"]])
def test_a_document(words: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main(["lint", write(tmp_path, POOR), *words]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert err == "" and found["version"] == 1
    assert found["summary"] == {"errors": 0, "warnings": 2}
    assert [(f["code"], f["start"]["line"]) for f in found["diagnostics"]] == [
        ("W1002", 4),
        ("W2002", 8),
    ]


def test_a_log(tmp_path: Path, capsys: Capture) -> None:
    assert main(["lint", write(tmp_path, POOR), "--format", "sarif"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["W1002", "W2002"]


def test_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    write(tmp_path, POOR)
    monkeypatch.chdir(tmp_path)
    assert main(["lint"]) == 0
    assert " a.linnet:8:7" in capsys.readouterr().err


def test_only_the_modules_that_were_asked_for(tmp_path: Path, capsys: Capture) -> None:
    package = tmp_path / "p"
    (package / "src").mkdir(parents=True)
    manifest = '[package]\nname = "p"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    (package / "linnet.toml").write_text(manifest, "utf-8")
    (package / "src" / "lib.linnet").write_text(
        "module p\n\nuse crate.inner::{f}\n\npub fn g(x: f32) -> f32 {\n    return f(x)\n}\n",
        "utf-8",
    )
    inner = package / "src" / "inner.linnet"
    inner.write_text(POOR.replace("module a", "module p.inner"), "utf-8")
    assert main(["lint", str(package / "src" / "lib.linnet"), "--strict"]) == 0
    assert main(["lint", str(package), "--strict"]) == 1
    assert "2 warnings" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["no-such"], ["--wrong"], [""], ["--format", "xml"]])
def test_a_wrong_command_line(words: list[str], capsys: Capture) -> None:
    assert main(["lint", *words]) == 2
    assert "usage: linnet" in capsys.readouterr().err


def proposals(text: str, folder: Path, capsys: Capture) -> dict[str, str | None]:
    """The help of each W2007, by the name that it is about."""
    assert main(["lint", "--json", write(folder, text)]) == 0
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    return {d["message"].split("`")[1]: d["help"] for d in found if d["code"] == "W2007"}


def test_what_names_are_proposed(tmp_path: Path, capsys: Capture) -> None:
    text = """\
module a

use std.nn.linear::{linear}

pub type _heads<_n: Dim, in__dim: Dim> = Tensor[_n, in__dim; f32]

pub const _most = 4

pub fn rowSums(KvHeads: f32, _Other: f32) -> f32 {
    return KvHeads
}
"""
    assert proposals(text, tmp_path, capsys) == {
        "_heads": "name it `_Heads`",
        "_n": "name it `_N`",
        "in__dim": "name it `InDim`",
        "_most": "name it `_MOST`",
        "rowSums": "name it `row_sums`",
        "KvHeads": "name it `kv_heads`",
        "_Other": "name it `_other`",
    }


def test_no_name_is_proposed_that_cannot_be_had(tmp_path: Path, capsys: Capture) -> None:
    text = """\
module a

use std.nn.linear::{linear}

pub fn If(Linear: f32, Kernel: f32, Tanh: f32, F32: f32, taken: f32, Taken: f32) -> f32 {
    return Linear + Kernel + Tanh + F32 + taken + Taken
}

pub fn twoWords(Free: f32, free_: f32) -> f32 {
    return Free
}

pub fn two_words<tensor: Dim, dim: Dim, _1: Dim>(x: Tensor[tensor, dim, _1; f32]) -> f32 {
    return sum[i, j, k] x[i, j, k]
}
"""
    assert proposals(text, tmp_path, capsys) == {
        "If": None,
        "Linear": None,
        "Kernel": None,
        "Tanh": None,
        "F32": None,
        "Taken": None,
        "twoWords": None,
        "Free": "name it `free`",
        "tensor": None,
        "dim": None,
        "_1": None,
    }
