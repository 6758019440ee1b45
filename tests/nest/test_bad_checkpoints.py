"""Checkpoints that others met, from the folder to `nest.load` and to the commands.

Each gives one report with all that is wrong, status 1 and no traceback; no model comes into
being and nothing beyond a header is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnet.cli.main import main
from linnet.nest.locate import INDEX
from linnet.source.errors import LinnetError
from tests.nest.conftest import header_bytes
from tests.nest.small import ONE, TWO, load, write_card, write_weights

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_tensor_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only road to a tensor's data is through a mapping of its file."""

    def refuse(*_: Any, **__: Any) -> Any:
        pytest.fail("a file was mapped")

    monkeypatch.setattr("linnet.nest.checkpoint.mmap.mmap", refuse)
    monkeypatch.setattr("linnet.nest.loading.Model", refuse)


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return write_card(tmp_path)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_weights(tmp_path)


@pytest.fixture
def refused(card: Path, capsys: Capture) -> Callable[..., list[str]]:
    """The messages that `nest.load` raises, after `nest check` and `run` have said the same."""

    def refused(weights: Path, code: str = "E5003") -> list[str]:
        with pytest.raises(LinnetError) as caught:
            load(card, weights=weights)
        found = caught.value.diagnostics
        assert {d.code for d in found} == {code}
        messages = [d.message for d in found]
        assert main(["nest", "check", str(card), "--weights", str(weights), "--json"]) == 1
        out, err = capsys.readouterr()
        assert [d["message"] for d in json.loads(out)["diagnostics"]] == messages
        assert err == ""
        assert main(["run", str(card), "--weights", str(weights)]) == 1
        out, err = capsys.readouterr()
        assert out == "" and "Traceback" not in err
        assert err.count(f"error[{code}]") == len(messages)
        return messages

    return refused


# --- B1: numbers in a header that lie -----------------------------------------


def entry(shape: list[Any], start: int, end: int, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff" * 8 + b"{}", f"the header should have {2**64 - 1} bytes, but only 2 follow"),
        (b"abc", "3 bytes are too few for the length of a header"),
        (b"", "0 bytes are too few for the length of a header"),
        (b"\x40" + bytes(7) + b"{}", "the header should have 64 bytes, but only 2 follow"),
    ],
)
def test_a_file_without_a_header(weights: Path, refused: Any, content: bytes, message: str) -> None:
    file = weights / "one.safetensors"
    file.write_bytes(content)
    (found,) = refused(weights)
    assert found.startswith(f"{file}: {message}")


@pytest.mark.parametrize(
    ("header", "data", "tensor", "message"),
    [
        (
            {"t": entry([2], 0, 8), "u": entry([2], 4, 12)},
            12,
            "u",
            "its bytes [4, 12] overlap [0, 8] of `t`",
        ),
        (
            {"t": entry([4, 2], 0, 32), "u": entry([1], 36, 40)},
            40,
            "u",
            "4 bytes between it and `t` belong to no tensor",
        ),
        ({"t": entry([4], 0, 16)}, 10, "t", "[0, 16] leave the file, which has 10 bytes of data"),
        ({"t": entry([4], 16, 0)}, 16, "t", "its data_offsets [16, 0] end before they start"),
        ({"t": entry([4], -4, 12)}, 16, "t", "[-4, 12] must be two integers from 0"),
        (
            {"t": entry([2**62, 4], 0, 0)},
            0,
            "t",
            "the shape [4611686018427387904, 4] of F32 is too large for any file",
        ),
        ({"t": entry([4], 0, 16, "Q9")}, 16, "t", "unknown dtype `Q9`"),
        ({"t": entry([3], 0, 16)}, 16, "t", "[3] of F32 needs 12 bytes, its data_offsets"),
    ],
)
def test_a_header_that_lies(
    weights: Path, refused: Any, header: Any, data: int, tensor: str, message: str
) -> None:
    file = weights / "one.safetensors"
    file.write_bytes(header_bytes(header) + bytes(data))
    (found,) = refused(weights)
    assert found.startswith(f"{file}: tensor `{tensor}`: ") and message in found


def test_trailing_bytes(weights: Path, refused: Any) -> None:
    file = weights / "two.safetensors"
    file.write_bytes(file.read_bytes() + b"\0\0\0")
    (found,) = refused(weights)
    assert found.startswith(f"{file}: 3 bytes after the end of ")


