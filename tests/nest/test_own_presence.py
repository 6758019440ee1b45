"""Optional parameters of a card without bindings whose checkpoint is in its folder: every command
has the model that is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from linnet import nest
from linnet.cli.main import main
from tests.cards import card_folder

Capture = pytest.CaptureFixture[str]

SOURCE = """\
module two

use std.nn.linear::{Linear}

pub block Two<In: Dim, Hidden: Dim, Out: Dim> {
    sub up: Linear<In, Hidden, f32>
    sub down: Linear<Hidden, Out, f32>

    pub entry forward<S: Dim>(x: Tensor[S, In; f32]) -> Tensor[S, Out; f32] {
        return down.forward(up.forward(x))
    }
}
"""
TOML = """\
[model]
name = "two"
title = "Two"
summary = "Two layers."
license = "MIT"
family = "two"
parameters = {}

[source]
path = "src/lib.linnet"
root = "Two"
entry = "forward"

[generics]
In = 4
Hidden = 16
Out = 3

[weights]
files = ["model.safetensors"]
"""
# 4 * 16 + 16 * 3 weights, and 16 + 3 biases.
WITHOUT, WITH = 112, 131


def layers(*, bias: bool) -> torch.nn.Sequential:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(4, 16, bias=bias), torch.nn.Linear(16, 3, bias=bias))


def state_dict(net: torch.nn.Sequential) -> dict[str, torch.Tensor]:
    """By the card's paths."""
    own = {"0": "up", "1": "down"}
    return {f"{own[n[0]]}{n[1:]}": t.detach() for n, t in net.state_dict().items()}


def written(parent: Path, count: int, tensors: dict[str, torch.Tensor] | None = None) -> Path:
    folder = card_folder(parent, "two", SOURCE, TOML.format(count))
    if tensors is not None:
        save_file(tensors, folder / "model.safetensors")
    return folder


def said(capsys: Capture, *words: str, status: int = 0) -> str:
    assert main(list(words)) == status
    out, err = capsys.readouterr()
    return out + err


@pytest.mark.parametrize(("bias", "count"), [(True, WITH), (False, WITHOUT)])
def test_a_written_file_takes_the_checkpoint(
    tmp_path: Path, capsys: Capture, bias: bool, count: int
) -> None:
    net = layers(bias=bias)
    card = written(tmp_path, count, state_dict(net))
    space: dict[str, Any] = {}
    exec(compile(said(capsys, "torch", str(card)), "two.py", "exec"), space)
    own = space["model"]()
    own.load_state_dict(state_dict(net))
    x = torch.randn(5, 4)
    # The same two calls of `torch.nn.functional.linear`.
    assert torch.equal(own(x), net(x))


@pytest.mark.parametrize(("bias", "count"), [(True, WITH), (False, WITHOUT)])
def test_what_is_shown_is_what_is_loaded(
    tmp_path: Path, capsys: Capture, bias: bool, count: int
) -> None:
    tensors = state_dict(layers(bias=bias))
    card = str(written(tmp_path, count, tensors))
    assert f"\n{count} weights, license MIT\n" in said(capsys, "nest", "show", card)
    document = json.loads(said(capsys, "nest", "show", card, "--json"))
    assert document["weights"] == {"least": count, "most": count}
    assert {p["path"]: p["there"] for p in document["parameters"]} == {
        "up.weight": True,
        "up.bias": bias,
        "down.weight": True,
        "down.bias": bias,
    }
    assert ("bias = none" in said(capsys, "explain", card)) is not bias
    # A product of each layer, and where it has a bias a sum.
    assert said(capsys, "inspect", card, "--ir").count(" = add(") == (2 if bias else 0)
    rows = said(capsys, "inspect", card, "--parameters")
    assert rows.count("absent") == (0 if bias else 2)
    model: Any = nest.load(card)
    assert set(model.state_dict()) == set(tensors)


