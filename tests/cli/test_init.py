"""`linnet init`: what it writes works, and it writes over nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from linnet.cli import init
from linnet.cli.main import main

Capture = pytest.CaptureFixture[str]
FILES = ["README.md", "linnet.toml", "nest.toml", "src/lib.linnet"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    here = tmp_path / "work"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def files(folder: Path) -> dict[str, bytes]:
    found = (p for p in folder.rglob("*") if p.is_file())
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


def works(path: str, capsys: Capture) -> None:
    """Checks, lints and is formatted without a word, and runs, small and at the card's sizes."""
    capsys.readouterr()
    for words in (["check"], ["lint", "--strict"], ["fmt", "--check"]):
        assert main([*words, path]) == 0, words
    assert capsys.readouterr() == ("", "")
    assert main(["run", path, "--tiny"]) == 0
    assert capsys.readouterr().out.startswith("forward: [1, 8, 32] float32\n")
    assert main(["run", path, "--weights", "random", "--tokens", "1,2,3"]) == 0
    assert capsys.readouterr().out.startswith("forward: [1, 3, 256] float32\n")
    assert main(["nest", "check", path]) == 0
    # Embedding and head, and two layers of a gated network with their norms, and the last norm.
    weights = 2 * 256 * 64 + 2 * (3 * 64 * 128 + 64) + 64
    assert f"{weights:,} weights" in capsys.readouterr().out
    assert f"parameters = {weights}\n" in (init.EXAMPLE / "nest.toml").read_text("utf-8")


@pytest.mark.parametrize("name", ["my_model", "x", "_a2", "nn", "std_", "example"])
def test_a_new_folder(name: str, folder: Path, capsys: Capture) -> None:
    assert main(["init", name]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for file in FILES:
        assert f"created {name}/{file}\n" in out
    assert f"linnet check {name}\n" in out and f"linnet run {name} --tiny\n" in out
    assert sorted(files(folder)) == [f"{name}/{file}" for file in FILES]
    if name.islower():
        works(name, capsys)
    else:  # the name of a module is in the wrong case
        assert main(["check", name]) == main(["run", name, "--tiny"]) == 0


def test_the_name_is_in_every_file_and_no_other(folder: Path) -> None:
    assert main(["init", "swift"]) == 0
    for file, text in files(folder / "swift").items():
        assert b"swift" in text and b"example" not in text, file
        assert b"\r" not in text


def test_an_empty_folder(folder: Path, capsys: Capture) -> None:
    (folder / "m").mkdir()
    assert main(["init", "m"]) == 0
    works("m", capsys)


@pytest.mark.parametrize("kind", ["full", "hidden", "file", "link", "dangling"])
def test_what_is_there_is_left_alone(kind: str, folder: Path, capsys: Capture) -> None:
    (folder / "other").mkdir()
    if kind in ("full", "hidden"):
        (folder / "m").mkdir()
        (folder / "m" / (".git" if kind == "hidden" else "a.txt")).write_text("mine")
    elif kind == "file":
        (folder / "m").write_text("mine")
    else:
        (folder / "m").symlink_to("other" if kind == "link" else "nowhere")
    before = files(folder)
    assert main(["init", "m"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error[E2102]: `m` is there already and no empty folder\n")
    assert "--here" in err
    assert files(folder) == before and os.path.lexists(folder / "m")


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("my-model", "write `my_model`, for instance"),
        ("2x", "begin with no digit"),
        ("a/b", "change into the folder"),
        ("../up", "change into the folder"),
        ("std", "choose another name"),
        ("crate", "choose another name"),
        ("while", "write `while_`, for instance"),
        ("kernel", "write `kernel_`, for instance"),
        ("größe", "letters, digits and `_`"),
        ("a b", "write `a_b`, for instance"),
        (".", "letters, digits and `_`"),
        ("Model", "write `model`, for instance"),
        ("CON", "write `con`, for instance"),
        ("While", "choose another name"),
        ("a\x1b[2J", "write `a_2J`, for instance"),
    ],
)
@pytest.mark.parametrize("here", [[], ["--here"]])
def test_a_wrong_name(
    name: str, help_: str, here: list[str], folder: Path, capsys: Capture
) -> None:
    assert main(["init", name, *here]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error[E2102]: `")
    assert help_ in err and "\x1b" not in err
    assert files(folder) == {}


def test_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    here = tmp_path / 'a "quoted" name'
    (here / "src").mkdir(parents=True)
    (here / "notes.txt").write_text("mine")
    (here / "README.md").write_text("my own")
    monkeypatch.chdir(here)
    assert main(["init", "m", "--here"]) == 0
    out = capsys.readouterr().out
    assert "created linnet.toml\n" in out and "README.md" not in out
    assert "linnet check .\n" in out and "linnet run . --tiny\n" in out
    found = files(here)
    assert sorted(found) == sorted([*FILES, "notes.txt"])
    assert (found["README.md"], found["notes.txt"]) == (b"my own", b"mine")
    works(".", capsys)


@pytest.mark.parametrize("file", ["linnet.toml", "nest.toml", "src/lib.linnet", "src"])
def test_a_file_in_the_way(file: str, folder: Path, capsys: Capture) -> None:
    path = folder / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    before = files(folder)
    assert main(["init", "m", "--here"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"error[E2102]: `{file}` is there already")
    assert files(folder) == before


@pytest.mark.parametrize("here", [[], ["--here"]])
def test_a_folder_that_cannot_be_looked_into(
    here: list[str], folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's refusal is played: for an administrator there is none."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (folder / "m").mkdir()
    monkeypatch.setattr(Path, "cwd" if here else "iterdir", refuse)
    assert main(["init", "m", *here]) == 1
    out, err = capsys.readouterr()
    place = "." if here else "m"
    assert out == "" and f"error[E1202]: cannot look into `{place}`: permission denied\n" in err
    monkeypatch.undo()
    assert files(folder) == {}


def test_a_write_that_fails_leaves_nothing(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = init._FILES[0]

    def texts(at: Path, name: str) -> list[tuple[Path, str]]:
        return [(at / first, "text"), (at / "no" / "such" / "folder", "text")]

    monkeypatch.setattr(init, "_texts", texts)
    assert main(["init", "m"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "error[E1202]: cannot write m/no/such" in err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("words", [[], [""], ["a", "b"], ["a", "--there"]])
def test_a_wrong_command_line(words: list[str], folder: Path, capsys: Capture) -> None:
    assert main(["init", *words]) == 2
    assert "usage: linnet" in capsys.readouterr().err
    assert files(folder) == {}


def test_the_example_is_whole() -> None:
    """What is installed beside the command is a package itself."""
    assert sorted(files(init.EXAMPLE)) == FILES