def test_truncated_data(weights: Path, refused: Any) -> None:
    file = weights / "two.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    (found,) = refused(weights)
    assert found.startswith(f"{file}: tensor ") and "leave the file, which has 23 bytes" in found


def test_both_files_in_one_report(weights: Path, refused: Any) -> None:
    (weights / "one.safetensors").write_bytes(b"abc")
    (weights / "two.safetensors").write_bytes(
        header_bytes({"t": entry([1], 0, 4, "Q9"), "u": entry([2], 0, 4)}) + bytes(4)
    )
    found = refused(weights)
    assert [m.split(": ", 2)[1] for m in found] == [
        "3 bytes are too few for the length of a header",
        "tensor `t`",
        "tensor `u`",
    ]


# --- B2: shards that are listed and absent ------------------------------------


def index(folder: Path, files: dict[str, str] | None = None) -> None:
    table = dict.fromkeys(ONE, "one.safetensors") | dict.fromkeys(TWO, "two.safetensors")
    text = json.dumps({"weight_map": {**table, **(files or {})}})
    (folder / INDEX).write_text(text)


@pytest.mark.parametrize("with_index", [True, False])
def test_a_shard_that_is_absent(weights: Path, refused: Any, with_index: bool) -> None:
    if with_index:
        index(weights)
    (weights / "two.safetensors").unlink()
    (found,) = refused(weights)
    whose = INDEX if with_index else "the card small"
    assert found == f"1 of the 2 files of {whose} is missing: `two.safetensors`"


def test_an_index_that_differs_from_the_headers(weights: Path, refused: Any) -> None:
    index(weights, {"t": "two.safetensors", "gone": "two.safetensors"})
    assert refused(weights) == [
        f"{weights / INDEX}: a tensor is in another file than the index says: "
        "`t` is in `one.safetensors`, not in `two.safetensors`",
        f"{weights / INDEX}: a tensor of the index is in no file: "
        "`gone`, said to be in `two.safetensors`",
    ]


def test_a_tensor_in_two_files(weights: Path, refused: Any) -> None:
    save_file({**TWO, "t": ONE["t"]}, weights / "two.safetensors")
    assert refused(weights, "E5002") == ["tensor `t` is in two files"]


# --- B3: names that leave the folder ------------------------------------------


@pytest.mark.parametrize(
    "name", ["../outside.safetensors", "/etc/hosts", "a/../../outside.safetensors", "C:\\x", ""]
)
def test_a_name_that_leaves_the_folder(weights: Path, refused: Any, name: str) -> None:
    save_file(ONE, weights.parent / "outside.safetensors")
    index(weights, {"t": name})
    (found,) = refused(weights)
    assert found.startswith(f"{weights}: the checkpoint file `{name}` is no name")
    assert found.endswith("; it was not opened")


@pytest.mark.parametrize("with_index", [True, False])
def test_a_link_that_leaves_the_folder(weights: Path, refused: Any, with_index: bool) -> None:
    if with_index:
        index(weights)
    (weights / "one.safetensors").rename(weights.parent / "outside.safetensors")
    (weights / "one.safetensors").symlink_to("../outside.safetensors")
    (found,) = refused(weights)
    expected = "the checkpoint file `one.safetensors` is a link that leaves the folder"
    assert found == f"{weights}: {expected}; it was not opened"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_opened(weights: Path, refused: Any, make: Any) -> None:
    (weights / "one.safetensors").unlink()
    make(weights / "one.safetensors")
    (found,) = refused(weights)
    assert found == f"{weights / 'one.safetensors'}: is not a file"


# --- parameters, bindings and headers that differ -----------------------------


def test_all_kinds_in_one_report(weights: Path, refused: Any) -> None:
    one = {"t": ONE["t"].T.copy(), "l0.s": ONE["l0.s"].astype(np.int32)}
    save_file(one, weights / "one.safetensors")
    save_file({"l0.b": TWO["l0.b"]}, weights / "two.safetensors")
    assert refused(weights, "E5002") == [
        "the checkpoint lacks 2 tensors",
        "a tensor has another dtype than its parameter: "
        f"`layers.0.scale` is f32, `l0.s` in {weights / 'one.safetensors'} is I32",
        "a tensor has another shape than its parameter: "
        f"`table` is [4, 2], `t` in {weights / 'one.safetensors'} is [2, 4]",
    ]
