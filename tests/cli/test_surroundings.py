"""The command where its surroundings are odd: outputs, names, terminals, wrong command lines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from linnet.cli.main import main
from tests.cli.runs import interruptible
from tests.nest.small import write_card, write_weights

Capture = pytest.CaptureFixture[str]
COMMAND = [sys.executable, "-m", "linnet.cli.main"]
FINE = "module a\n\npub entry f(x: i32) -> i32 {\n    return x\n}\n"
BAD = "module a\n\npub fn f(x: i32) -> i32 {\n    return y\n}\n"


def run(*words: str | bytes | Path, **settings: Any) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([*COMMAND, *words], capture_output=True, check=False, **settings)
    assert b"Traceback" not in done.stderr + done.stdout, done.stderr
    return done


# --- wrong command lines ------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "--json"], "the following arguments are required: PATH"),
        (["check", "--json", "nowhere"], "argument PATH: no such file or folder: nowhere"),
        (["check", "--json", ""], "argument PATH: an empty text is no value"),
        (["check", "--json", "--wrong", "."], "unrecognized arguments: --wrong"),
        (["nest", "check", "--json"], "the following arguments are required: CARD"),
        (
            ["explain", "--json", "x", "--numerics", "y"],
            "argument --numerics: `y` is not known",
        ),
    ],
)
def test_json_of_a_wrong_command_line(words: list[str], message: str, capsys: Capture) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    document = json.loads(out)
    (finding,) = document["diagnostics"]
    assert finding["code"] == "E2102" and finding["message"].startswith(message)
    assert document["summary"] == {"errors": 1, "warnings": 0}
    assert f"error: {message}" in err


@pytest.mark.parametrize(
    "words",
    [
        ["nest", "check", "nowhere", "--json"],
        ["nest", "check", "gpt-oss-20b", "--weights", "nowhere", "--json"],
        ["explain", "nowhere", "--json"],
        ["explain", "nowhere.linnet", "--json"],
        ["explain", "gpt-oss-20b", "--entry", "nowhere", "--json"],
        ["explain", "gpt-oss-20b", "--backend", "nowhere", "--json"],
    ],
)
def test_json_of_findings(words: list[str], capsys: Capture) -> None:
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert json.loads(out)["summary"] == {"errors": 1, "warnings": 0}


@pytest.mark.parametrize(
    "words",
    [
        ["check", ""],
        ["check", "x" * 5000],
        ["nest", "show", ""],
        ["nest", "show", "gpt-oss-20b", "more"],
        ["nest", "list", "more"],
        ["nest", "check", "gpt-oss-20b", "--weights", ""],
        ["nest", "check", "gpt-oss-20b", "--cast"],
        ["explain", ""],
        ["explain", "gpt-oss-20b", "--entry", ""],
    ],
)
def test_a_wrong_command_line(words: list[str], capsys: Capture) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("usage: linnet")


# --- names --------------------------------------------------------------------


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/a\xff.linnet"
    Path(os.fsdecode(path)).write_text(BAD)
    done = run("check", path)
    assert done.returncode == 1
    assert b"error[E1201]" in done.stderr
    done = run("check", "--json", path)
    assert json.loads(done.stdout)["diagnostics"][0]["file"].endswith("a\udcff.linnet")


def test_a_tensor_and_a_folder_whose_names_cannot_be_shown(tmp_path: Path) -> None:
    import numpy as np

    from tests.nest.small import ONE

    card = write_card(tmp_path)
    extra = {**ONE, "a\x1b[2J\u00e9\u202e": np.zeros(1, np.float32)}
    weights = write_weights(tmp_path, one=extra).rename(tmp_path / os.fsdecode(b"w\xff"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run("nest", "check", card, "--weights", weights, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    first, second = done.stdout.decode("ascii").splitlines()
    assert first == "not bound: `a\\x1b[2J\\xe9\\u202e` [1] F32"
    assert second.endswith("/w\\udcff")


# --- outputs ------------------------------------------------------------------


# What is printed fails at once, or when the buffer is emptied at the end.
buffered = pytest.mark.parametrize("unbuffered", ["", "1"])


@buffered
@pytest.mark.parametrize("words", [["nest", "list"], ["nest", "show", "gpt-oss-20b"]])
def test_a_reader_that_has_gone(words: list[str], unbuffered: str) -> None:
    process = subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@buffered
@pytest.mark.parametrize("words", [["nest", "list"], ["check", "--json", "."]])
def test_an_output_that_is_full(words: list[str], unbuffered: str, tmp_path: Path) -> None:
    (tmp_path / "a.linnet").write_text(BAD)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            cwd=tmp_path,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == (
        b"error[E1202]: cannot write to standard output: no space left on device\n\n1 error\n"
    )


def test_help_for_a_reader_that_has_gone() -> None:
    shell = '"$0" -m linnet.cli.main --help | true'
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(
        ["sh", "-c", shell, sys.executable], capture_output=True, env=environment, check=False
    )
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that can go while in use")
def test_a_working_folder_that_is_gone(tmp_path: Path) -> None:
    shell = 'cd "$1" && rmdir "$1" && "$0" -m linnet.cli.main check .'
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", shell, sys.executable, gone],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    message = b"error[E1202]: the working folder is gone\n\n1 error\n"
    assert (done.returncode, done.stderr) == (1, message)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(closed: str, tmp_path: Path) -> None:
    path = tmp_path / "a.linnet"
    path.write_text(BAD)
    shell = f'"$0" -m linnet.cli.main check "$1" {closed}'
    done = subprocess.run(["sh", "-c", shell, sys.executable, path], check=False)
    assert done.returncode == 1


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command line of the shell, in which `linnet` stands for the command."""
    script = f'linnet() {{ "$0" -m linnet.cli.main "$@"; }}\n{command}'
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    words = ["sh", "-c", script, sys.executable]
    done = subprocess.run(words, capture_output=True, cwd=folder, env=environment, check=False)
    assert b"Traceback" not in done.stderr + done.stdout, done.stderr
    return done


