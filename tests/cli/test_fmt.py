from __future__ import annotations

import io
import os
import shutil
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from linnet import nest
from linnet.cli.main import main
from linnet.packages import sources, text
from tests.gpt_oss import FIXTURE, SEED, load

Capture = pytest.CaptureFixture[str]
UGLY = "module a\nconst A:i32=1 // é\n"
NICE = "module a\n\nconst A: i32 = 1 // é\n"
BAD = "module a\nconst A:i32=\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def test_rewrites_in_place_and_says_so(tmp_path: Path, capsys: Capture) -> None:
    ugly, nice = write(tmp_path / "a.linnet", UGLY), write(tmp_path / "b.linnet", NICE)
    before = nice.stat()
    assert main(["fmt", str(ugly), str(nice)]) == 0
    assert capsys.readouterr() == (f"formatted {ugly.as_posix()}\n", "")
    assert ugly.read_bytes() == NICE.encode("utf-8")
    assert (nice.stat().st_ino, nice.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert main(["fmt", str(ugly), str(nice)]) == 0
    assert capsys.readouterr() == ("", "")


def test_what_is_written_is_made_of_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write(tmp_path / name, UGLY) for name in ("a.linnet", "b.linnet")]
    read: list[Path] = []

    def once(path: Path) -> bytes:
        read.append(path)
        return path.read_bytes()

    monkeypatch.setattr(text, "read_file", once)
    assert main(["fmt", str(tmp_path)]) == 0
    assert read == paths
    assert [path.read_text("utf-8") for path in paths] == [NICE, NICE]


def test_check_writes_nothing(tmp_path: Path, capsys: Capture) -> None:
    ugly = write(tmp_path / "a.linnet", UGLY)
    write(tmp_path / "b.linnet", NICE)
    assert main(["fmt", "--check", str(tmp_path)]) == 1
    assert capsys.readouterr() == (f"{ugly.as_posix()}\n", "")
    assert ugly.read_bytes() == UGLY.encode("utf-8")
    assert main(["fmt", "--check", str(tmp_path / "b.linnet")]) == 0


def test_everything_below_a_folder(tmp_path: Path) -> None:
    inside = [write(tmp_path / name, UGLY) for name in ("a.linnet", "p/src/lib.linnet")]
    outside = [write(tmp_path / name, UGLY) for name in (".git/a.linnet", "a.txt")]
    assert main(["fmt", str(tmp_path)]) == 0
    assert [p.read_text("utf-8") for p in inside] == [NICE, NICE]
    assert [p.read_text("utf-8") for p in outside] == [UGLY, UGLY]


def test_a_folder_without_sources_is_an_error(tmp_path: Path, capsys: Capture) -> None:
    assert main(["fmt", str(tmp_path)]) == 1
    assert "there is no .linnet file in" in capsys.readouterr().err


