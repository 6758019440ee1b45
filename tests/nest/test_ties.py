"""A head that is the embedding, and one that is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnet.cli.main import main
from tests.nest.small import TOML, load, refused

SOURCE = """\
module small

pub block Model<Vocab: Dim, H: Dim> {
    param embed: Tensor[Vocab, H; f32]
    param head: Tensor[Vocab, H; f32]

    pub entry forward<S: Dim>(tokens: Tensor[S; i32]) -> Tensor[S, Vocab; f32] {
        let h[s, i] = embed[tokens[s], i]
        let logits[s, v] = sum[i] h[s, i] * head[v, i]
        return logits
    }
}
"""
TIE = 'tied = [["embed", "head"]]\n'
E = np.asarray([[1, 0], [2, 1], [0, 3]], np.float32)
TIED_LOGITS = [[1, 2, 0], [2, 5, 3], [0, 3, 9]]

Capture = pytest.CaptureFixture[str]


def write(folder: Path, tie: bool, bindings: dict[str, str] | None) -> Path:
    """The card; without bindings the paths are the tensors' names."""
    card = folder / "small"
    (card / "src").mkdir(parents=True)
    (card / "src" / "lib.linnet").write_text(SOURCE)
    toml = TOML.replace('Layers = 2\nT = "f32"\n', "").replace("Vocab = 4", "Vocab = 3")
    toml = toml.replace("parameters = 16", f"parameters = {6 if tie else 12}")
    if bindings is None:
        toml = toml.replace('bindings = "bindings.json"\n', "")
    else:
        (card / "bindings.json").write_text(json.dumps(bindings))
    (card / "nest.toml").write_text(toml + (TIE if tie else ""))
    return card


def weights(folder: Path, **tensors: Any) -> Path:
    file = folder / "model.safetensors"
    save_file(tensors, file)
    return file


@pytest.mark.parametrize(
    "bindings", [None, {"embed": "embed"}, {"embed": "embed", "head": "embed"}]
)
def test_a_tied_head_is_the_embedding(tmp_path: Path, bindings: Any, capsys: Capture) -> None:
    card = write(tmp_path, True, bindings)
    file = weights(tmp_path, embed=E)
    assert main(["nest", "check", str(card), "--weights", str(file)]) == 0
    # The weights of a tie count once.
    expected = f"small: 2 parameters, 6 weights and fits {file}\n"
    assert capsys.readouterr() == (expected, "")
    model = load(card, weights=file)
    assert model([0, 1, 2]).tolist() == TIED_LOGITS
    held = model._runtime.compiled.weights  # type: ignore[attr-defined]
    assert np.shares_memory(held["embed"], held["head"])


def test_a_tied_head_is_the_embedding_with_random_weights(tmp_path: Path) -> None:
    model = load(write(tmp_path, True, {"embed": "embed"}))
    logits = model([0, 1, 2])
    assert logits.tolist() == logits.T.tolist()
    untied = load(write(tmp_path / "other", False, None))([0, 1, 2])
    assert untied.tolist() != untied.T.tolist()


def test_a_head_of_its_own(tmp_path: Path) -> None:
    card = write(tmp_path, False, None)
    model = load(card, weights=weights(tmp_path, embed=E, head=E[::-1].copy()))
    assert model([0, 1, 2]).tolist() == [row[::-1] for row in TIED_LOGITS]


def test_a_head_that_is_missing_is_never_made_up(tmp_path: Path, capsys: Capture) -> None:
    file = weights(tmp_path, embed=E)
    implicit = write(tmp_path / "implicit", False, None)
    expected = "the checkpoint lacks a tensor: `head`, for the parameter `head`"
    assert expected in refused("E5002", load, implicit, weights=file)
    assert main(["nest", "check", str(implicit), "--weights", str(file)]) == 1
    assert expected in capsys.readouterr().err
    bound = write(tmp_path / "bound", False, {"embed": "embed"})
    expected = "a parameter has no binding: `head`, declared as [3, 2] f32"
    assert expected in refused("E5002", load, bound, weights=file)
    assert main(["check", str(bound)]) == 1
    assert expected in capsys.readouterr().err


def test_one_tensor_for_two_parameters_must_be_meant(tmp_path: Path) -> None:
    card = write(tmp_path, False, {"embed": "embed", "head": "embed"})
    text = refused("E5002", load, card, weights=weights(tmp_path, embed=E))
    assert "one tensor is bound to several parameters: `embed`, by `embed` and `head`" in text
    assert "`[weights] tied`" in text


def test_a_tie_with_two_tensors_cannot_be_kept(tmp_path: Path) -> None:
    card = write(tmp_path, True, {"embed": "embed", "head": "head"})
    text = refused("E5002", load, card, weights=weights(tmp_path, embed=E, head=E))
    assert "its members are bound apart: `embed` to `embed`, `head` to `head`" in text


def test_members_of_a_tie_are_alike(tmp_path: Path, capsys: Capture) -> None:
    card = write(tmp_path, True, {"embed": "embed"})
    source = card / "src" / "lib.linnet"
    source.write_text(
        SOURCE.replace(
            "param head: Tensor[Vocab, H; f32]", "param head: Tensor[H, Vocab; f32]"
        ).replace("head[v, i]", "head[i, v]")
    )
    expected = "its members differ: `embed` is [3, 2] f32, `head` is [2, 3] f32"
    for given in ("random", weights(tmp_path, embed=E)):
        text = refused("E5002", load, card, weights=given)
        assert expected in text and text.count("error[") == 1
    assert main(["check", str(card)]) == 1
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    "tied",
    ['[["embed"]]', '[["embed", "embed"]]', '[["embed", "head"], ["head", "other"]]', '["embed"]'],
)
def test_ties_that_are_none(tmp_path: Path, tied: str) -> None:
    card = write(tmp_path, False, None)
    toml = card / "nest.toml"
    toml.write_text(f"{toml.read_text()}tied = {tied}\n")
    text = refused("E5001", load, card)
    assert "`tied` in `[weights]` must be a list of lists of two or more parameter paths" in text


def test_a_tensor_that_nothing_binds_is_listed(tmp_path: Path, capsys: Capture) -> None:
    card = write(tmp_path, False, None)
    file = weights(tmp_path, embed=E, head=E, more=E)
    with pytest.warns(UserWarning, match="a tensor of the checkpoint is bound to nothing: `more`"):
        model = load(card, weights=file)
    assert model.unbound == ("more",)
    assert main(["nest", "check", str(card), "--weights", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "not bound: `more` [3, 2] F32"
