"""What the commands say of a wrong use, in words of the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from linnet import __version__, nest
from linnet.cli.main import main
from linnet.source.errors import LinnetError

Capture = pytest.CaptureFixture[str]


def said(capsys: Capture, *words: str, status: int = 1) -> str:
    assert main(list(words)) == status
    out, err = capsys.readouterr()
    return out + err


@pytest.mark.parametrize(
    ("words", "option", "argument"),
    [
        (["--backend", "jax"], "use `--backend numpy`", None),
        (["--device", "x"], "use `--device cpu`", 'use device="cpu"'),
        ([], "as `--weights`, or `--tiny`, its small", "as `weights`, or `tiny=True`, its small"),
    ],
)
def test_ways_out_name_options(
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    option: str,
    argument: str | None,
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert option in said(capsys, "run", "gpt-oss-20b", *words)
    if argument is not None:
        options = {"device": words[1]} if words else {}
        with pytest.raises(LinnetError) as caught:
            nest.load("gpt-oss-20b", "numpy", **options)
        assert argument in str(caught.value)


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize(
    "words",
    [
        ["run", "gpt-oss-tiny", "--device", "cuda"],
        ["generate", "gpt-oss-tiny", "--prompt", "a", "--device", "cuda:1"],
        ["explain", "gpt-oss-20b", "--device", "cuda"],
    ],
)
def test_a_device_of_pytorch(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, words: list[str], there: bool
) -> None:
    def find_spec(name: str) -> object:
        return object() if there or name != "torch" else None

    monkeypatch.setattr("linnet.backends.devices.find_spec", find_spec)
    backend = ["--backend", "numpy"] if words[0] == "explain" else []
    text = said(capsys, *words, *backend)
    assert f"the backend `numpy` has no device `{words[-1]}`" in text
    assert "`--backend torch`" in text
    assert ("pip install 'linnet[torch]'" in text) is not there
    # What no backend has is not sent to another one.
    assert "torch" not in said(capsys, *words[:-1], "nonsense", *backend)


def test_a_choice_that_is_none(capsys: Capture) -> None:
    text = said(capsys, "run", "gpt-oss-20b", "--numerics", "fsat", status=2)
    assert text.endswith("argument --numerics: `fsat` is not known: did you mean `fast`?\n")
    text = said(capsys, "explain", "gpt-oss-20b", "--numerics", "x", status=2)
    assert text.endswith("choose one of exact, equivalent, fast, approximate\n")
    assert "did you mean `check`?" in said(capsys, "chek", status=2)


@pytest.mark.parametrize(
    ("words", "command", "error"),
    [
        (
            ["generate", "x", "--prompt", "a", "--max_new", "3"],
            "generate",
            "--max_new: `--max-new`",
        ),
        (
            ["generate", "x", "--prompt", "a", "--max-tokens=3"],
            "generate",
            "--max-tokens: `--max-new`",
        ),
        (["generate", "x", "--promt", "a"], "generate", "--promt: `--prompt`"),
        (["run", "x", "--wieghts", "y", "--tokns", "1"], "run", "--wieghts, --tokns: `--weights`"),
        (["nest", "show", "x", "--jsn"], "nest show", "--jsn: `--json`"),
        (["torch", "x", "--kernel", "inline"], "torch", "--kernel: `--kernels`"),
        (["explain", "x", "--zzzz"], "explain", "--zzzz"),
        (["fmt", ".", "-q"], "fmt", "-q"),
        (["lint", "--strickt"], "lint", "--strickt: `--strict`"),
    ],
)
def test_an_option_that_is_none(
    capsys: Capture, words: list[str], command: str, error: str
) -> None:
    text = said(capsys, *words, status=2)
    assert text.startswith(f"usage: linnet {command} ")
    names, colon, meant = error.partition(": ")
    near = f": did you mean {meant}?" if colon else ""
    assert text.endswith(f"linnet {command}: error: unrecognized arguments: {names}{near}\n")


def test_what_follows_two_dashes_is_no_option(capsys: Capture, tmp_path: Path) -> None:
    text = said(capsys, "check", "--", "--nowhere", status=2)
    assert text.endswith("argument PATH: no such file or folder: --nowhere\n")


@pytest.mark.parametrize("command", ["run", "explain", "torch"])
def test_a_missing_entry_has_one_code(capsys: Capture, command: str) -> None:
    assert "error[E2107]" in said(capsys, command, "gpt-oss-tiny", "--entry", "forwrd")


def test_a_card_that_is_small_already(capsys: Capture) -> None:
    text = said(capsys, "run", "gpt-oss-tiny", "--tiny")
    assert "its own checkpoint is in its folder: leave `--tiny` out" in text


def test_help_tells_what_a_path_is(capsys: Capture) -> None:
    text = said(capsys, "check", "--help", status=0)
    assert "or a shipped card's name" in " ".join(text.split())


def test_check_takes_the_name_of_a_shipped_card(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said(capsys, "check", "gpt-oss-20b", status=0) == ""
    (tmp_path / "gpt-oss-20b").mkdir()
    assert said(capsys, "check", "gpt-oss-20b", status=0) == ""
    assert "nothing to check in gpt-oss-20b" in said(capsys, "check", "./gpt-oss-20b")


def test_the_module_is_the_command() -> None:
    words = [sys.executable, "-m", "linnet", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == f"linnet {__version__}\n"


def test_explain_refuses_a_device(capsys: Capture) -> None:
    for backend, device in (
        ("numpy", "nonsense"),
        ("numpy", "cuda"),
        ("torch", "nonsense"),
        ("torch", "cuda:"),
        ("torch", "cuda:x"),
    ):
        words = ("--backend", backend, "--device", device)
        text = said(capsys, "explain", "gpt-oss-20b", *words)
        wanted = f"error[E2102]: the backend `{backend}` has no device `{device}`"
        assert text.startswith(wanted)


SOURCE = """\
module m

pub block M<I: Dim, O: Dim>
where
    I > 0,
    O > 0,
    I % O == 0
{
    param w: Tensor[I; f32]

    pub entry forward<B: Dim>(x: Tensor[B, I; f32]) -> Tensor[B, I; f32]
    where
        B > 1
    {
        return x * w
    }
}
"""


@pytest.mark.parametrize(
    ("sets", "fault"),
    [
        (["I=0"], "`where I > 0` of `m::M` does not hold: I = 0"),
        (["I=6", "O=4"], "`where I % O == 0` of `m::M` does not hold: I = 6, O = 4"),
        (["B=1"], "`where B > 1` of `m::M.forward` does not hold: B = 1"),
        (["I=6"], None),
        (["I=6", "O=3", "B=2"], None),
    ],
)
def test_explain_checks_the_where_of_what_is_set(
    tmp_path: Path, capsys: Capture, sets: list[str], fault: str | None
) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(SOURCE)
    words = [word for value in sets for word in ("--set", value)]
    text = said(capsys, "explain", str(path), *words, status=1 if fault else 0)
    if fault:
        assert text.startswith(f"error[E2206]: {fault}\n") and text.endswith("\n1 error\n")
    else:
        assert text.startswith("M.forward: 0 calls of library ops")