@pytest.mark.parametrize("text", [BAD, "const A:i32=1\n", "module a /*"])
def test_syntax_errors_leave_a_file_alone(text: str, tmp_path: Path, capsys: Capture) -> None:
    bad, ugly = write(tmp_path / "a.linnet", text), write(tmp_path / "b.linnet", UGLY)
    assert main(["fmt", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "error[E1" in err and "a.linnet:" in err
    assert out == f"formatted {ugly.as_posix()}\n"
    assert bad.read_bytes() == text.encode("utf-8")


def test_other_mistakes_do_not_matter(tmp_path: Path) -> None:
    path = write(tmp_path / "a.linnet", "module a\nuse std.nothing\nconst A:i32=unknown\n")
    assert main(["fmt", str(path)]) == 0
    assert path.read_text("utf-8") == "module a\n\nuse std.nothing\n\nconst A: i32 = unknown\n"


def test_text_that_is_not_utf8(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.linnet"
    path.write_bytes(b"module a // \xff\n")
    assert main(["fmt", str(path)]) == 1
    assert "error[E1001]" in capsys.readouterr().err
    assert path.read_bytes() == b"module a // \xff\n"


def test_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = write(tmp_path / "a.linnet", "\ufeff" + NICE.replace("\n", "\r\n"))
    assert main(["fmt", "--check", str(path)]) == 1
    assert main(["fmt", str(path)]) == 0
    assert path.read_bytes() == NICE.encode("utf-8")


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_stay(tmp_path: Path) -> None:
    path = write(tmp_path / "a.linnet", UGLY)
    path.chmod(0o751)
    assert main(["fmt", str(path)]) == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o751


def test_a_write_that_fails_leaves_the_file(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.linnet", UGLY)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sources.os, "replace", full)
    assert main(["fmt", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == "" and f"cannot write {path.as_posix()}: no space left" in err
    assert [p.name for p in tmp_path.iterdir()] == ["a.linnet"]
    assert path.read_bytes() == UGLY.encode("utf-8")


def test_links(tmp_path: Path, capsys: Capture) -> None:
    outside = write(tmp_path / "out" / "o.linnet", UGLY)
    inside = write(tmp_path / "in" / "a.linnet", UGLY)
    (tmp_path / "in" / "folder").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "b.linnet").symlink_to("a.linnet")
    assert main(["fmt", str(tmp_path / "in")]) == 0
    assert inside.read_text("utf-8") == NICE and outside.read_text("utf-8") == UGLY
    assert (tmp_path / "in" / "b.linnet").is_symlink()
    (tmp_path / "in" / "c.linnet").symlink_to(outside)
    capsys.readouterr()
    assert main(["fmt", str(tmp_path / "in")]) == 1
    assert "c.linnet is a symbolic link out of" in capsys.readouterr().err
    assert outside.read_text("utf-8") == UGLY


@pytest.mark.parametrize("words", [["fmt"], ["fmt", "no-such"], ["fmt", ""]])
def test_a_wrong_command_line(words: list[str], capsys: Capture) -> None:
    assert main(words) == 2
    assert "usage: linnet fmt" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text", "status", "out"),
    [
        (["-"], UGLY, 0, NICE),
        (["-"], NICE, 0, NICE),
        (["-", "--check"], UGLY, 1, "<stdin>\n"),
        (["-", "--check"], NICE, 0, ""),
        (["-"], BAD, 1, ""),
    ],
)
def test_standard_input(
    words: list[str],
    text: str,
    status: int,
    out: str,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode("utf-8"))))
    assert main(["fmt", *words]) == status
    found = capfdbinary.readouterr()
    assert found.out == out.encode("utf-8")
    assert (b"<stdin>:2" in found.err) == (text == BAD)


@pytest.mark.skipif(not FIXTURE.exists() or not SEED.exists(), reason="../shared is absent")
def test_the_seed_formatted_computes_the_same_bits(tmp_path: Path, capsys: Capture) -> None:
    """Its indentation was lost: every file changes, and no number does."""
    card = tmp_path / SEED.name
    shutil.copytree(SEED, card, copy_function=shutil.copyfile)
    sources = sorted(card.rglob("*.linnet"))
    for path in (card, *card.rglob("*")):
        path.chmod(0o755)
    assert main(["fmt", str(card)]) == 0
    assert capsys.readouterr().out == "".join(f"formatted {p.as_posix()}\n" for p in sources)
    assert main(["fmt", "--check", str(card)]) == 0
    assert main(["check", str(card)]) == 0
    assert capsys.readouterr() == ("", "")
    tokens = dict(np.load(FIXTURE / "reference.npz"))["tokens"]
    plain: nest.Model = load(SEED, "f32")
    laid_out: nest.Model = load(card, "f32")
    assert plain(tokens).tobytes() == laid_out(tokens).tobytes()
    for at in range(3):
        step = tokens[:, at : at + 1]
        assert plain.decode(step, at).tobytes() == laid_out.decode(step, at).tobytes()
