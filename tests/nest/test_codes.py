"""Each code of cards and checkpoints (E5): a card that gets it, and a near-miss that loads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet.source.codes import CODES
from tests.nest.small import ONE, load, refused, write_card, write_weights

# What is written to a folder, and what `load` is given.
Case = Callable[[Path], dict[str, Any]]


def key(name: str) -> Case:
    return lambda at: {"card": write_card(at, ('license = "MIT"', f'{name} = "MIT"'))}


def scale_of(length: int) -> Case:
    def case(at: Path) -> dict[str, Any]:
        scale = np.ones(length, np.float32)
        return {"card": write_card(at), "weights": write_weights(at, {**ONE, "l0.s": scale})}

    return case


def without_last_bytes(count: int) -> Case:
    def case(at: Path) -> dict[str, Any]:
        weights = write_weights(at)
        file = weights / "two.safetensors"
        data = file.read_bytes()
        file.write_bytes(data[: len(data) - count])
        return {"card": write_card(at), "weights": weights}

    return case


def width(size: int) -> Case:
    return lambda at: {"card": write_card(at), "generics": {"H": size}}


PAIRS: dict[str, tuple[Case, Case]] = {
    "E5001": (key("licence"), key("license")),
    "E5002": (scale_of(3), scale_of(2)),
    "E5003": (without_last_bytes(1), without_last_bytes(0)),
    "E5004": (width(2**62), width(2**2)),
}


def test_every_code_has_a_pair() -> None:
    # A card that loads may still be none that makes text: test_generate.py has that pair.
    assert sorted([*PAIRS, "E5005"]) == [code for code in CODES if code.startswith("E5")]


@pytest.mark.parametrize("code", sorted(PAIRS))
def test_the_card_gets_the_code_and_its_near_miss_loads(code: str, tmp_path: Path) -> None:
    wrong, near = PAIRS[code]
    for name in ("wrong", "near"):
        (tmp_path / name).mkdir()
    refused(code, load, **wrong(tmp_path / "wrong"))
    given = near(tmp_path / "near")
    assert load(**given)([0]).shape == (1, given.get("generics", {}).get("H", 2))
