"""One mistake, one finding, and what follows is read: for many single mistakes in each item."""

from __future__ import annotations

import pytest

from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.lexer import lex
from linnet.syntax.tokens import words
from tests.syntax.dump import good, parsed

ITEMS = {
    "function": "fn g(x: f32) -> f32 {\n    let y = x * 2.0\n    return y\n}",
    "block": "pub block B<H: Dim> where H > 0 {\n    param w: Tensor[H; f32]\n"
    "    pub fn go(x: f32) -> f32 {\n        return x\n    }\n}",
    "struct": "struct S {\n    a: i32\n    b: i32\n}",
    "enum": "enum E { A, B }",
    "constant": "const C = 1 + 2",
    "alias": "type A = Tensor[3; f32]",
    "use": "use std.a::{b}",
}
WORDS = sorted(words(") ( ] [ , ; : = -> x 1 return let fn pub + < > if const block param"))
FIRST = "fn first() -> i32 {\n    return 1\n}\n"
AFTER = "\nconst after = 1\nfn last() -> i32 {\n    return 1\n}\n"

# A comma between two halves of a relation gives two of them, both wrong. `fn`, `const` or `block`
# before a name may as well begin an item.
TWO_FINDINGS = {"H , 0", "A fn Tensor", "A const Tensor", "A block Tensor"}


def mutants(item: str) -> list[str]:
    """The item with each token left out, and with each word put before it and in its place."""
    out: list[str] = []
    for token in lex(SourceFile("", item), Sink()).tokens:
        before, after = item[: token.start], item[token.end :]
        out.append(before + after)
        out += [f"{before}{word} {token.text}{after}" for word in WORDS]
        if token.text not in "{}":
            out += [f"{before}{word}{after}" for word in WORDS]
    return out


@pytest.mark.parametrize("kind", ITEMS)
def test_a_mistake_is_reported_once_and_costs_no_other_item(kind: str) -> None:
    for mutant in mutants(ITEMS[kind]):
        module, found = parsed(f"module m\n{FIRST}{mutant}{AFTER}")
        assert module is not None
        names = [item.name.text for item in module.items]
        if not any(text in mutant for text in TWO_FINDINGS):
            assert len(found) <= 1, (mutant, [f.message for f in found])
        assert names[0] == "first" and names[-2:] == ["after", "last"], mutant


def test_each_of_many_items_may_have_its_own_mistake() -> None:
    """One finding in each item, on its line, whatever kind stands before it."""
    wrong = [
        ("fn a(x: f32) -> f32 {\n    return x +\n}", 2),
        ("pub block B {\n    param w: Tensor[3; f32;]\n    param v: f32\n}", 1),
        ("struct S {\n    a: i32;\n}", 1),
        ("enum E { A B }", 0),
        ("const C = = 2", 0),
        ("type T = Tensor[3, f32]", 0),
        ("use std.a::b", 0),
        ("def f(x):\n    return x", 0),
        ("extern fn g() -> i32", 0),
        ("fn h(x f32) -> f32 { return x }", 0),
    ]
    for shift in range(len(wrong)):
        text, lines = "module m\n", list[int]()
        for item, offset in wrong[shift:] + wrong[:shift]:
            lines.append(text.count("\n") + 1 + offset)
            text += item + "\n"
        found = parsed(text)[1]
        places = [f.span.file.position(f.span.start).line for f in found if f.span is not None]
        assert places == lines, [(f.message, f.help) for f in found]


def test_items_may_follow_each_other_on_one_line() -> None:
    text = " ".join(ITEMS.values())
    assert [item.name.text for item in good(f"module m {text}").items] == [
        "g",
        "B",
        "S",
        "E",
        "C",
        "A",
    ]
