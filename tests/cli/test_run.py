"""`linnet run` with inputs of every kind, and results that are no numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnet.cli.main import main
from tests.cards import card_folder
from tests.cli.runs import Capture, run

SOURCE = """\
module my

pub block My<H: Dim, T: Float> {
    param weight: Tensor[H; T]

    pub entry forward<B: Dim, S: Dim>(
        x: Tensor[B, S; i32],
        scale: f32 = 0.5,
        keep: bool = true,
    ) -> Tensor[B, S, 2; f32] {
        let factors = iota<f32>(2)
        let y[b, s, k] = cast<f32>(x[b, s]) * scale * factors[k]
        return select(keep, y, y * 0.0)
    }

    pub entry tail(x: Tensor[3; f32], by: f32, flags: Tensor[3; bool]) -> Tensor[3; f32] {
        return select(flags, x / by, x)
    }

    pub entry scaled<N: Dim>(
        features: Tensor[N, 2; f32],
        by: f32? = some(3.0),
    ) -> Tensor[N, 2; f32] {
        return match by {
            some(b) => features * b
            none => features
        }
    }

    pub entry first<P: Dim, Q: Dim>(ids: Tensor[P, Q + 1; u8]) -> Tensor[P, Q + 1; i64] {
        let y[p, q] = cast<i64>(ids[p, q])
        return y
    }

    pub entry optional(ids: Tensor[2; i32]? = none) -> f32 {
        return match ids {
            some(x) => 1.0
            none => 2.0
        }
    }

    pub entry half(x: Tensor[2; f32]) -> Tensor[2; f16] {
        return cast<f16>(x)
    }
}
"""
TOML = """\
[model]
name = "my"
title = "My"
summary = "Inputs of every kind."
license = "MIT"
family = "my"
parameters = 4

[links]
huggingface = "https://huggingface.co/me/my"

[source]
path = "src/lib.linnet"
root = "My"
entry = "forward"

[generics]
H = 4
T = "f32"

[check]
P = 2
Q = 3