@pytest.mark.parametrize(
    "words",
    [
        "fmt - < a.linnet",
        "fmt --check b.linnet",
        "fmt b.linnet",
        "check --json a.linnet",
        "check --format sarif a.linnet",
        "inspect --tokens a.linnet",
        "inspect --parameters gpt-oss-tiny",
        "explain E2203",
        "explain a.linnet",
        "nest list",
        "nest show gpt-oss-tiny --json",
        "torch gpt-oss-tiny",
        "init made",
        "--help",
    ],
)
def test_a_result_that_nobody_gets(words: str, tmp_path: Path) -> None:
    """Where standard output is closed, what prints a result has failed, and says so."""
    for folder in (tmp_path / "closed", tmp_path / "open"):
        folder.mkdir()
        (folder / "a.linnet").write_text(FINE)
        (folder / "b.linnet").write_text(FINE.replace("    return", "  return"))
    done = shell(f"linnet {words} >&-", tmp_path / "closed")
    message = b"error[E1202]: cannot write to standard output: it is closed\n\n1 error\n"
    assert (done.returncode, done.stderr) == (1, message)
    assert shell(f"linnet {words}", tmp_path / "open").stdout != b"", "there is no result"


def test_what_is_printed_is_written_to_no_file(tmp_path: Path) -> None:
    """The next file that is opened does not get the number of a closed stream."""
    (tmp_path / "a.linnet").write_text(BAD)
    for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
        assert shell(f"linnet check a.linnet b.linnet {closed}", tmp_path).returncode != 0
        assert (tmp_path / "a.linnet").read_text() == BAD


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_what_prints_nothing_needs_no_output(closed: str, tmp_path: Path) -> None:
    (tmp_path / "a.linnet").write_text(FINE)
    done = shell(f"linnet check a.linnet {closed}", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_findings_stay_out_of_the_output_where_errors_are_closed(tmp_path: Path) -> None:
    (tmp_path / "a.linnet").write_text(BAD)
    done = shell("linnet check a.linnet 2>&-", tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")


def test_an_input_that_is_closed(tmp_path: Path) -> None:
    done = shell("linnet fmt - <&-", tmp_path)
    message = b"error[E1202]: cannot read standard input: it is closed\n\n1 error\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", message)


@pytest.mark.parametrize(
    ("settings", "colour"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"COLUMNS": "20"}, True)],
)
def test_colour_on_a_terminal(settings: dict[str, str], colour: bool, tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    path = tmp_path / "a.linnet"
    path.write_text(BAD)
    there, here = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | settings
    done = subprocess.run(
        [*COMMAND, "check", path], stdout=here, stderr=here, env=environment, check=False
    )
    os.close(here)
    shown = b""
    while True:
        try:
            part = os.read(there, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(there)
    assert done.returncode == 1
    assert b"E1201" in shown
    assert (b"\x1b[" in shown) == colour


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupt_ends_quietly(tmp_path: Path) -> None:
    marker = tmp_path / "started"
    # `check` is asked to run a function that waits, once the command is under way.
    code = (
        "import sys, time, pathlib, linnet.cli.check as check\n"
        "from linnet.cli.main import main\n"
        "def wait(options):\n"
        f"    pathlib.Path({str(marker)!r}).touch()\n"
        "    time.sleep(60)\n"
        "check.run = wait\n"
        "sys.exit(main(['check', '.']))\n"
    )
    command = [sys.executable, "-c", code]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=interruptible)
    while not marker.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert (process.returncode, err) == (130, b"")
