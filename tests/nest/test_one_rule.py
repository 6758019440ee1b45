"""What one use of a card refuses, all of them refuse, in the same words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from linnet import nest
from linnet.cli.main import main
from linnet.source.errors import LinnetError
from tests.nest.small import BINDINGS, write_card

Refused = Callable[..., str]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Refused:
    """The report that every command and `nest.load` give of a card."""

    def refused(card: Path, **generics: int) -> str:
        sets = [word for k, v in generics.items() for word in ("--set", f"{k}={v}")]
        texts: set[str] = set()
        for words in (["nest", "check"], ["nest", "show"], ["explain"], ["run"]):
            extra = ["--weights", "random"] if words == ["run"] else []
            assert main([*words, str(card), *sets, *extra]) == 1
            out, err = capsys.readouterr()
            assert out == ""
            texts.add(err.rpartition("\n\n")[0])
        with pytest.raises(LinnetError) as caught:
            nest.load(card, "numpy", weights="random", generics=generics)
        texts.add(str(caught.value).strip())
        (text,) = texts
        return text

    return refused


def test_bindings_beyond_the_layers_of_the_card(tmp_path: Path, refused: Refused) -> None:
    card = write_card(tmp_path, bindings={**BINDINGS, "layers.99.scale": "l99.s"})
    expected = "error[E5002]: a binding names no parameter: `layers.99.scale`, bound to `l99.s`\n"
    assert refused(card).startswith(expected)
    # The card's own model has layer 1, which is left aside; layer 99 it has not.
    assert refused(card, Layers=1).startswith(expected)


def test_the_number_of_weights(tmp_path: Path, refused: Refused) -> None:
    text = refused(write_card(tmp_path, ("= 16", "= 17")))
    assert text.startswith("error[E5001]: `parameters` says 17, but the model has 16 weights\n")


def test_a_generic_of_no_entry(tmp_path: Path, refused: Refused) -> None:
    text = refused(write_card(tmp_path, ("[check]\nS = 8", "[check]\nSize = 8")))
    assert text.startswith("error[E5001]: no entry of `Model` has a generic `Size`\n")


def test_a_tiny_variant(tmp_path: Path, refused: Refused) -> None:
    text = refused(write_card(tmp_path, ("[check]", "[tiny]\nH = 3\n\n[check]")))
    assert text.startswith("error[E5001]: `where H % 2 == 0` of `Model` does not hold: H = 3\n")
