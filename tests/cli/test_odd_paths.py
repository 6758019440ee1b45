"""Paths that no file has, that may not be looked at, or that lead nowhere: each is a finding."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linnet import nest
from linnet.cli.main import main
from linnet.packages.package import SUFFIX
from linnet.pipeline import check_paths
from tests.nest.small import refused, write_card, write_weights

Capture = pytest.CaptureFixture[str]
# Longer than the 255 bytes that file systems allow.
LONG = "a" * 300
ROADS = [
    ["check"],
    ["nest", "check"],
    ["nest", "show"],
    ["explain"],
    ["inspect", "--ir"],
    ["inspect", "--parameters"],
    ["run", "--weights", "random"],
    ["lint"],
]
OF_CARDS = [road for road in ROADS if road != ["lint"]]


def said(capsys: Capture, *words: str | Path) -> str:
    assert main([*map(str, words)]) == 1
    return capsys.readouterr().err


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes a folder one that only its owner may enter; permissions do not bind root."""

    def lock(folder: Path) -> None:
        def guarded(ask: Callable[..., Any]) -> Callable[..., Any]:
            def asked(path: Any, *rest: Any, **named: Any) -> Any:
                inside = not isinstance(path, int) and folder in Path(os.fsdecode(path)).parents
                if inside:
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
                return ask(path, *rest, **named)

            return asked

        for name in ("stat", "lstat", "scandir"):
            monkeypatch.setattr(os, name, guarded(getattr(os, name)))

    return lock


# --- names that are too long --------------------------------------------------


@pytest.mark.parametrize("road", OF_CARDS, ids=" ".join)
def test_a_source_of_a_long_name(tmp_path: Path, capsys: Capture, road: list[str]) -> None:
    card = write_card(tmp_path, ("src/lib.linnet", f"src/{LONG}.linnet"))
    text = said(capsys, *road, card)
    assert "error[E5001]: the source file `src/aaa" in text and "nest.toml:" in text
    assert text.endswith("\n1 error\n")


def test_load_refuses_a_source_of_a_long_name(tmp_path: Path) -> None:
    card = write_card(tmp_path, ("src/lib.linnet", f"src/{LONG}.linnet"))
    assert "is not in the card's folder" in refused("E5001", nest.load, card, "numpy", tiny=True)


def test_other_files_of_long_names(tmp_path: Path, capsys: Capture) -> None:
    card = write_card(tmp_path, ('"bindings.json"', f'"{LONG}.json"'))
    text = said(capsys, "nest", "check", card)
    assert "error[E5002]: cannot read the bindings" in text and ": file name too long\n" in text
    manifest = card / "linnet.toml"
    manifest.write_text(f'{manifest.read_text()}\n[dependencies]\nx = {{ path = "{LONG}" }}\n')
    assert "error[E5001]: no package at `aaa" in said(capsys, "check", card)


def test_weights_and_a_repository_of_long_names(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    edits = [("two.safetensors", f"{LONG}.safetensors"), ('"a/small"', f'"a/{LONG}"')]
    card, weights = write_card(tmp_path, *edits), write_weights(tmp_path)
    text = said(capsys, "nest", "check", card, "--weights", weights)
    assert "error[E5003]: 1 of the 2 files of the card small is missing: `aaa" in text
    assert "error[E5003]: the checkpoint of small is not in the cache" in said(capsys, "run", card)
    (weights / "one.safetensors").unlink()
    text = said(capsys, "nest", "check", card, "--weights", weights)
    assert f"error[E5003]: the folder {weights} holds no checkpoint" in text
    index = f'{{"weight_map": {{"t": "{LONG}.safetensors"}}}}'
    (weights / "model.safetensors.index.json").write_text(index)
    text = said(capsys, "nest", "check", card, "--weights", weights)
    assert "error[E5003]: 1 of the 1 file of model.safetensors.index.json is missing" in text


@pytest.mark.parametrize("name", [LONG, f"{LONG}/x", f"{LONG}{SUFFIX}", f"x/{LONG}/nest.toml"])
@pytest.mark.parametrize("form", ["--ir", "--parameters", "--ast", "--tokens", "explain"])
def test_an_argument_of_a_long_name(form: str, name: str, capsys: Capture) -> None:
    text = said(capsys, *(["explain"] if form == "explain" else ["inspect", form]), name)
    assert text.startswith("error[E") and text.endswith("\n1 error\n")


# --- what may not be looked at ------------------------------------------------


@pytest.mark.parametrize("road", ROADS, ids=" ".join)
def test_a_locked_source(
    tmp_path: Path, capsys: Capture, road: list[str], lock: Callable[[Path], None]
) -> None:
    card = write_card(tmp_path)
    lock(card / "src")
    text = said(capsys, *road, card)
    assert "permission denied" in text and "E1001" not in text


@pytest.mark.parametrize("form", ["--ir", "--parameters", "--ast", "--tokens"])
def test_a_source_in_a_locked_folder(
    tmp_path: Path, capsys: Capture, form: str, lock: Callable[[Path], None]
) -> None:
    source = write_card(tmp_path) / "src/lib.linnet"
    lock(tmp_path / "small")
    text = said(capsys, "inspect", source, form)
    assert "error[E1202]" in text and "permission denied" in text and text.endswith("\n1 error\n")


def test_a_locked_checkpoint(tmp_path: Path, capsys: Capture, lock: Callable[[Path], None]) -> None:
    card, weights = write_card(tmp_path), write_weights(tmp_path)
    lock(weights)
    text = said(capsys, "nest", "check", card, "--weights", weights)
    assert f"the weights {weights} cannot be read: permission denied" in text


# --- links that lead nowhere --------------------------------------------------


@pytest.mark.parametrize("target", ["nest.toml", "nowhere"])
@pytest.mark.parametrize("road", ROADS, ids=" ".join)
def test_a_card_that_is_a_link_to_nowhere(
    tmp_path: Path, capsys: Capture, road: list[str], target: str
) -> None:
    card = write_card(tmp_path)
    (card / "nest.toml").unlink()
    (card / "nest.toml").symlink_to(target)
    text = said(capsys, *road, card)
    assert f"error[E5001]: the nest.toml of {card} is " in text and text.endswith("\n1 error\n")


@pytest.mark.parametrize("target", ["lib.linnet", "nowhere"])
@pytest.mark.parametrize("road", ROADS, ids=" ".join)
def test_a_source_that_is_a_link_to_nowhere(
    tmp_path: Path, capsys: Capture, road: list[str], target: str
) -> None:
    card = write_card(tmp_path)
    (card / "src/lib.linnet").unlink()
    (card / "src/lib.linnet").symlink_to(target)
    text = said(capsys, *road, card)
    assert "error[E1202]: cannot read" in text and text.endswith("\n1 error\n"), text


# --- manifests as arguments ---------------------------------------------------


@pytest.mark.parametrize(
    "road", [["check"], ["lint"], ["inspect", "--ir"], ["inspect", "--ast"], ["fmt", "--check"]]
)
def test_a_manifest_is_its_package(tmp_path: Path, capsys: Capture, road: list[str]) -> None:
    card = write_card(tmp_path)
    (card / "nest.toml").unlink()
    status = main([*road, str(card)])
    whole = capsys.readouterr()
    assert main([*road, str(card / "linnet.toml")]) == status
    assert capsys.readouterr() == whole


def test_a_check_shows_what_was_found(tmp_path: Path) -> None:
    card = write_card(tmp_path)
    assert repr(check_paths(card / "src/lib.linnet")) == "<check of 1 module: sound>"
    assert repr(check_paths(tmp_path / "none")) == "<check of 0 modules: 1 error>"
