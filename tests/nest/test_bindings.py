"""`bindings.json`: values, and mistakes with their places."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from linnet.nest.bindings import Bindings, load_bindings
from linnet.nest.card import load_card
from linnet.source.diagnostics import Diagnostic, Sink


def read(folder: Path) -> tuple[Bindings, list[Diagnostic]]:
    sink = Sink()
    card = load_card(folder, sink)
    assert card is not None
    named = card.toml.value("weights", "bindings")
    return load_bindings(card.weights.bindings, sink, named), list(sink)


def place(diagnostic: Diagnostic) -> tuple[int, int, str]:
    assert diagnostic.span is not None
    position = diagnostic.span.file.position(diagnostic.span.start)
    return position.line, position.column, diagnostic.span.text


def test_values_and_places(make_card: Callable[..., Path]) -> None:
    bindings, found = read(make_card())
    assert not found
    assert bindings == {"norm": "model.norm", "head.weight": "model.head"}
    assert not bindings.implicit
    assert bindings.places["head.weight"].text == '"head.weight"'


def test_empty_object(make_card: Callable[..., Path]) -> None:
    bindings, found = read(make_card(bindings=" { } \n"))
    assert (bindings, found) == ({}, [])


def test_no_file_means_paths_are_names(make_card: Callable[..., Path]) -> None:
    folder = make_card(('bindings = "bindings.json"\n', ""))
    (folder / "bindings.json").unlink()
    bindings, found = read(folder)
    assert (bindings, found, bindings.implicit) == ({}, [], True)


def test_named_file_that_is_absent(make_card: Callable[..., Path]) -> None:
    folder = make_card()
    (folder / "bindings.json").unlink()
    bindings, (found,) = read(folder)
    assert (bindings, bindings.whole) == ({}, False)
    assert found.code == "E5002"
    assert "bindings.json: no such file" in found.message
    assert place(found)[2] == '"bindings.json"'


NO_OBJECT = "the bindings must be an object, from parameter paths to names"
# After these the rest of the file is still understood.
ONE_LINE = {
    "`a` is bound twice",
    "`a` must be bound to a tensor's name, not the number 3",
    "`a` must be bound to a tensor's name, not an empty text",
    "not null",
    "not a table",
}


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ('{"a": "x",\n "a": "y"}', "`a` is bound twice", (2, 2, '"a"')),
        ('{"a": 3}', "`a` must be bound to a tensor's name, not the number 3", (1, 7, "3")),
        ('{"a": ""}', "`a` must be bound to a tensor's name, not an empty text", (1, 7, '""')),
        ('{"a": null}', "not null", (1, 7, "null")),
        ('{"a": {"b": 1}}', "not a table", (1, 7, '{"b": 1}')),
        ('{"a": "x",}', "the bindings are no JSON: expecting value", (1, 11, "}")),
        ('{"a" "x"}', "the bindings are no JSON: `:` belongs here", (1, 6, '"')),
        ('{1: "x"}', "a key in double quotes belongs here", (1, 2, "1")),
        ("[]", f"{NO_OBJECT}, not a list", (1, 1, "[]")),
        (" null\n", f"{NO_OBJECT}, not null", (1, 2, "null")),
        ('"a": "b"', "the bindings are no JSON: `{` belongs here", (1, 1, '"')),
        ("[1", "the bindings are no JSON: expecting ',' delimiter", (1, 3, "")),
        ("", "`{` belongs here", (1, 1, "")),
        ('{"a": "x"', "`,` belongs here", (1, 10, "")),
        ('{"a": "x"} more', "text after the closing `}`", (1, 12, "m")),
        ('{"a": ' + "[" * 100_000, "the bindings are nested too deeply", (1, 1, "{")),
        ('{"a": ' + "1" * 5000 + "}", "the bindings are no JSON", (1, 1, "{")),
    ],
)
def test_mistakes(
    make_card: Callable[..., Path], text: str, message: str, where: tuple[int, int, str]
) -> None:
    bindings, (found,) = read(make_card(bindings=text))
    assert bindings.whole == (message in ONE_LINE)
    assert found.code == "E5002"
    assert message in found.message
    assert place(found) == where


def test_all_mistakes_in_one_run(make_card: Callable[..., Path]) -> None:
    _, found = read(make_card(bindings='{"a": 1, "b": "x", "b": "y", "c": []}'))
    assert [d.message for d in found] == [
        "`a` must be bound to a tensor's name, not the number 1",
        "`b` is bound twice",
        "`c` must be bound to a tensor's name, not a list",
    ]


def test_a_byte_order_mark_is_no_part_of_the_text(make_card: Callable[..., Path]) -> None:
    assert read(make_card(bindings=b'\xef\xbb\xbf{"norm": "a"}')) == ({"norm": "a"}, [])


def test_a_pipe_is_not_opened(make_card: Callable[..., Path]) -> None:
    folder = make_card()
    (folder / "bindings.json").unlink()
    os.mkfifo(folder / "bindings.json")
    bindings, (found,) = read(folder)
    assert (bindings, bindings.whole, found.code) == ({}, False, "E5002")
    assert found.message == f"cannot read the bindings {folder / 'bindings.json'}: is not a file"


def test_not_utf8(make_card: Callable[..., Path]) -> None:
    bindings, (found,) = read(make_card(bindings=b'{"a": "\xff"}'))
    assert (bindings, bindings.whole) == ({}, False)
    assert "is not UTF-8: byte 7 cannot be decoded" in found.message