[weights]
repo = "me/my"
revision = "0000000000000000000000000000000000000000"
files = ["model.safetensors"]
"""


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return card_folder(tmp_path, "my", SOURCE, TOML)


def test_floats_and_bools(card: Path, capsys: Capture) -> None:
    lines, _ = run(card, capsys, "--tokens", "1,3", "--input", "scale=0.25")
    assert lines == ["forward: [1, 2, 2] float32", "         1  0.75", "         0  0"]
    lines, _ = run(card, capsys, "--tokens", "3", "--input", "scale=2", "--input", "keep=false")
    assert lines[1:] == ["         0  0", "         1  0"]
    words = ["--entry", "tail", "--input", "x=1,-2.5,1e1", "--input", "by=4"]
    lines, _ = run(card, capsys, *words, "--input", "flags=true,false,true")
    assert lines[1:] == ["         2  2.5", "         0  0.25", "         1  -2.5"]


def test_two_prompts(card: Path, capsys: Capture) -> None:
    lines, _ = run(card, capsys, "--tokens", "1,2,3;4,5,6")
    assert lines == [
        "forward: [2, 3, 2] float32",
        *("  row 0", "         1  1.5", "         0  0"),
        *("  row 1", "         1  3", "         0  0"),
    ]
    lines, _ = run(card, capsys, "--input", "x=4;6")
    assert lines[0] == "forward: [2, 1, 2] float32" and lines[4:] == [
        "  row 1",
        "         1  3",
        "         0  0",
    ]


def test_prompts_of_different_lengths(card: Path, capsys: Capture) -> None:
    _, text = run(card, capsys, "--tokens", "1,2;3", status=1)
    assert text.startswith("error[E2101]: `x` is no array of numbers")
    assert "lists of numbers with rows of one length" in text


@pytest.mark.parametrize(
    "words",
    [
        ["--tokens", "1.5"],
        ["--tokens", "1;;2"],
        ["--tokens", "true"],
        ["--input", "scale=half"],
        ["--input", "scale="],
        ["--input", "keep=yes"],
    ],
)
def test_what_is_no_number(card: Path, words: list[str]) -> None:
    assert main(["run", str(card), "--weights", "random", *words]) == 2


def test_a_float_for_an_integer(card: Path, capsys: Capture) -> None:
    _, text = run(card, capsys, "--input", "x=1.5", status=1)
    assert text.startswith("error[E2103]: `x` is float64, int32 is asked for")


def test_values_that_are_no_numbers_are_not_among_the_largest(card: Path, capsys: Capture) -> None:
    words = ["--entry", "tail", "--input", "by=0.0", "--input", "flags=true,true,false"]
    lines, text = run(card, capsys, *words, "--input", "x=0,1,2")
    assert lines == ["tail: [3] float32", "         2  2"]
    assert text == "warning: 2 of 3 values of `tail` are nan or infinite\n"


def test_f16_that_overflows_gets_a_way_out(card: Path, capsys: Capture) -> None:
    lines, text = run(card, capsys, "--entry", "half", "--input", "x=70000,3")
    assert lines == ["half: [2] float16", "         1  3"]
    assert text == (
        "warning: 1 of 2 values of `half` is nan or infinite; "
        "f16 ends at 65504: try a wider dtype, such as --set T=f32\n"
    )


def test_show_and_an_entry_tell_defaults(card: Path, capsys: Capture) -> None:
    from linnet import nest

    signature = (
        "forward<B, S>(x: Tensor[B, S; i32], scale: f32 = 0.5, keep: bool = true)"
        " -> Tensor[B, S, 2; f32]"
    )
    assert main(["nest", "show", str(card)]) == 0
    assert f"  {signature}\n" in capsys.readouterr().out
    model = nest.load(card, "numpy", weights="random")
    assert repr(model.forward) == f"<entry {signature}>"


def test_a_first_input_of_floats(card: Path, capsys: Capture) -> None:
    lines, _ = run(card, capsys, "--entry", "scaled", "--input", "features=1,2,0.5,4")
    assert lines == ["scaled: [2, 2] float32", "         1  12", "         0  1.5"]
    _, text = run(card, capsys, "--entry", "scaled", status=1)
    assert text.startswith("error[E2102]: no value for the input `features`\n")
    assert "note: `scaled` takes features, by\n" in text
    assert "help: give it by `--input features=random:2x2`\n" in text


def test_the_sizes_of_a_first_input_are_those_of_the_card(card: Path, capsys: Capture) -> None:
    lines, _ = run(card, capsys, "--entry", "first")
    assert lines[0] == "first: [2, 4] int64"
    assert lines[1:3] == ["         3  3", "         2  2"]
    # Of `B` and `S` the card tells nothing.
    lines, _ = run(card, capsys)
    assert lines[0] == "forward: [1, 8, 2] float32"


def test_a_first_input_of_no_elements(card: Path, capsys: Capture) -> None:
    toml = card / "nest.toml"
    toml.write_text(TOML.replace("P = 2", "P = 0"))
    assert run(card, capsys, "--entry", "first")[0] == ["first: [0, 4] int64"]


@pytest.mark.parametrize("size", [99999999999999, 2**63 - 1])
@pytest.mark.parametrize("name", ["P", "Q"])
def test_a_first_input_beyond_all_memory(card: Path, capsys: Capture, name: str, size: int) -> None:
    old = {"P": "P = 2", "Q": "Q = 3"}[name]
    (card / "nest.toml").write_text(TOML.replace(old, f"{name} = {size}"))
    _, text = run(card, capsys, "--entry", "first", status=1)
    assert text.startswith("error[E5004]: `ids` in the shape [")
    assert "nest.toml:" in text and text.endswith("\n1 error\n")


def test_a_size_that_no_axis_can_have(card: Path, capsys: Capture) -> None:
    (card / "nest.toml").write_text(TOML.replace("P = 2", f"P = {2**63}"))
    for words in (["check"], ["run"]):
        assert main([*words, str(card)]) == 1
        text = capsys.readouterr().err
        assert "error[E5001]: `P` in `[check]` must be an integer from 0 to 2^63 - 1\n" in text


def test_a_finding_tells_of_a_first_input_that_nobody_gave(card: Path, capsys: Capture) -> None:
    (card / "nest.toml").write_text(TOML.replace("Q = 3", "Q = 299"))
    _, text = run(card, capsys, "--entry", "first", status=1)
    assert text.startswith("error[E2105]: `ids` holds 299, which no u8 is\n")
    assert "note: `ids` was not given: it is 0, 1, 2, ... in the shape [2, 300]\n" in text
    assert "help: give it by `--tokens`\n" in text
    _, text = run(card, capsys, "--entry", "first", "--tokens", "1,300", status=1)
    assert "holds 300" in text and "was not given" not in text


def test_rows_of_two_lengths_are_told_in_our_words(card: Path, capsys: Capture) -> None:
    _, text = run(card, capsys, "--tokens", "1;2,3", status=1)
    assert text.startswith("error[E2101]: `x` is no array of numbers\n")
    assert "rows of one length" in text and "inhomogeneous" not in text


def test_a_first_input_that_may_be_left_out_is(card: Path, capsys: Capture) -> None:
    assert run(card, capsys, "--entry", "optional")[0] == ["optional: [] float32", "  2.0"]


def test_a_tensor_that_is_bound_to_nothing_is_a_warning_line(card: Path, capsys: Capture) -> None:
    weights = card / "model.safetensors"
    save_file({"weight": np.ones(4, np.float32), "more": np.ones(2, np.float32)}, weights)
    assert main(["run", str(card), "--tokens", "1", "--weights", str(weights)]) == 0
    wanted = "warning: a tensor of the checkpoint is bound to nothing: `more`\n"
    assert capsys.readouterr().err == wanted
