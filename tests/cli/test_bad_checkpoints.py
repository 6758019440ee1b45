"""Checkpoints that lie or are incomplete, as `run` and `nest check` report them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linnet.cli.main import main
from linnet.nest.checkpoint import Checkpoint
from tests.cards import card_folder

Capture = pytest.CaptureFixture[str]

SOURCE = """\
module small

pub block Model<H: Dim, T: Float> {
    param a: Tensor[H; T]
    param b: Tensor[H; T]
    param c_blocks: Tensor[1, H, 1, 16; u8]
    param c_scales: Tensor[1, H, 1; u8]

    pub entry forward<B: Dim, S: Dim>(tokens: Tensor[B, S; i32]) -> Tensor[B, S, H; T] {
        let y[b_, s, h] = a[h] * b[h] * cast<T>(tokens[b_, s])
        let z[b_, s, h] = y[b_, s, h] + cast<T>(c_blocks[0, h, 0, 0]) * cast<T>(c_scales[0, h, 0])
        return z
    }
}
"""
CARD = """\
[model]
name = "small"
title = "Small"
summary = "A card for tests."
license = "MIT"
family = "small"
tags = ["test"]
parameters = 68

[links]
huggingface = "https://huggingface.co/a/small"

[source]
path = "src/lib.linnet"
root = "Model"
entry = "forward"

[generics]
H = 2
T = "f32"

[check]
S = 2

[weights]
repo = "a/small"
revision = "0123456789abcdef0123456789abcdef01234567"
files = ["m.safetensors"]
"""


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return card_folder(tmp_path, "small", SOURCE, CARD)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    folder.mkdir()
    return folder


@pytest.fixture
def reported(capsys: Capture, monkeypatch: pytest.MonkeyPatch, card: Path) -> Callable[[Path], str]:
    """The report, from both commands, that a checkpoint gets without one tensor being read."""

    def unread(self: Checkpoint, *_: Any) -> Any:
        raise AssertionError("a tensor was read")

    def report(weights: Path) -> str:
        monkeypatch.setattr(Checkpoint, "array", unread)
        monkeypatch.setattr(Checkpoint, "converted", unread)
        texts: list[str] = []
        for words in (["run", "--tokens", "1,2"], ["nest", "check"]):
            assert main([*words, str(card), "--weights", str(weights)]) == 1
            out, err = capsys.readouterr()
            assert out == "" and "Traceback" not in err
            texts.append(err)
        assert texts[0] == texts[1]
        return texts[0]

    return report


def entry(dtype: str, shape: list[int], start: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


A, B = entry("F32", [2], 0, 8), entry("F32", [2], 8, 16)
BLOCKS, SCALES = entry("U8", [1, 2, 1, 16], 16, 48), entry("U8", [1, 2, 1], 48, 50)
GOOD = {"a": A, "b": B, "c_blocks": BLOCKS, "c_scales": SCALES}
DATA = struct.pack("<4f", 1, 2, 3, 4) + bytes(32) + bytes(2)


def file(header: Any, data: bytes = DATA) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_a_good_one_runs(card: Path, weights: Path, capsys: Capture) -> None:
    (weights / "m.safetensors").write_bytes(file(GOOD))
    assert main(["run", str(card), "--weights", str(weights), "--tokens", "1,2"]) == 0
    # The last position is token 2: twice 1 * 3 and 2 * 4.
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:3]] == [
        ["1", "16"],
        ["0", "6"],
    ]


@pytest.mark.parametrize(
    ("content", "tensor"),
    [
        ((2**64 - 1).to_bytes(8, "little") + b"{}", None),
        (b"abc", None),
        ((1000).to_bytes(8, "little") + b"{}", None),
        (file({"a": entry("U8", [8], 0, 8), "b": entry("U8", [8], 4, 12)}, bytes(12)), "b"),
        (file({"a": A, "b": entry("F32", [2], 12, 20)}, bytes(20)), "b"),
        (file(GOOD, DATA + b"\0"), "c_scales"),
        (file(GOOD, DATA[:-1]), "c_scales"),
        (file({"a": entry("U8", [16], 16, 0)}, bytes(16)), "a"),
        (file({"a": entry("U8", [16], -4, 12)}, bytes(16)), "a"),
        (file({"a": entry("F32", [2**62, 4], 0, 0)}, b""), "a"),
        (file({"a": entry("Q9", [2], 0, 8)}, bytes(8)), "a"),
    ],
    ids=[
        "length", "three bytes", "beyond", "overlap", "hole", "trailing", "truncated",
        "backwards", "negative", "huge shape", "dtype",
    ],
)  # fmt: skip
def test_a_file_that_lies(
    reported: Callable[[Path], str], weights: Path, content: bytes, tensor: str | None
) -> None:
    path = weights / "m.safetensors"
    path.write_bytes(content)
    text = reported(weights)
    assert text.startswith("error[E5003]: ") and text.count("error[") == 1
    assert str(path) in text
    assert tensor is None or f"`{tensor}`" in text


def test_a_shard_that_is_absent(reported: Callable[[Path], str], weights: Path) -> None:
    table = {"a": "1.safetensors", **dict.fromkeys(["b", "c_blocks", "c_scales"], "2.safetensors")}
    (weights / "model.safetensors.index.json").write_text(json.dumps({"weight_map": table}))
    (weights / "1.safetensors").write_bytes(file({"a": A}, DATA[:8]))
    text = reported(weights)
    assert text.startswith("error[E5003]: 1 of the 2 files of ") and text.count("error[") == 1
    assert "`2.safetensors`" in text
    assert "download may be incomplete" in text


@pytest.mark.parametrize("name", ["../x.safetensors", "/etc/hosts", "a/../../x", "C:\\x", ""])
def test_a_name_outside_the_folder(
    reported: Callable[[Path], str], weights: Path, name: str
) -> None:
    (weights.parent / "x.safetensors").write_bytes(file(GOOD))
    index = json.dumps({"weight_map": dict.fromkeys(GOOD, name)})
    (weights / "model.safetensors.index.json").write_text(index)
    text = reported(weights)
    assert text.startswith("error[E5003]: ") and text.count("error[") == 1
    assert "it was not opened" in text


def test_a_link_outside_the_folder(reported: Callable[[Path], str], weights: Path) -> None:
    (weights.parent / "x.safetensors").write_bytes(file(GOOD))
    (weights / "m.safetensors").symlink_to("../x.safetensors")
    assert "is a link that leaves the folder; it was not opened" in reported(weights)


@pytest.mark.parametrize(
    ("wrong", "shape", "declared", "size"),
    [("c_scales", [1, 2, 2], "[1, 2, 1]", 4), ("c_blocks", [1, 2, 2, 16], "[1, 2, 1, 16]", 64)],
)
def test_blocks_and_scales_that_disagree(
    reported: Callable[[Path], str],
    weights: Path,
    wrong: str,
    shape: list[int],
    declared: str,
    size: int,
) -> None:
    header, at = {}, 0
    for name, tensor in GOOD.items():
        begin, end = tensor["data_offsets"]
        length = size if name == wrong else end - begin
        header[name] = entry(
            tensor["dtype"], shape if name == wrong else tensor["shape"], at, at + length
        )
        at += length
    (weights / "m.safetensors").write_bytes(file(header, bytes(at)))
    text = reported(weights)
    assert text.startswith("error[E5002]: a tensor has another shape than its parameter: ")
    assert f"`{wrong}` is {declared}, `{wrong}` in " in text
    assert f"m.safetensors is {shape}\n" in text
    assert text.count("error[") == 1
