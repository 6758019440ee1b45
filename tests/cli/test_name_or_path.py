"""A card's folder that has the name of a shipped card, and a plain name beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from linnet import nest
from linnet.cli.main import main

NAME = "gpt-oss-20b"
SOURCE = """\
module mine

pub fn twice(x: f32) -> f32 {
    return 2.0 * x
}

pub block Mine {
    param w: f32

    pub entry forward<S: Dim>(tokens: Tensor[S; i32]) -> Tensor[S; f32] {
        let y[s] = twice(cast<f32>(tokens[s])) * w
        return y
    }
}
"""
TOML = f"""\
[model]
name = "{NAME}"
title = "Mine"
summary = "A user's own."
license = "MIT"
family = "mine"
parameters = 1

[links]
huggingface = "https://huggingface.co/me/mine"

[source]
path = "src/lib.linnet"
root = "Mine"
entry = "forward"

[weights]
repo = "me/mine"
revision = "0000000000000000000000000000000000000000"
files = ["model.safetensors"]
"""
PATHS = [f"./{NAME}", f"{NAME}/", f"./{NAME}/nest.toml", f"../here/{NAME}"]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The card's folder, in the working folder."""
    folder = tmp_path / "here" / NAME
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.linnet").write_text(SOURCE)
    (folder / "nest.toml").write_text(TOML)
    manifest = '[package]\nname = "mine"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    (folder / "linnet.toml").write_text(manifest)
    monkeypatch.chdir(folder.parent)
    return folder


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def said(*words: str, status: int = 0) -> str:
        assert main([*words]) == status
        out, err = capsys.readouterr()
        return out + err

    return said


@pytest.mark.parametrize("path", PATHS)
def test_a_path_in_every_command(mine: Path, said: Callable[..., str], path: str) -> None:
    assert said("run", path, "--weights", "random", "--tokens", "1,2").startswith("forward: [2]")
    assert said("nest", "show", path).startswith(f"{NAME}: Mine\n")
    assert said("nest", "check", path) == f"{NAME}: 1 parameter, 1 weights\n"
    text = said("explain", path, "--json")
    assert [e["entry"] for e in json.loads(text)["entries"]] == ["forward"]
    (mine / "nest.toml").write_text(TOML.replace("parameters = 1", "parameters = 2"))
    assert "`parameters` says 2" in said("check", path, status=1)


def test_a_plain_name_in_every_command(mine: Path, said: Callable[..., str]) -> None:
    (mine / "nest.toml").write_text(TOML.replace("parameters = 1", "parameters = 2"))
    assert said("check", NAME) == ""
    assert said("nest", "show", NAME).startswith(f"{NAME}: GPT-OSS 20B\n")
    assert "20,914,757,184 weights" in said("nest", "check", NAME)
    assert "std.nn.linear::linear" in said("explain", NAME)
    assert said("run", NAME, "--tiny", "--tokens", "1,2").startswith("forward: ")
    assert nest.load(NAME, "numpy", tiny=True).card.title != "Mine"


def test_a_folder_of_cards(mine: Path, said: Callable[..., str]) -> None:
    (mine / "nest.toml").write_text(TOML.replace("parameters = 1", "parameters = 2"))
    assert "`parameters` says 2" in said("check", ".", status=1)


class Lazy:
    """A path that is none of `pathlib`."""

    def __fspath__(self) -> str:
        return NAME


@pytest.mark.parametrize(
    "path", [f"./{NAME}", f"{NAME}/", Path(NAME), Lazy()], ids=["dot", "slash", "Path", "PathLike"]
)
@pytest.mark.usefixtures("mine")
def test_load_takes_a_path(path: str | os.PathLike[str]) -> None:
    model = nest.load(path, "numpy", weights="random")
    assert model.card.title == "Mine"
    # Where it was found is a path, too.
    assert nest.load(model.card.directory, "numpy", weights="random").card.title == "Mine"


def test_a_plain_name_beside_a_folder_that_is_no_card(mine: Path, said: Callable[..., str]) -> None:
    (mine / "nest.toml").unlink()
    assert "std.nn.linear::linear" in said("explain", NAME)
    assert said("nest", "check", f"./{NAME}", status=1).startswith("error[E5001]: the folder ./")
