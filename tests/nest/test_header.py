"""Headers that lie: each is an E5003 that names the file and the tensor."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linnet.nest.checkpoint import read_headers
from linnet.nest.header import HEADER_LIMIT, read_header
from linnet.nest.locate import Files
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.render import render_text


def entry(dtype: str, shape: list[Any], start: Any, end: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def findings(path: Path) -> list[Diagnostic]:
    sink = Sink()
    found = read_header(path, sink)
    assert found is None or not found.sound
    assert all(d.code == "E5003" for d in sink)
    assert all(str(path) in d.message for d in sink)
    return list(sink)


def test_a_sound_file(write_tensors: Callable[..., Path]) -> None:
    header = {
        "__metadata__": {"format": "pt"},
        "b": entry("F32", [1], 6, 10),
        "a": entry("BF16", [3], 0, 6),
        "none": entry("F32", [0, 4], 10, 10),
        "scalar": entry("U8", [], 10, 11),
    }
    path = write_tensors("m.safetensors", header, bytes(11))
    sink = Sink()
    found = read_header(path, sink)
    assert not list(sink)
    assert found is not None
    assert found.metadata == {"format": "pt"}
    begin = path.stat().st_size - 11
    assert [(t.name, t.dtype, t.shape, t.start - begin, t.end - begin) for t in found.tensors] == [
        ("b", "F32", (1,), 6, 10),
        ("a", "BF16", (3,), 0, 6),
        ("none", "F32", (0, 4), 10, 10),
        ("scalar", "U8", (), 10, 11),
    ]


def test_a_huge_length_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes((2**64 - 1).to_bytes(8, "little") + b"{}")
    tracemalloc.start()
    (found,) = findings(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert f"the header should have {2**64 - 1} bytes, but only 2 follow" in found.message
    assert peak < 1_000_000


def test_a_header_above_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    with path.open("wb") as file:
        file.write((HEADER_LIMIT + 1).to_bytes(8, "little"))
        file.truncate(HEADER_LIMIT + 100)
    (found,) = findings(path)
    assert f"a header of {HEADER_LIMIT + 1} bytes is above the limit" in found.message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes are too few for the length of a header"),
        (b"abc", "3 bytes are too few for the length of a header"),
        (b"\x10" + bytes(7) + b"{}", "the header should have 16 bytes, but only 2 follow"),
        (bytes(8), "the header does not begin with `{`"),
        (b"\x02" + bytes(7) + b"[]", "the header does not begin with `{`"),
        (b"\x02" + bytes(7) + b"{x", "the header is no JSON"),
        (b"\x04" + bytes(7) + b'{"\xff"', "the header is not UTF-8: byte 2"),
    ],
)
def test_unreadable_headers(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(data)
    (found,) = findings(path)
    assert message in found.message


@pytest.mark.parametrize(
    ("entries", "data", "tensor", "message"),
    [
        (
            {"a": entry("U8", [8], 0, 8), "b": entry("U8", [8], 4, 12)},
            12,
            "b",
            "its bytes [4, 12] overlap [0, 8] of `a`",
        ),
        (
            {"a": entry("U8", [4], 0, 4), "b": entry("U8", [4], 8, 12)},
            12,
            "b",
            "4 bytes between it and `a` belong to no tensor",
        ),
        ({"a": entry("U8", [4], 2, 6)}, 6, "a", "2 bytes before its data belong to no tensor"),
        (
            {"a": entry("F32", [4], 0, 16)},
            10,
            "a",
            "its data_offsets [0, 16] leave the file, which has 10 bytes of data",
        ),
        ({"a": entry("U8", [16], 16, 0)}, 16, "a", "[16, 0] end before they start"),
        ({"a": entry("U8", [16], -4, 12)}, 16, "a", "[-4, 12] must be two integers from 0"),
        (
            {"a": entry("F32", [2**62, 4], 0, 0)},
            0,
            "a",
            "the shape [4611686018427387904, 4] of F32 is too large for any file",
        ),
        ({"a": entry("U8", [0, 2**64], 0, 0)}, 0, "a", "is too large for any file"),
        ({"a": entry("F32", [3], 0, 16)}, 16, "a", "[3] of F32 needs 12 bytes, its data_offsets"),
        ({"a": entry("F4", [3], 0, 2)}, 2, "a", "[3] of F4 needs 12 bits"),
        ({"a": entry("Q9", [4], 0, 16)}, 16, "a", "unknown dtype `Q9`"),
        ({"a": entry("f32", [4], 0, 16)}, 16, "a", "unknown dtype `f32`"),
        ({"a": entry("F32", [-4], 0, 16)}, 16, "a", "its shape [-4] must be a list of integers"),
        ({"a": entry("F32", [True], 0, 4)}, 4, "a", "its shape [true] must be a list"),
        ({"a": entry("F32", [4.0], 0, 16)}, 16, "a", "its shape [4.0] must be a list"),
        ({"a": entry("F32", [4], 0, None)}, 16, "a", "[0, null] must be two integers from 0"),
        ({"a": entry("F32", [4], 0, True)}, 16, "a", "[0, true] must be two integers from 0"),
        ({"a": {"dtype": "F32"}}, 0, "a", "its entry lacks `shape` and `data_offsets`"),
        ({"a": 3}, 0, "a", "its entry must be an object, not the number 3"),
        ({"a\x1b[2J": 3}, 0, "a\\x1b[2J", "its entry must be an object"),
        ({"a": entry("U8", [2**63] * 100_000, 0, 4)}, 4, "a", "is too large for any file"),
    ],
)
def test_tensors_that_do_not_fit(
    write_tensors: Callable[..., Path],
    entries: dict[str, Any],
    data: int,
    tensor: str,
    message: str,
) -> None:
    (found,) = findings(write_tensors("m.safetensors", entries, bytes(data)))
    assert f"tensor `{tensor}`: " in found.message
    assert message in found.message
    assert "\x1b" not in render_text(found)


def test_trailing_bytes(write_tensors: Callable[..., Path]) -> None:
    path = write_tensors("m.safetensors", {"a": entry("U8", [4], 0, 4)}, bytes(7))
    (found,) = findings(path)
    assert "3 bytes after the end of `a` belong to no tensor" in found.message


def test_trailing_bytes_without_a_tensor(write_tensors: Callable[..., Path]) -> None:
    (found,) = findings(write_tensors("m.safetensors", {}, bytes(7)))
    assert "7 bytes after the end of the header belong to no tensor" in found.message


def test_every_tensor_is_reported(write_tensors: Callable[..., Path]) -> None:
    entries = {"a": entry("Q9", [1], 0, 1), "b": entry("U8", [2], 1, 2), "c": 1}
    found = findings(write_tensors("m.safetensors", entries, bytes(2)))
    assert [d.message.split(": ")[1] for d in found] == ["tensor `a`", "tensor `b`", "tensor `c`"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
            b'"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}',
            "the header has the key `a` twice",
        ),
        (
            b'{"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}}',
            "the header has the key `dtype` twice",
        ),
        (b'{"a":' + b"[" * 200_000, "the header is nested too deeply"),
        (b'{"a":' + b"1" * 5000 + b"}", "the header has a number of 5000 digits"),
        (b'{"a":NaN}', "the header is no JSON: NaN is no number of it"),
        (b'{"a":{"shape":[-Infinity]}}', "the header is no JSON: -Infinity is no number of it"),
        (b'{"a":1} x', "the header is no JSON: extra data at line 1, column 9"),
        (b'{"__metadata__":{"a":1}}', "`__metadata__` must map texts to texts"),
        (b'{"__metadata__":[]}', "`__metadata__` must map texts to texts"),
        (b'{"\\ud800":1}', "the header has the key `\\ud800`, which is no Unicode text"),
    ],
)
def test_malformed_objects(write_tensors: Callable[..., Path], text: bytes, message: str) -> None:
    (found,) = findings(write_tensors("m.safetensors", text, b"\0" if b"dtype" in text else b""))
    assert message in found.message
    render_text(found).encode()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (absent,) = findings(tmp_path / "absent.safetensors")
    assert "cannot be read: no such file or directory" in absent.message
    (folder,) = findings(tmp_path)
    assert "is not a file" in folder.message
    os.mkfifo(tmp_path / "pipe.safetensors")
    (pipe,) = findings(tmp_path / "pipe.safetensors")
    assert "is not a file" in pipe.message


def test_one_tensor_in_two_files(write_tensors: Callable[..., Path]) -> None:
    paths = [write_tensors(f"{n}.safetensors", {"w": entry("U8", [1], 0, 1)}, b"\0") for n in "ab"]
    sink = Sink()
    assert read_headers(Files(tuple(paths)), sink).whole
    (found,) = sink
    assert (found.code, found.message) == ("E5002", "tensor `w` is in two files")
    assert found.notes == (f"in {paths[0]}", f"in {paths[1]}")


def test_all_broken_files_are_reported(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(b"abc")
    sink = Sink()
    found = read_headers(Files((tmp_path / "a", tmp_path / "b")), sink)
    assert (found.tensors, found.whole) == ({}, False)
    assert [d.message.split(":")[0] for d in sink] == [str(tmp_path / "a"), str(tmp_path / "b")]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
entries = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["U8", "F32", "BF16", "Q9"]) | json_values,
        "shape": st.lists(st.integers(0, 4), max_size=3) | json_values,
        "data_offsets": st.lists(st.integers(0, 20), min_size=2, max_size=2) | json_values,
    }
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    header=st.dictionaries(st.text(max_size=2), entries | json_values, max_size=3)
    | st.binary(max_size=30),
    data=st.integers(0, 20),
)
def test_any_file_is_read_or_reported(
    write_tensors: Callable[..., Path], header: Any, data: int
) -> None:
    """Never a traceback; what is taken is also taken by the format's own library."""
    path = write_tensors("m.safetensors", header, bytes(data))
    sink = Sink()
    found = read_header(path, sink)
    assert (found is None or not found.sound) == (sink.errors > 0)
    for diagnostic in sink:
        render_text(diagnostic).encode()
    if found is not None and found.sound:
        reference = dict(safetensors.deserialize(path.read_bytes()))
        assert {t.name: (t.dtype, [*t.shape], t.nbytes) for t in found.tensors} == {
            name: (t["dtype"], t["shape"], len(t["data"])) for name, t in reference.items()
        }
