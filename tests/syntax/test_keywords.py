"""A keyword ends where its word ends: glued to the next word, the two are a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.syntax.tokens import KEYWORDS, RESERVED
from tests.syntax.dump import body, codes

# `~` is white space, or nothing.
PROGRAMS = [
    ("module", "module~m\n"),
    ("use", "module m\nuse~std.nn.linear::{linear}\n"),
    ("pub", "module m\npub~fn f() -> i32 { return 1 }\n"),
    ("const", "module m\npub const~A = 1\n"),
    ("type", "module m\npub type~A = i32\n"),
    ("struct", "module m\npub struct~A { x: i32 }\n"),
    ("enum", "module m\npub enum~A { X, Y }\n"),
    ("fn", "module m\npub fn~f() -> i32 { return 1 }\n"),
    ("op", "module m\npub op~f() -> i32 { return 1 }\n"),
    ("block", "module m\npub block~A { param x: Tensor[2; f32] }\n"),
    ("entry", "module m\npub entry~f() -> i32 { return 1 }\n"),
    ("param", "module m\npub block A { param~x: Tensor[2; f32] }\n"),
    ("buffer", "module m\npub block A { buffer~x: Tensor[2; f32] }\n"),
    ("state", "module m\npub block A { state~x: Tensor[2; f32] }\n"),
    ("sub", "module m\npub block B { }\npub block A { sub~x: B }\n"),
    ("let", "module m\npub fn f() -> i64 { let~x = 1 return x }\n"),
    ("var", "module m\npub fn f() -> i64 { var~x = 1 x = 2 return x }\n"),
    ("return", "module m\npub fn f(x: i32) -> i32 { return~x }\n"),
    ("if", "module m\npub fn f(b: bool) -> i32 { return if~b { 1 } else { 2 } }\n"),
    ("else", "module m\npub fn f(b: bool) -> i32 { return if b {1} else~if b {2} else {3} }\n"),
    ("match", "module m\npub fn f(x: i32?) -> i32 { return match~x { some(v) => v none => 1 } }\n"),
    ("static", "module m\npub fn f() -> i32 { static~for i in 0..2 { let _a = i } return 1 }\n"),
    ("for", "module m\npub fn f() -> i32 { static for~i in 0..2 { let _a = i } return 1 }\n"),
    ("in", "module m\npub fn f<N: Dim>() -> i32 { static for i in~N..N { let a = i } return 1 }\n"),
    ("while", "module m\npub fn f(b: bool) -> i32 { var c = b while~c { c = false } return 1 }\n"),
    ("where", "module m\npub fn f<N: Dim>() -> i32 where~N > 0 { return 1 }\n"),
    ("as", "module m\nuse std.nn.linear::{linear as~other}\n"),
]  # fmt: skip
VALUES = [
    ("true", "module m\npub fn f() -> bool { return true~ }\n"),
    ("false", "module m\npub fn f() -> bool { return false~ }\n"),
    ("none", "module m\npub fn f() -> i32? { return none~ }\n"),
    ("some", "module m\npub fn f() -> i32? { return some~(1) }\n"),
]
# What follows these is a sign, or refused.
ALONE = {"crate", "self", "super", "extern"}


def found(folder: Path, text: str) -> list[str]:
    file = folder / "m.linnet"
    file.write_text(text, "utf-8")
    return [d.code for d in check_paths([file]).sink if d.code.startswith("E")]


@pytest.mark.parametrize(("keyword", "program"), PROGRAMS, ids=[k for k, _ in PROGRAMS])
def test_a_keyword_does_not_take_part_of_a_word(tmp_path: Path, keyword: str, program: str) -> None:
    assert keyword + "~" in program
    assert found(tmp_path, program.replace("~", " ")) == []
    assert found(tmp_path, program.replace("~", "")) != []


@pytest.mark.parametrize(("keyword", "program"), VALUES, ids=[k for k, _ in VALUES])
def test_a_longer_word_is_not_the_value(tmp_path: Path, keyword: str, program: str) -> None:
    assert keyword + "~" in program
    assert found(tmp_path, program.replace("~", "")) == []
    assert found(tmp_path, program.replace("~", "x")) == ["E1201"]


def test_every_keyword_is_tried() -> None:
    assert {keyword for keyword, _ in PROGRAMS + VALUES} | ALONE == KEYWORDS


@pytest.mark.parametrize("word", sorted(KEYWORDS | RESERVED))
def test_a_word_that_begins_or_ends_with_a_keyword_is_a_name(word: str) -> None:
    for name in (f"{word}x", f"{word}_", f"{word}1", f"x{word}", f"_{word}", word.upper()):
        assert (
            body(f"let {name} = 1 return {name}") == f"(LetStmt False {name} _ _ 1) (return {name})"
        )
    assert codes(f"module m fn f() -> i32 {{ let {word} = 1 return 1 }}") != []
