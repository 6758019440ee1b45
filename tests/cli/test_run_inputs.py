"""`linnet run --input`: values of every rank, from lists, files and at random."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from linnet.cli.main import main
from tests.cards import card_folder
from tests.cli.runs import Capture, run

SOURCE = """\
module my

pub struct Pair {
    first: Tensor[2; f32]
    second: i32
}

pub block My<T: Float> {
    param weight: Tensor[3; T]

    pub entry forward<B: Dim, H: Dim, W: Dim>(image: Tensor[B, 3, H, W; T]) -> Tensor[B, H, W; T] {
        let y[b, h, w] = sum[c] image[b, c, h, w]
        return y
    }

    pub entry counts<B: Dim, H: Dim, W: Dim>(
        ids: Tensor[B, H, W; i32],
        by: f32,
        flags: Tensor[W; bool],
    ) -> Tensor[B, H, W; f32] {
        let y[b, h, w] = if flags[w] { cast<f32>(ids[b, h, w]) * by } else { 0.0 }
        return y
    }

    pub entry paired(pair: Pair) -> Tensor[2; f32] {
        return pair.first * cast<f32>(pair.second)
    }
}
"""


TOML = """\
[model]
name = "my"
title = "My"
summary = "Inputs of every rank."
license = "MIT"
family = "my"
parameters = 3

[links]
huggingface = "https://huggingface.co/me/my"

[source]
path = "src/lib.linnet"
root = "My"
entry = "forward"

[generics]
T = "f32"

