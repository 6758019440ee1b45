from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet.source.codes import CODES
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span, read_file
from linnet.source.suggest import closest


@given(st.text(alphabet="ab\n\r\té日", max_size=40))
def test_positions_and_lines_agree_with_splitting(text: str) -> None:
    file = SourceFile("x", text)
    lines = text.split("\n")
    for offset in range(len(text) + 1):
        before = text[:offset].split("\n")
        position = file.position(offset)
        assert (position.line, position.column) == (len(before), len(before[-1]) + 1)
        assert position.offset == offset
        assert file.line(position.line) == lines[position.line - 1].rstrip("\r")


def test_spans_join_from_the_first_to_the_last() -> None:
    file = SourceFile("x", "abcdef")
    assert Span(file, 4, 5).to(Span(file, 1, 2)).text == "bcde"


def test_only_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\r\n")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "device").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    assert read_file(tmp_path / "file") == read_file(tmp_path / "link") == b"a\r\n"
    for name in ("pipe", "device", "circle", "absent", "."):
        with pytest.raises(OSError):
            read_file(tmp_path / name)


def test_a_sink_keeps_an_equal_finding_once_and_in_order() -> None:
    sink = Sink()
    one, two = Diagnostic("E1001", "a", None), Diagnostic("W1001", "b", None)
    for finding in (one, two, one):
        sink.add(finding)
    assert list(sink) == [one, two]
    assert sink.errors == 1


def test_a_code_that_is_not_in_the_catalogue_cannot_be_used() -> None:
    with pytest.raises(AssertionError):
        Diagnostic("E9999", "no", None)


def test_codes_are_grouped_and_sorted() -> None:
    assert list(CODES) == sorted(CODES)
    assert all(code[0] in "EW" and code[1:].isdigit() and len(code) == 5 for code in CODES)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("widht", "width"),
        ("WIDTH", "width"),
        ("zzz", None),
        ("widths", "width"),
        ("tdhiw", None),  # the same letters alone are not near
        ("", None),
        ("width" * 60, None),
    ],
)
def test_the_closest_name(name: str, expected: str | None) -> None:
    assert closest(name, ["height", "width", "depth"]) == expected


def test_the_closest_of_many_names_that_are_near() -> None:
    names = [f"layers.{n}.mlp.{part}" for n in range(400) for part in ("up", "down", "gate")]
    assert closest("layers.317.mlp.gaet", names) == "layers.317.mlp.gate"
    assert closest("Layers.317.MLP.up", names) == "layers.317.mlp.up"
