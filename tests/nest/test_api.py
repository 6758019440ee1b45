"""The names that a user imports, and what they say of themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linnet
from linnet import nest
from linnet.cli.main import main
from linnet.source.errors import LinnetError
from tests.nest.small import load, refused, write_card

Capture = pytest.CaptureFixture[str]


def test_the_names_of_the_package() -> None:
    assert linnet.__all__ == ["Diagnostic", "LinnetError", "__version__", "check_paths", "nest"]
    assert all(getattr(linnet, name) is not None for name in linnet.__all__)
    assert set(linnet.__all__) <= set(dir(linnet))
    assert linnet.LinnetError is LinnetError and linnet.nest.load is nest.load
    with pytest.raises(AttributeError, match="module `linnet` has no attribute `lode`"):
        _ = linnet.lode  # pyright: ignore[reportAttributeAccessIssue]


def test_the_package_alone_gives_nest() -> None:
    code = (
        "import linnet, sys\n"
        "assert not [m for m in sys.modules if m.startswith('linnet.')]\n"
        "assert callable(linnet.nest.load)\n"
        "from linnet import *\n"
        "print(nest.load.__module__, LinnetError.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "linnet.nest.loading LinnetError\n"


def test_a_tiny_variant() -> None:
    model = linnet.nest.load("gpt-oss-20b", backend="numpy", tiny=True)
    assert model.generics["Vocab"] == model.card.tiny["Vocab"] != model.card.generics["Vocab"]
    assert model([[1, 2, 3]]).shape == (1, 3, model.generics["Vocab"])
    smaller = nest.load("gpt-oss-20b", "numpy", tiny=True, generics={"Layers": 2})
    assert smaller.generics == {**model.generics, "Layers": 2} != model.generics


def test_a_tiny_variant_of_a_checkpoint(tmp_path: Path) -> None:
    tiny = ("[weights]", "[tiny]\nLayers = 1\n\n[weights]")
    folder = write_card(tmp_path, tiny)
    files = tmp_path / "none"
    assert "no weights at" in refused("E5003", nest.load, folder, "numpy", tiny=True, weights=files)
    one = load(folder, tiny=True)
    assert np.array_equal(one([3]), load(folder, generics={"Layers": 1})([3]))


def test_a_card_without_one(tmp_path: Path) -> None:
    folder = write_card(tmp_path)
    assert "has no table [tiny]" in refused("E5001", nest.load, folder, "numpy", tiny=True)
    assert "`tiny` must be True or False" in refused("E2102", load, folder, tiny="yes")


def test_a_card_shows_itself_briefly(tmp_path: Path) -> None:
    card = load(write_card(tmp_path)).card
    assert "name='small'" in repr(card) and "toml" not in repr(card)
    assert len(repr(card)) < 1500


def test_an_error_reads_as_the_command_line_prints_it(tmp_path: Path, capsys: Capture) -> None:
    folder = write_card(tmp_path, ("H = 2\n", "H = 3\n"), bindings={"table": 3})
    with pytest.raises(LinnetError) as caught:
        load(folder)
    assert main(["nest", "check", str(folder)]) == 1
    printed = capsys.readouterr().err
    assert printed == f"{caught.value}\n\n2 errors\n"
    assert "\x1b" not in printed