[weights]
repo = "me/my"
revision = "0000000000000000000000000000000000000000"
files = ["model.safetensors"]
"""


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return card_folder(tmp_path, "my", SOURCE, TOML)


def test_lists_in_lists(card: Path, capsys: Capture) -> None:
    words = ["--input", "image=[[[[1, 2.5]], [[10, 20]], [[100, 200]]]]"]
    lines, _ = run(card, capsys, *words)
    assert lines == ["forward: [1, 1, 2] float32", "         1  222.5", "         0  111"]


def test_a_struct(card: Path, capsys: Capture) -> None:
    words = ["--entry", "paired", "--input", 'pair={"first": [1.5, 2], "second": 2}']
    assert run(card, capsys, *words)[0][1:] == ["         1  4", "         0  3"]


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_a_file_of_floats(card: Path, capsys: Capture, dtype: str) -> None:
    file = card / "image.npy"
    np.save(file, np.array([1.0, 2.0, 4.0]).reshape(1, 3, 1, 1).astype(dtype))
    assert run(card, capsys, "--input", f"image=@{file}")[0][1:] == ["         0  7"]
    words = ["--set", "T=bf16", "--input", f"image=@{file}"]
    assert run(card, capsys, *words)[0] == ["forward: [1, 1, 1] bfloat16", "         0  7"]


def test_a_file_of_integers(card: Path, capsys: Capture) -> None:
    file = card / "ids.npy"
    np.save(file, np.array([[[3, 4]]], np.int64))
    words = ["--entry", "counts", "--input", f"ids=@{file}", "--input", "by=0.5"]
    lines, _ = run(card, capsys, *words, "--input", "flags=true,false")
    assert lines == ["counts: [1, 1, 2] float32", "         0  1.5", "         1  0"]


def test_random_floats_are_the_same_in_every_run(card: Path, capsys: Capture) -> None:
    first, _ = run(card, capsys, "--input", "image=random:2x3x4x5")
    assert first[0] == "forward: [2, 4, 5] float32"
    assert run(card, capsys, "--input", "image=random:2x3x4x5")[0] == first
    lines, _ = run(card, capsys, "--set", "T=bf16", "--input", "image=random:0x3x4x5")
    assert lines == ["forward: [0, 4, 5] bfloat16"]


def test_what_is_missing_is_told_with_a_way_to_give_it(card: Path, capsys: Capture) -> None:
    _, text = run(card, capsys, status=1)
    assert text.startswith("error[E2102]: no value for the input `image`\n")
    assert "help: give it by `--input image=random:2x3x2x2`\n" in text
    _, text = run(card, capsys, "--entry", "counts", status=1)
    assert text.startswith("error[E2102]: no value for the input `ids`, `by`, `flags`\n")
    ways = "`--input ids=@FILE.npy` `--input by=0.5` `--input flags=true,true`"
    assert f"help: give it by {ways}\n" in text
    _, text = run(card, capsys, "--entry", "paired", status=1)
    assert "help: give it by `--input pair=...`\n" in text


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        ("1,2,3", "E2202", "`image` has 1 dimension [3], it is Tensor[B, 3, H, W; f32]"),
        ("random:3x2", "E2202", "`image` has 2 dimensions [3, 2]"),
        ("random:1x4x2x2", "E2202", "axis 1 is 4, it must be 3"),
        ("[[1], [2, 3]]", "E2101", "`image` is no array of numbers"),
        ('["a"]', "E2101", "`image` is no array of numbers"),
        ("@absent.npy", "E2102", "the input `image`: absent.npy cannot be read"),
        ("@.", "E2102", "the input `image`: . cannot be read"),
        ("random:999999999x999999999", "E5004", "in the shape [999999999, 999999999] needs more"),
    ],
)
def test_what_does_not_fit(card: Path, capsys: Capture, value: str, code: str, words: str) -> None:
    _, text = run(card, capsys, "--input", f"image={value}", status=1)
    assert text.startswith(f"error[{code}]: ") and words in text and text.endswith("\n1 error\n")
    if code == "E2202":
        assert "help: `--input NAME=...` takes 1,2,3 and rows 1,2;3,4, lists in lists" in text


def test_files_that_are_none(card: Path, capsys: Capture) -> None:
    text_file, several, empty = card / "a.npy", card / "b.npz", card / "c.npy"
    text_file.write_text("1, 2, 3")
    np.savez(several, a=np.ones(2))
    empty.write_bytes(b"")
    for file in (text_file, several, empty):
        _, text = run(card, capsys, "--input", f"image=@{file}", status=1)
        assert text.startswith("error[E2102]: the input `image`: ")
        assert "help: `numpy.save` writes such a file\n" in text


def test_broken_files(card: Path, capsys: Capture) -> None:
    whole, header, archive = card / "a.npy", card / "b.npy", card / "c.npz"
    np.save(whole, np.ones((2, 2)))
    data = whole.read_bytes()
    whole.write_bytes(data[:-3])
    header.write_bytes(data.replace(b"(2, 2)", b"((((2,"))
    np.savez(archive, a=np.ones(2))
    archive.write_bytes(archive.read_bytes()[:-30])
    for file in (whole, header, archive):
        _, text = run(card, capsys, "--input", f"image=@{file}", status=1)
        assert text.startswith("error[E2102]: the input `image`: ")
        assert "is no array in a .npy file\n" in text


def test_an_array_of_objects_is_not_unpickled(card: Path, capsys: Capture) -> None:
    file = card / "objects.npy"
    np.save(file, np.array([{}], object), allow_pickle=True)
    _, text = run(card, capsys, "--input", f"image=@{file}", status=1)
    assert "is no array in a .npy file" in text


def test_only_floats_are_random(card: Path, capsys: Capture) -> None:
    words = ["--entry", "counts", "--input", "by=1", "--input", "flags=true"]
    _, text = run(card, capsys, *words, "--input", "ids=random:1x1x1", status=1)
    assert text.startswith("error[E2102]: `ids` is Tensor[B, H, W; i32]: only a tensor of floats")
    _, text = run(card, capsys, "--input", "imgae=random:1x3x1x1", status=1)
    assert "`imgae`" in text


@pytest.mark.parametrize("value", ["@", "random:", "random:2y3", "random:-1", "[1, 2", "[1, two]"])
def test_what_is_no_value(card: Path, value: str) -> None:
    assert main(["run", str(card), "--weights", "random", "--input", f"image={value}"]) == 2


def test_a_field_that_is_given_twice(card: Path, capsys: Capture) -> None:
    value = 'image={"a": {"b": 1, "b": 2}}'
    assert main(["run", str(card), "--weights", "random", "--input", value]) == 2
    assert "the field `b` is given twice" in capsys.readouterr().err


def test_a_file_of_another_dtype(card: Path, capsys: Capture) -> None:
    file = card / "odd.npy"
    values: np.ndarray[Any, Any] = np.ones((1, 3, 1, 1)).astype(ml_dtypes.bfloat16)
    np.save(file, values)
    _, text = run(card, capsys, "--input", f"image=@{file}", status=1)
    assert text.startswith("error[E2103]: `image` is ") and "float32 is asked for" in text
