"""How a report names files: one way for all of them, the way the user does."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from linnet.cli.main import main
from tests.nest.small import write_card

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
ALL = ["bindings.json", "nest.toml", "src/lib.linnet"]


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """One with a mistake in each of its files."""
    edits = [('license = "MIT"', 'licence = "MIT"'), ("seen + x", "seen + cast<f64>(x)")]
    return write_card(tmp_path.resolve(), *edits, bindings={"table": 3})


def named(capsys: Capture, *words: str | Path) -> list[str]:
    assert main([*map(str, words), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    return sorted({d["file"] for d in document["diagnostics"]})


@pytest.mark.parametrize("command", [["check"], ["nest", "check"]])
@pytest.mark.parametrize(
    ("here", "given"),
    [
        ("", "small"),
        ("", "./small"),
        ("small", "."),
        ("small/src", ".."),
        ("other", "../small"),
        ("", None),
        ("other", None),
    ],
)
def test_as_they_are_written(
    card: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    here: str,
    given: str | None,
) -> None:
    (card.parent / "other").mkdir()
    monkeypatch.chdir(card.parent / here)
    start = Path(given) if given is not None else card
    assert named(capsys, *command, start) == [(start / name).as_posix() for name in ALL]


def test_in_the_root_of_all_folders(
    card: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert named(capsys, "check", card) == [f"{card}/{name}" for name in ALL]
    assert main(["check", str(card)]) == 1
    assert f"--> {card}/src/lib.linnet:" in capsys.readouterr().err
    relative = card.relative_to("/")
    assert named(capsys, "check", relative) == [f"{relative}/{name}" for name in ALL]


def test_the_rest_of_the_package_of_a_file(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "p" / "src"
    source.mkdir(parents=True)
    manifest = '[package]\nname = "p"\nversion = "0.1.0"\nlanguage = "0.1"\nx = 1\n'
    (source.parent / "linnet.toml").write_text(manifest)
    (source / "lib.linnet").write_text("module p\n\nuse crate.b::{f}\n")
    (source / "b.linnet").write_text("module p.b\n\npub fn f(x: f32) -> f64 {\n    return x\n}\n")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert named(capsys, "check", "../p/src/lib.linnet") == [
        "../p/linnet.toml",
        "../p/src/lib.linnet",
    ]
    (source.parent / "linnet.toml").write_text(manifest.replace("x = 1\n", ""))
    assert named(capsys, "check", "../p/src/lib.linnet") == ["../p/src/b.linnet"]


def test_a_link_to_a_folder(card: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    os.symlink(card, card.parent / "link")
    monkeypatch.chdir(card.parent)
    # The name of the folder is that of the card.
    assert named(capsys, "check", "link") == [f"link/{name}" for name in ALL]


def test_a_shipped_card_that_is_named(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path.resolve() / "models" / "gpt-oss-20b"
    shutil.copytree(ROOT / "models" / "gpt-oss-20b", folder)
    path = folder / "nest.toml"
    path.write_text(path.read_text("utf-8").replace("[links]", "[lincs]"), "utf-8")
    monkeypatch.setattr("linnet.nest.card.shipped_folder", lambda: folder.parent)
    monkeypatch.chdir(tmp_path)
    assert named(capsys, "nest", "check", "gpt-oss-20b") == ["models/gpt-oss-20b/nest.toml"]
    assert named(capsys, "check", "gpt-oss-20b") == ["models/gpt-oss-20b/nest.toml"]
    monkeypatch.chdir(folder.parent / "gpt-oss-20b" / "src")
    assert named(capsys, "check", "gpt-oss-20b") == [str(path)]