def test_without_a_checkpoint_it_is_open(tmp_path: Path, capsys: Capture) -> None:
    card = str(written(tmp_path, WITH))
    text = said(capsys, "nest", "show", card)
    assert "112 weights (up to 131 with optional parameters)" in text
    assert "bias = none" in said(capsys, "explain", card)


def test_bindings_decide(tmp_path: Path, capsys: Capture) -> None:
    tensors = state_dict(layers(bias=True))
    card = written(tmp_path, WITHOUT + 3, tensors)
    bound = {path: path for path in tensors if path != "up.bias"}
    (card / "bindings.json").write_text(json.dumps(bound))
    text = said(capsys, "nest", "show", str(card))
    assert "115 weights, license MIT" in text
    assert "optional parameters that it lacks (1):\n  up.bias\n" in text
    # They do without the checkpoint, which may be broken.
    (card / "model.safetensors").write_bytes(b"abc")
    assert said(capsys, "nest", "show", str(card)) == text
    said(capsys, "explain", str(card))


def test_a_checkpoint_that_cannot_be_read_is_a_finding(tmp_path: Path, capsys: Capture) -> None:
    card = str(written(tmp_path, WITH))
    Path(card, "model.safetensors").write_bytes(b"abc")
    for words in (["explain"], ["torch"], ["nest", "show"]):
        text = said(capsys, *words, card, status=1)
        assert text.startswith("error[E5003]") and "3 bytes are too few" in text, words
        assert text.endswith("\n1 error\n"), words


def test_a_count_that_the_checkpoint_refutes(tmp_path: Path, capsys: Capture) -> None:
    card = str(written(tmp_path, WITHOUT, state_dict(layers(bias=True))))
    fault = "`parameters` says 112, but the model has 131 weights"
    for words in (["explain"], ["torch"], ["nest", "show"], ["nest", "check"]):
        assert fault in said(capsys, *words, card, status=1), words


def test_other_generics_need_not_fit_it(tmp_path: Path, capsys: Capture) -> None:
    card = str(written(tmp_path, WITH, state_dict(layers(bias=True))))
    text = said(capsys, "nest", "show", card, "--set", "Hidden=5")
    # 4 * 5 + 5 + 5 * 3 + 3.
    assert "\n43 weights, license MIT\n" in text
    assert "bias = none" not in said(capsys, "explain", card, "--set", "Hidden=5")
    model = nest.load(card, "numpy")
    assert model(np.zeros((1, 4), np.float32)).shape == (1, 3)


DEEP = SOURCE.replace("In: Dim, Hidden: Dim, Out: Dim", "In: Dim, Layers: Dim").replace(
    """\
    sub up: Linear<In, Hidden, f32>
    sub down: Linear<Hidden, Out, f32>
""",
    "    sub layers: [Linear<In, In, f32>; Layers]\n",
)
DEEP = DEEP.replace("Tensor[S, Out; f32]", "Tensor[S, In; f32]").replace(
    "        return down.forward(up.forward(x))",
    """\
        var y = x
        static for layer in layers {
            y = layer.forward(y)
        }
        return y""",
)


def test_a_deeper_model_than_the_checkpoint_is_of(tmp_path: Path, capsys: Capture) -> None:
    """Two layers of 4 * 4 weights and 4 biases; a third one may have a bias or not."""
    toml = TOML.format(40).replace("Hidden = 16\nOut = 3", "Layers = 2")
    folder = card_folder(tmp_path, "two", DEEP, toml)
    layer = torch.nn.Linear(4, 4).state_dict()
    tensors = {f"layers.{i}.{n}": t.clone() for i in (0, 1) for n, t in layer.items()}
    save_file(tensors, folder / "model.safetensors")
    assert "\n40 weights, " in said(capsys, "nest", "show", str(folder))
    text = said(capsys, "nest", "show", str(folder), "--set", "Layers=3")
    assert "48 weights (up to 60 with optional parameters)" in text
    said(capsys, "explain", str(folder), "--set", "Layers=3")
    text = said(capsys, "nest", "show", str(folder), "--set", "Layers=1")
    assert "\n20 weights, " in text
