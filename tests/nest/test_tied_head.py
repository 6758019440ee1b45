"""A head that is the embedding, or is not: what a checkpoint without one, or with more, gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnet import nest
from linnet.source.errors import LinnetError

SOURCE = """\
module small

use std.nn.embedding::{Embedding}
use std.nn.linear::{Linear}

pub block Model<H: Dim, T: Float> {
    sub embed: Embedding<3, H, T>
    sub head: Linear<H, 3, T>

    pub entry forward<B: Dim, S: Dim>(tokens: Tensor[B, S; i32]) -> Tensor[B, S, 3; T] {
        return head.forward(embed.forward(tokens))
    }
}
"""
TABLE = np.array([[1, 2], [3, -4], [0.5, 8]], np.float32)
PLAIN = {"embed.weight": "e", "head.weight": "h"}
TIE = 'tied = [["embed.weight", "head.weight"]]\n'


@pytest.fixture
def load(make_card: Callable[..., Path], tmp_path: Path) -> Callable[..., nest.Model]:
    def load(tensors: dict[str, Any], tied: bool, bindings: dict[str, str] = PLAIN) -> nest.Model:
        line = 'bindings = "bindings.json"\n'
        # A tied head is counted once.
        count = ("parameters = 6", f"parameters = {6 if tied else 12}")
        folder = make_card((line, line + TIE * tied), count, bindings=json.dumps(bindings))
        (folder / "src" / "lib.linnet").write_text(SOURCE)
        manifest = '[package]\nname = "small"\nversion = "0.1.0"\nlanguage = "0.1"\n'
        (folder / "linnet.toml").write_text(manifest)
        file = tmp_path / "m.safetensors"
        save_file(tensors, file)
        return nest.load(folder, "numpy", weights=file)

    return load


@pytest.mark.parametrize("bindings", [PLAIN, {"embed.weight": "e"}])
def test_a_tied_head_is_the_embedding(load: Callable[..., Any], bindings: dict[str, str]) -> None:
    bound = dict.fromkeys(bindings, "e")
    model = load({"e": TABLE}, True, bound)
    # Integers and halves: the products and sums are exact.
    assert model([[0, 2, 1]]).tolist() == [(TABLE[[0, 2, 1]] @ TABLE.T).tolist()]


def test_a_head_that_is_absent_is_an_error(load: Callable[..., Any]) -> None:
    with pytest.raises(LinnetError) as caught:
        load({"e": TABLE}, False)
    (found,) = caught.value.diagnostics
    assert found.code == "E5002"
    assert "the checkpoint lacks a tensor: `h`, for the parameter `head.weight`" in found.message


def test_a_head_of_its_own_is_taken(load: Callable[..., Any]) -> None:
    head = TABLE[::-1] + 1
    model = load({"e": TABLE, "h": head.copy()}, False)
    assert model([[1]]).tolist() == [(TABLE[[1]] @ head.T).tolist()]


def test_a_tensor_that_nothing_binds_is_listed(load: Callable[..., Any]) -> None:
    tensors = {"e": TABLE, "h": TABLE + 1, "spare": np.ones(1, np.float32)}
    with pytest.warns(UserWarning, match=r"bound to nothing: `spare`"):
        model = load(tensors, False)
    assert model.unbound == ("spare",)
