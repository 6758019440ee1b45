"""An index held against the headers of its files: each difference is an E5003."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linnet.nest.checkpoint import read_headers
from linnet.nest.index import WAY_OUT
from linnet.nest.locate import INDEX, find_files
from linnet.source.diagnostics import Diagnostic, Sink

GOOD = {"a": "one.safetensors", "b": "one.safetensors", "c": "two.safetensors"}


@pytest.fixture
def shards(write_tensors: Callable[..., Path]) -> Callable[..., Path]:
    """Writes two shards, `one` as given, and an index."""

    def make(table: dict[str, str], one: str = "ab", two: str = "c") -> Path:
        for file, names in (("one", one), ("two", two)):
            header = {
                n: {"dtype": "U8", "shape": [1], "data_offsets": [i, i + 1]}
                for i, n in enumerate(names)
            }
            path = write_tensors(f"w/{file}.safetensors", header, bytes(len(names)))
        (path.parent / INDEX).write_text(json.dumps({"weight_map": table}))
        return path.parent

    return make


def findings(folder: Path) -> list[Diagnostic]:
    sink = Sink()
    files = find_files(folder, None, sink)
    assert files is not None
    read_headers(files, sink)
    return list(sink)


def test_one_that_agrees(shards: Any) -> None:
    assert findings(shards(GOOD)) == []


def test_a_tensor_in_another_file(shards: Any) -> None:
    folder = shards({**GOOD, "b": "two.safetensors"})
    (found,) = findings(folder)
    assert (found.code, found.help) == ("E5003", WAY_OUT)
    assert found.message == (
        f"{folder / INDEX}: a tensor is in another file than the index says: "
        "`b` is in `one.safetensors`, not in `two.safetensors`"
    )


def test_a_tensor_in_no_file(shards: Any) -> None:
    folder = shards({**GOOD, "d": "two.safetensors"})
    (found,) = findings(folder)
    assert (found.code, found.help) == ("E5003", WAY_OUT)
    assert found.message == (
        f"{folder / INDEX}: a tensor of the index is in no file: "
        "`d`, said to be in `two.safetensors`"
    )


def test_a_tensor_that_the_index_lacks(shards: Any) -> None:
    folder = shards({"a": "one.safetensors", "c": "two.safetensors"})
    (found,) = findings(folder)
    assert (found.code, found.help) == ("E5003", WAY_OUT)
    assert found.message == (
        f"{folder / INDEX}: the index lacks a tensor: `b` in `one.safetensors`"
    )


def test_a_tensor_in_two_files_is_one_error(shards: Any) -> None:
    (found,) = findings(shards(GOOD, two="bc"))
    assert (found.code, found.message) == ("E5002", "tensor `b` is in two files")


def test_all_differences_in_one_report(shards: Any) -> None:
    table = {
        "a": "two.safetensors",
        "b": "two.safetensors",
        "c": "one.safetensors",
        "d": "one.safetensors",
    }
    found = findings(shards(table, two="cef"))
    assert [d.message.partition(": ")[2] for d in found] == [
        "3 tensors are in other files than the index says",
        "a tensor of the index is in no file: `d`, said to be in `one.safetensors`",
        "the index lacks 2 tensors",
    ]
    assert found[0].notes == (
        "`a` is in `one.safetensors`, not in `two.safetensors`",
        "`b` is in `one.safetensors`, not in `two.safetensors`",
        "`c` is in `two.safetensors`, not in `one.safetensors`",
    )
    assert found[2].notes == ("`e` in `two.safetensors`", "`f` in `two.safetensors`")


def test_a_broken_file_is_the_only_error(shards: Any) -> None:
    folder = shards({**GOOD, "d": "two.safetensors"})
    (folder / "two.safetensors").write_bytes(b"abc")
    (found,) = findings(folder)
    assert found.message.startswith(f"{folder / 'two.safetensors'}: 3 bytes are too few")


def test_without_an_index_nothing_is_compared(shards: Any, write_tensors: Any) -> None:
    folder = shards({})
    (folder / INDEX).unlink()
    (folder / "one.safetensors").rename(folder / "model.safetensors")
    assert findings(folder) == []
