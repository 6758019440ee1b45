"""Optional parameters of a card without bindings: its checkpoint decides, everywhere alike."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnet import nest
from linnet.cli.main import main
from linnet.source.errors import LinnetError
from tests.cards import card_folder
from tests.nest.small import write_card

Capture = pytest.CaptureFixture[str]

SOURCE = """\
module my

use std.nn.linear::{Linear}

pub block Pair<H: Dim, Inner: Dim> {
    param scale: Tensor[H; f32]
    sub up: Linear<H, Inner, f32>
    sub down: Linear<Inner, H, f32>

    pub entry forward<S: Dim>(x: Tensor[S, H; f32]) -> Tensor[S, H; f32] {
        return down.forward(up.forward(x)) * scale
    }
}
"""
TOML = """\
[model]
name = "my"
title = "My"
summary = "Two layers."
license = "MIT"
family = "my"
parameters = 52

[links]
huggingface = "https://huggingface.co/me/my"

[source]
path = "src/lib.linnet"
root = "Pair"
entry = "forward"

[generics]
H = 4
Inner = 6

[weights]
repo = "me/my"
revision = "0000000000000000000000000000000000000000"
files = ["model.safetensors"]
"""
# Without the biases, which are of 6 and of 4, and with them.
LEAST, MOST = 52, 62
SHAPES = {
    "scale": (4,),
    "up.weight": (6, 4),
    "up.bias": (6,),
    "down.weight": (4, 6),
    "down.bias": (4,),
}


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return card_folder(tmp_path, "my", SOURCE, TOML)


def counted(card: Path, number: int) -> None:
    text = (card / "nest.toml").read_text()
    line = next(line for line in text.splitlines() if line.startswith("parameters"))
    (card / "nest.toml").write_text(text.replace(line, f"parameters = {number}"))


def write(folder: Path, *names: str) -> Path:
    folder.mkdir()
    tensors = {n: np.ones(SHAPES[n], np.float32) for n in names}
    save_file(tensors, folder / "model.safetensors")
    return folder


def said(capsys: Capture, *words: str, status: int = 0) -> str:
    assert main(list(words)) == status
    out, err = capsys.readouterr()
    return out + err


@pytest.mark.parametrize(
    ("names", "count"),
    [
        (["scale", "up.weight", "down.weight"], 52),
        (["scale", "up.weight", "up.bias", "down.weight"], 58),
        ([*SHAPES], 62),
    ],
)
def test_with_headers_those_count_that_are_there(
    card: Path, tmp_path: Path, capsys: Capture, names: list[str], count: int
) -> None:
    weights = write(tmp_path / "w", *names)
    counted(card, count)
    noun = f"{len(names)} parameters, {count} weights"
    text = said(capsys, "nest", "check", str(card), "--weights", str(weights))
    assert text == f"my: {noun} and fits {weights}\n"
    counted(card, count + 1)
    text = said(capsys, "nest", "check", str(card), "--weights", str(weights), status=1)
    fault = f"says {count + 1}, but the model has {count} weights\n"
    assert fault in text
    with pytest.raises(LinnetError, match=fault):
        nest.load(card, "numpy", weights=weights)
    counted(card, count)
    model = nest.load(card, "numpy", weights=weights)
    assert model.unbound == ()
    # All are ones: 4 of them and a bias, then 6 of what that gives and a bias.
    expected = 6 * (4 + int("up.bias" in names)) + int("down.bias" in names)
    assert model(np.ones((1, 4), np.float32)).tolist() == [[expected] * 4]


def misspelt(folder: Path) -> Path:
    """A checkpoint with all tensors, of which `up.bias` has another name."""
    shapes = {"up.bais" if n == "up.bias" else n: s for n, s in SHAPES.items()} | {"spare": (1,)}
    weights = folder / "w"
    weights.mkdir()
    tensors = {n: np.ones(s, np.float32) for n, s in shapes.items()}
    save_file(tensors, weights / "model.safetensors")
    return weights


def test_a_misspelt_optional_is_told_beside_the_count(
    card: Path, tmp_path: Path, capsys: Capture
) -> None:
    weights = misspelt(tmp_path)
    counted(card, 62)
    text = said(capsys, "nest", "check", str(card), "--weights", str(weights), status=1)
    assert "`parameters` says 62, but the model has 56 weights\n" in text
    lost = "a tensor of the checkpoint is bound to nothing, and an optional parameter is absent"
    assert f"error[E5002]: {lost}: `up.bais`\n" in text
    assert "help: did you mean `up.bias`?\n" in text and text.endswith("\n2 errors\n")
    with pytest.raises(LinnetError, match=r"did you mean `up\.bias`"):
        nest.load(card, "numpy", weights=weights)


def test_a_misspelt_optional_that_the_count_leaves_out_is_a_warning(
    card: Path, tmp_path: Path, capsys: Capture
) -> None:
    weights = misspelt(tmp_path)
    counted(card, 56)
    names = r"bound to nothing: `spare`, `up.bais` \(did you mean `up.bias`\?\)"
    with pytest.warns(UserWarning, match=names):
        model = nest.load(card, "numpy", weights=weights)
    assert set(model.unbound) == {"up.bais", "spare"}
    text = said(capsys, "nest", "check", str(card), "--weights", str(weights))
    assert "not bound: `up.bais` [6] F32; did you mean `up.bias`?\n" in text
    assert "not bound: `spare` [1] F32\n" in text


@pytest.mark.parametrize(("number", "status"), [(51, 1), (52, 0), (58, 0), (62, 0), (63, 1)])
def test_without_headers_the_count_is_a_range(
    card: Path, capsys: Capture, number: int, status: int
) -> None:
    counted(card, number)
    text = said(capsys, "check", str(card), status=status)
    fault = f"`parameters` says {number}, but the model has {LEAST} weights, {MOST} with all that"
    assert (fault in text) == bool(status)
    way_out = "help: write `parameters = 52`, or up to 62 for what the checkpoint has\n"
    assert (way_out in text) == bool(status)


def test_show_says_what_may_be_there(card: Path, capsys: Capture) -> None:
    text = said(capsys, "nest", "show", str(card))
    assert "52 weights (up to 62 with optional parameters), license MIT" in text
    assert "parameters (3 bound, " in text
    assert (
        "optional parameters there if the checkpoint has them (2):\n  up.bias\n  down.bias\n"
        in text
    )
    said(capsys, "nest", "check", str(card))


def test_the_document_of_a_card(card: Path, capsys: Capture) -> None:
    found = json.loads(said(capsys, "nest", "show", str(card), "--json"))
    entry = "forward<S>(x: Tensor[S, 4; f32]) -> Tensor[S, 4; f32]"
    assert found == {
        "version": 1,
        "name": "my",
        "title": "My",
        "summary": "Two layers.",
        "license": "MIT",
        "family": "my",
        "tags": [],
        "links": {"huggingface": "https://huggingface.co/me/my"},
        "weights": {"least": LEAST, "most": MOST},
        "checkpoint": {"repo": "me/my", "revision": "0" * 40, "files": ["model.safetensors"]},
        "root": "Pair",
        "entry": "forward",
        "generics": {"H": 4, "Inner": 6},
        "entries": [{"name": "forward", "signature": entry}],
        "parameters": [
            {
                "path": path,
                "shape": [*shape],
                "dtype": "f32",
                "bytes": 4 * math.prod(shape),
                "optional": "bias" in path,
                "there": None if "bias" in path else True,
            }
            for path, shape in SHAPES.items()
        ],
        "states": [],
    }
    bindings = {path: path for path in SHAPES if path != "up.bias"}
    (card / "bindings.json").write_text(json.dumps(bindings))
    text = (card / "nest.toml").read_text()
    (card / "nest.toml").write_text(text + 'bindings = "bindings.json"\n')
    counted(card, 56)
    found = json.loads(said(capsys, "nest", "show", str(card), "--json"))
    there = {p["path"]: p["there"] for p in found["parameters"]}
    assert there == {path: path != "up.bias" for path in SHAPES}
    assert found["weights"] == {"least": 56, "most": 56}
    found = json.loads(said(capsys, "nest", "show", str(card), "--json", "--set", "H=x", status=1))
    assert found["summary"] == {"errors": 1, "warnings": 0}


def test_the_states_of_a_document(tmp_path: Path, capsys: Capture) -> None:
    found = json.loads(said(capsys, "nest", "show", str(write_card(tmp_path)), "--json"))
    assert found["states"] == [{"path": "seen", "shape": [2], "dtype": "f32", "bytes": 8}]


def test_random_weights_are_those_that_must_be_there(card: Path) -> None:
    model = nest.load(card, "numpy", weights="random")
    # A layer without a bias makes zero of zero.
    assert model(np.zeros((1, 4), np.float32)).tolist() == [[0] * 4]


# --- an optional block -------------------------------------------------------

WITH_SUB = """\
module my

