"""What is nested too deeply gets E1104; what is long but flat is checked. Neither is formatted or
checked with an exception."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.format.source import formatted

DEEP = 4_000
LONG = 10_000

HEAD = "pub fn f<N: Dim>(x: f32, c: bool, o: f32?, t: Tensor[4; f32], u: Tensor[N; f32]) -> f32 {"
# Repeated before a middle, and after it.
EXPRESSIONS = {
    "parentheses": ("(", "x", ")"),
    "minus": ("-", "x", ""),
    "not": ("!", "c", ""),
    "sum": ("x + ", "x", ""),
    "mixed chain": ("x + x * ", "x", ""),
    "and": ("c && ", "c", ""),
    "comparisons": ("x < ", "x", ""),
    "calls": ("exp(", "x", ")"),
    "casts": ("cast<f32>(", "x", ")"),
    "tuples": ("(x, ", "x", ")"),
    "then": ("if c { ", "x", " } else { x }"),
    "else": ("if c { x } else { ", "x", " }"),
    "some": ("match o { some(_v) => ", "x", " none => x }"),
    "none": ("match o { some(_v) => x none => ", "x", " }"),
    "slices": ("", "t", "[0:4]"),
    "indices": ("t[", "0", "]"),
    "fields": ("", "x", ".a"),
    "reductions": ("sum[i] ", "t[i]", ""),
    "structs": ("S { a: ", "x", " }"),
}
BODIES = {
    "while": ("while c { ", "", " }"),
    "static for": ("static for _i in 0..2 { ", "", " }"),
    "braces": ("{ ", "", " }"),
}
TYPES = {
    "tuple types": ("(", "f32", ", f32)"),
    "types in parentheses": ("(", "f32", ")"),
    "arrays": ("[", "f32", "; 2]"),
    "generic arguments": ("S<", "2", ">"),
}
EXTENTS = {
    "extents in parentheses": ("(", "N", ")"),
    "sums of extents": ("N + ", "N", ""),
    "least extents": ("min(", "N", ", 3)"),
}


def repeated(part: tuple[str, str, str], times: int) -> str:
    return part[0] * times + part[1] + part[2] * times


def nested() -> dict[str, str]:
    """Texts that are nested `DEEP` times."""
    found = {
        name: f"{HEAD} let _y = {repeated(p, DEEP)} return x }}" for name, p in EXPRESSIONS.items()
    }
    found |= {name: f"{HEAD} {repeated(p, DEEP)} return x }}" for name, p in BODIES.items()}
    type_ = "pub fn f<N: Dim>(x: {}) -> i64 {{ return 0 }}"
    found |= {name: type_.format(repeated(p, DEEP)) for name, p in TYPES.items()}
    extents = {name: f"Tensor[{repeated(p, DEEP)}; f32]" for name, p in EXTENTS.items()}
    found |= {name: type_.format(text) for name, text in extents.items()}
    relation = repeated(EXTENTS["sums of extents"], DEEP)
    found["where"] = f"pub fn f<N: Dim>() -> i64 where {relation} > 0 {{ return 0 }}"
    found["blocks in blocks"] = "block B { " * DEEP + "}" * DEEP
    found["optionals"] = type_.format("f32" + "?" * DEEP)
    found["open comments"] = "const A = 1" + " /*" * DEEP
    return found


# The language has no such nesting: the first is not expected there.
UNEXPECTED = {"optionals": "E1101", "generic arguments": "E1101", "blocks in blocks": "E1101"}
OTHERS = UNEXPECTED | {"open comments": "E1002"}


def found_in(folder: Path, text: str) -> list[str]:
    """The codes that a module gets, at places inside it."""
    path = folder / "m.linnet"
    path.write_text(f"module m\n{text}\n", "utf-8")
    findings = list(check_paths([path]).sink)
    for finding in findings:
        assert finding.span is not None
        assert 0 <= finding.span.start <= finding.span.end <= len(finding.span.file.text)
    return [finding.code for finding in findings]


@pytest.mark.parametrize("name", nested())
def test_nested_too_deeply(tmp_path: Path, name: str) -> None:
    text = nested()[name]
    assert found_in(tmp_path, text) == [OTHERS.get(name, "E1104")]
    assert formatted(SourceFile("m.linnet", f"module m\n{text}\n"), Sink()) is None


def numbered(form: str, by: str) -> str:
    return by.join(form.format(n) for n in range(LONG))


LISTS = {
    "extents": f"pub fn f(x: Tensor[{'1, ' * LONG}; f32]) -> i64 {{ return 0 }}",
    "shapes": f"{HEAD} let _y = fill<f32>([{'1, ' * LONG}], x) return x }}",
    "parts": f"{HEAD} let _y = concat({'t, ' * LONG}axis = 0) return x }}",
    "tuple": f"{HEAD} let _y = ({'x, ' * LONG}) return x }}",
    "arguments": f"fn g({numbered('a{}: f32', ', ')}) -> f32 {{ return a0 }}\n"
    f"pub fn f(x: f32) -> f32 {{ return g({'x, ' * LONG}) }}",
    "generics": f"pub fn f<{numbered('N{}: Dim', ', ')}>() -> i64 {{ return 0 }}",
    "variants": f"enum E {{ {numbered('A{}', ', ')} }}",
    "constants": numbered("const A{} = 1", "\n"),
    "functions": numbered("fn g{}(x: f32) -> f32 {{ return x }}", "\n"),
    "line comments": "// c\n" * LONG + "const A = 1",
    "comments": "/* c */" * LONG + "const A = 1",
    "nested comments": "/*" * LONG + "*/" * LONG + "const A = 1",
    "documentation": "/// c\n" * LONG + "const A = 1",
    "name": f"const {'a' * LONG} = 1",
}


@pytest.mark.parametrize("name", LISTS)
def test_a_long_list_is_no_nesting(tmp_path: Path, name: str) -> None:
    assert found_in(tmp_path, LISTS[name]) == []


LONG_AND_WRONG = {
    "strings": (f'const S = "{"a" * LONG}"', ["E2101"]),
    "digits": (f"const A = {'9' * LONG}", ["E1005"]),
    "fields": (f"struct S {{ {numbered('a{}: f32', ' ')} }}", ["E1104"]),
    "names of a path": (f"use std{'.m' * LONG}::{{a}}", ["E1202"]),
    "imports": ("use std.nn.linear::{" + "linear, " * LONG + "}", ["E1204"] * (LONG - 1)),
}


@pytest.mark.parametrize("name", LONG_AND_WRONG)
def test_long_and_wrong(tmp_path: Path, name: str) -> None:
    text, codes = LONG_AND_WRONG[name]
    assert found_in(tmp_path, text) == codes


def test_a_path_of_any_length_is_formatted() -> None:
    """It is a tree that is as deep as it has names."""
    text = f"module m{'.m' * LONG}\n\nuse std{'.m' * LONG}::{{\n    a,\n}}\n"
    assert formatted(SourceFile("m.linnet", text), Sink()) == text


STEPS = 60
GROWING = {
    "slices": (
        "let x{next} = g(x{at})",
        "fn g<N: Dim>(x: Tensor[N; f32]) -> Tensor[N / 3 + 1; f32]",
    ),
    "twice as long each time": (
        "let x{next} = g(x{at})",
        "fn g<N: Dim>(x: Tensor[N; f32]) -> Tensor[min(N / 3 + 1, 7 * N) + N / 5; f32]",
    ),
    "pairs of pairs": ("let x{next} = (x{at}, x{at})", ""),
}


@pytest.mark.parametrize("name", GROWING)
def test_what_grows_with_each_statement_has_a_limit(tmp_path: Path, name: str) -> None:
    step, head = GROWING[name]
    dims = head.partition("-> Tensor[")[2].removesuffix("; f32]")
    function = f"{head} {{ return fill<f32>([{dims}], 0.0) }}\n" if head else ""
    steps = " ".join(step.format(at=n, next=n + 1) for n in range(STEPS))
    text = f"{function}pub fn f<N: Dim>(x0: Tensor[N; f32]) -> f32 {{ {steps} return x{STEPS} }}"
    assert found_in(tmp_path, text) == ["E1104"]


def test_an_alias_of_an_alias_is_as_long_as_what_it_stands_for(tmp_path: Path) -> None:
    head = "type A{next}<N: Dim> = A{at}<min(N / 3 + 1, 7 * N)>"
    aliases = "\n".join(head.format(at=n, next=n + 1) for n in range(STEPS))
    text = f"type A0<N: Dim> = Tensor[N; f32]\n{aliases}"
    assert found_in(tmp_path, text) == ["E1104"]
