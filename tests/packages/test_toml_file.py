"""TOML with places, checked against what tomllib reads at each place."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet.packages.toml_file import Key, TomlFile, read_toml
from linnet.source.diagnostics import Diagnostic, Sink

TEXT = '''\
# a comment with [brackets] and "quotes"
top = 1
"quoted \\u0041.key" = 'lit"eral'
a.b . c = { x = 1, "y" = [1, 2], z.w = {} }   # tail
[table]
list = [
  "one", # ]
  'two, ]',
  [ 3, { k = 4 } ],
]
multi = """
[not.a.table] \\"""
still"""
raw = \'\'\'
''a''\'\'\'
when = 1979-05-27 07:32:00
[table.sub]
x = true
[[many]]
n = 1
[[many]]
n = 2
[many.inner]
deep = -1.5e3
'''


def read(tmp_path: Path, text: str | bytes) -> tuple[TomlFile | None, list[Diagnostic]]:
    path = tmp_path / "f.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    sink = Sink()
    return read_toml(path, sink), list(sink)


def leaves(value: Any, path: Key = ()) -> list[tuple[Key, Any]]:
    if isinstance(value, dict):
        return [p for k, v in value.items() for p in leaves(v, (*path, k))]
    if isinstance(value, list):
        inner = [p for i, v in enumerate(value) for p in leaves(v, (*path, i))]
        return [(path, value), *inner]
    return [(path, value)]


def assert_places(file: TomlFile) -> None:
    """The text at each value's place is that value."""
    for path, value in leaves(file.values):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            continue
        assert tomllib.loads(f"k = {file.value(*path).text}")["k"] == value, path


def test_every_value_is_at_its_place(tmp_path: Path) -> None:
    file, found = read(tmp_path, TEXT)
    assert not found
    assert file is not None
    assert file.values == tomllib.loads(TEXT)
    assert_places(file)
    lines = {path: file.source.position(span.start).line for path, span in file.keys.items()}
    assert lines["top",] == 2
    assert lines["quoted A.key",] == 3
    assert lines["a", "b", "c"] == lines["a", "b", "c", "z", "w"] == 4
    assert lines["table", "multi"] == 11
    assert lines["table", "sub", "x"] == 18
    assert (lines["many", 0, "n"], lines["many", 1, "n"]) == (20, 22)
    assert lines["many", 1, "inner", "deep"] == 24


def test_the_nearest_place_of_what_is_absent(tmp_path: Path) -> None:
    file, _ = read(tmp_path, "[a]\nb = 1\n")
    assert file is not None
    assert file.key("a", "x").text == "a"
    assert file.value("a", "b", "c").text == "1"
    assert (file.key("x").start, file.key("x").end) == (0, 0)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = \n", 1, 5),
        ("a = 1\nb = = 2\n", 2, 5),
        ("a = 1\na = 2\n", 2, 6),
        ("a = [1,\n", 1, 8),
        ("a = 'x", 1, 7),
        ("a = 1\r\nb = ?\r\n", 2, 5),
    ],
)
def test_syntax_errors_have_their_place(tmp_path: Path, text: str, line: int, column: int) -> None:
    file, (found,) = read(tmp_path, text)
    assert file is None
    assert found.code == "E5001"
    assert found.span is not None
    position = found.span.file.position(found.span.start)
    assert (position.line, position.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a = '\xff'", "is not UTF-8: byte 5 cannot be decoded"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a = " + "1" * 5000, "bad value: Exceeds the limit"),
    ],
)
def test_what_is_no_toml_for_other_reasons(tmp_path: Path, text: str | bytes, message: str) -> None:
    file, (found,) = read(tmp_path, text)
    assert (file, found.code) == (None, "E5001")
    assert message in found.message


def test_a_key_in_a_message_is_written_as_in_the_file(tmp_path: Path) -> None:
    _, (found,) = read(tmp_path, "[a.b]\n[a.b]\n")
    assert found.message == "cannot declare `a.b` twice"
    _, (found,) = read(tmp_path, "[a]\n[a]\n")
    assert found.message == "cannot declare `a` twice"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file, found = read(tmp_path, b"\xef\xbb\xbfa = 1\n")
    assert file is not None
    assert (file.values, found) == ({"a": 1}, [])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    sink = Sink()
    assert read_toml(tmp_path / "absent.toml", sink) is None
    assert read_toml(tmp_path, sink) is None
    assert [d.message.rsplit(": ", 1)[1] for d in sink] == [
        "no such file or directory",
        "is a directory",
    ]


scalars = st.sampled_from(
    ["1", "-2.5", "true", '"a # ] }"', "'b\"'", '"""x\n"y"" \\""""', "'''\n]'''", "07:32:00", '""']
)
blanks = st.sampled_from(["", " ", "\n", " # , ]\n"])
values = st.recursive(
    scalars,
    lambda inner: (
        st.tuples(blanks, st.lists(inner, max_size=3)).map(
            lambda t: f"[{t[0]}{(',' + t[0]).join(t[1])}{t[0]}]"
        )
        | st.lists(inner, max_size=3).map(
            lambda vs: "{ " + ", ".join(f"k{i} = {v}" for i, v in enumerate(vs)) + " }"
        )
    ),
    max_leaves=8,
)


@given(items=st.lists(values, max_size=4), headers=st.lists(st.booleans(), max_size=4))
def test_any_file_of_these_parts(
    tmp_path_factory: pytest.TempPathFactory, items: list[str], headers: list[bool]
) -> None:
    lines: list[str] = []
    for index, item in enumerate(items):
        if index < len(headers):
            lines.append("[[many]]" if headers[index] else f"[t{index}]")
        lines.append(f"key{index} = {item}")
    text = "\n".join(lines)
    file, found = read(tmp_path_factory.mktemp("toml"), text)
    assert not found
    assert file is not None
    assert_places(file)


@given(text=st.text(alphabet="ab.=[]{}\"'#,\n \\1"))
def test_any_text_is_read_or_reported(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file, found = read(tmp_path_factory.mktemp("toml"), text)
    assert (file is None) == bool(found)
    if file is not None:
        assert_places(file)