use std.nn.linear::{Linear}

block Layer<H: Dim, Inner: Dim> {
    sub up: Linear<H, Inner, f32>? = none
    sub down: Linear<Inner, H, f32>? = none

    pub fn forward<S: Dim>(x: Tensor[S, H; f32]) -> Tensor[S, H; f32] {
        let wide = match up {
            some(u) => u.forward(x)
            none => fill<f32>([S, Inner], 2.0)
        }
        let y[s, h] = match down {
            some(d) => d.forward(wide)[s, h]
            none => x[s, h] + (sum[i] wide[s, i])
        }
        return y
    }
}

pub block Pair<H: Dim, Inner: Dim> {
    param scale: Tensor[H; f32]
    sub layers: [Layer<H, Inner>; 2]

    pub entry forward<S: Dim>(x: Tensor[S, H; f32]) -> Tensor[S, H; f32] {
        var y = x * scale
        static for layer in layers {
            y = layer.forward(y)
        }
        return y
    }
}
"""


@pytest.mark.parametrize(
    ("names", "count", "expected"),
    [
        # All are ones: a layer without `down` adds 6 numbers, 2 or the sum of 4, to its input;
        # one with it sums them.
        ([], 4, 25),
        (["up.weight"], 4 + 2 * 24, 25 * 25),
        (["down.weight"], 4 + 2 * 24, 12),
        (["up.weight", "down.weight"], 4 + 2 * 48, 24 * 24),
        (["up.weight", "up.bias", "down.weight"], 4 + 2 * 54, 6 * (4 * 6 * 5 + 1)),
    ],
)
def test_an_optional_block(
    card: Path, tmp_path: Path, capsys: Capture, names: list[str], count: int, expected: int
) -> None:
    (card / "src" / "lib.linnet").write_text(WITH_SUB)
    counted(card, count)
    tensors = {f"layers.{i}.{n}": np.ones(SHAPES[n], np.float32) for i in (0, 1) for n in names}
    weights = tmp_path / "model.safetensors"
    save_file({**tensors, "scale": np.ones(4, np.float32)}, weights)
    said(capsys, "nest", "check", str(card), "--weights", str(weights))
    model = nest.load(card, "numpy", weights=weights)
    found = model(np.ones((3, 4), np.float32))
    assert found.shape == (3, 4)
    assert np.array_equal(found, np.full((3, 4), expected, np.float32)), found


def test_optional_members_that_only_one_layer_has(
    card: Path, tmp_path: Path, capsys: Capture
) -> None:
    (card / "src" / "lib.linnet").write_text(WITH_SUB)
    names = ["layers.1.up.weight", "layers.0.down.weight", "layers.1.down.weight"]
    tensors = {n: np.ones(SHAPES[n[9:]], np.float32) for n in names}
    bias = {"layers.0.down.bias": np.ones(4, np.float32)}
    weights = tmp_path / "model.safetensors"
    save_file({**tensors, **bias, "scale": np.ones(4, np.float32)}, weights)
    with pytest.raises(LinnetError) as caught:
        nest.load(card, "numpy", weights=weights)
    split = [
        "`layers.1.up` is there and `layers.0.up` is not",
        "`layers.0.down.bias` is there and `layers.1.down.bias` is not",
    ]
    assert [(d.code, d.message) for d in caught.value.diagnostics] == [("E5002", s) for s in split]
    text = said(capsys, "nest", "check", str(card), "--weights", str(weights), status=1)
    assert all(s in text for s in split)
