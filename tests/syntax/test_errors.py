"""One program for each code of this step, with a near miss, and the words of syntax errors."""

from __future__ import annotations

import re

import pytest

from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile
from linnet.syntax.lexer import lex
from linnet.syntax.resolve import NESTING_LIMIT
from tests.syntax.dump import body, codes, expression, good, parsed


def only(text: str) -> Diagnostic:
    found = parsed(text)[1]
    assert len(found) == 1, found
    return found[0]


def in_body(text: str) -> str:
    return f"module m fn f() -> i32 {{ {text} }}"


@pytest.mark.parametrize(
    ("code", "at", "bad", "near_miss"),
    [
        ("E1001", "@", "module m const x = 1 @", "module m const x = 1 // @"),
        ("E1001", "é", "module m const xé = 1", 'module m const x = "é"'),
        ("E1001", "'a'", "module m const x = 'a'", 'module m const x = "\'"'),
        ("E1002", "/*", "module m /* /* */", "module m /* /* */ */"),
        ("E1003", '"abc', 'module m const x = "abc\nconst y = 1', 'module m const x = "abc"'),
        ("E1003", r"\q", r'module m const x = "\q"', r'module m const x = "\\q"'),
        ("E1003", r"\u{110000}",
         r'module m const x = "\u{110000}"', r'module m const x = "\u{10ffff}"'),
        ("E1003", r'"\"', r'module m const x = "\"', r'module m const x = "\\"'),
        ("E1004", "kernel",
         in_body("let kernel = 1 return kernel"), in_body("let kernels = 1 return 1")),
        ("E1005", "0b102", "module m const x = 0b102", "module m const x = 0b101"),
        ("E1005", "1.", "module m const x = 1. + 1", "module m const x = 1.0 + 1"),
        ("E1005", "12px", "module m const x = 12px", "module m const x = 12"),
        ("E1005", "9223372036854775808", "module m const x = 9223372036854775808",
         "module m const x = -9223372036854775808"),
        ("E1005", "9223372036854775808", "module m const x = 1 - 9223372036854775808",
         "module m const x = 1 - 9223372036854775807"),
        ("E1005", "9" * 9000,
         f"module m const x = {'9' * 9000}", f"module m const x = {'0' * 9000}9"),
        ("E1101", "}", in_body("return"), in_body("return 1")),
        ("E1101", "+", "module m fn f() -> i32 where A + B { return 1 }",
         "module m fn f() -> i32 where A < B { return 1 }"),
        ("E1102", "use", "use a.b", "module m use a.b"),
        ("E1103", "impl", "module m impl X { fn f() -> i32 { return 1 } }",
         "module m struct X { }"),
        ("E1103", "extern", "module m extern fn f() -> i32", "module m fn f() -> i32 { return 1 }"),
        ("E1103", "unsafe", "module m pub unsafe fn f() -> i32 { return 1 }",
         "module m pub fn f() -> i32 { return 1 }"),
    ],
)  # fmt: skip
def test_a_program_for_each_code(code: str, at: str, bad: str, near_miss: str) -> None:
    found = only(bad)
    assert found.code == code and found.span is not None
    place = found.span.text
    assert at in place if at == "+" else place == at
    good(near_miss)


@pytest.mark.parametrize(
    ("left", "right", "most"),
    [
        ("(", ")", 78),
        ("[", "]", 78),
        ("-", "", 78),
        ("x + ", "", 78),
        ("f(", ")", 78),
        ("if a { b } else { ", "}", 77),
        ("if a { b } else if ", " { c } else { d }", 38),
        ("sum[k] ", "", 78),
        ("", "[0]", 78),
        ("", ".y", 78),
        ("match x { A => ", "}", 77),
    ],
)  # fmt: skip
def test_the_nesting_limit(left: str, right: str, most: int) -> None:
    """A return of a function takes two levels; beyond the limit there is a finding, always one."""

    def nested(depth: int) -> str:
        return in_body(f"return {left * depth}x{right * depth}")

    assert NESTING_LIMIT == 80
    assert codes(nested(most)) == []
    for depth in (most + 1, 400, 5000, 20000):
        assert only(nested(depth)).message == f"nested too deeply (limit {NESTING_LIMIT})"


def test_a_long_list_is_not_nested() -> None:
    for text in ("f(" + "x + y, " * 500 + ")", "[" + "f(x), " * 500 + "]"):
        assert expression(text)
    assert body("let x = a + b " * 500 + "return x")
    assert good("module m " + "const x = 1 + 2 " * 500)


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("let a = 1; return a", "unexpected `;`, expected a statement or `}`", "no semicolons"),
        ("return a ** 2", "unexpected `**`, expected a statement or `}`", "no power operator"),
        ("x += 1 return x", "unexpected `+=`, expected `=` or `[`", "write `x = x + 1`"),
        ("return a and b", "unexpected `and`", "write `&&`"),
        ("return not b", "unexpected `not`", "write `!`"),
        ("return self.x", "unexpected keyword `self`, expected an expression", "bare names"),
        ("for i in a { }", "unexpected keyword `for`, expected a statement or `}`", "static for"),
        ("if a { b }", "unexpected keyword `if`, expected a statement or `}`", "is an expression"),
        ("let type = 1", "unexpected keyword `type`, expected `(` or a name", "is a keyword"),
        ("return f(x", "unexpected `}`, expected `)` or `,`", None),
        ("return [x", "unexpected `}`, expected `]` or `,`", None),
        ("return x)", "unexpected `)`, expected a statement or `}`", "no `(` is open"),
        ("let x: Tensor[3] = y", "unexpected `]`, expected `,` or `;`", "a semicolon"),
        ("let x: A<B C> = y", "unexpected `C`, expected `>` or `,`", None),
        ("let x y", "unexpected `y`, expected `:`, `=` or `[`", None),
        ("return if a { b }", "unexpected `}`, expected `else`", None),
    ],
)
def test_the_words_of_a_syntax_error(text: str, message: str, help: str | None) -> None:
    found = only(in_body(text))
    assert found.code == "E1101"
    assert found.message == message
    assert found.help is None if help is None else help in (found.help or "")


def test_an_error_at_the_end_of_the_file() -> None:
    found = only("module m fn f() -> i32 { return 1 \n")
    assert found.message == "unexpected end of file, expected `}` or a statement"
    assert found.span is not None and found.span.start == len("module m fn f() -> i32 { return 1")
    assert [related.span.text for related in found.related] == ["{"]


def test_def_is_explained() -> None:
    found = only("module m def f(x): y")
    assert found.message == "unexpected `def`, expected an item"
    assert "`fn`" in (found.help or "")


SAMPLE = """module m
pub fn f<S: Dim>(x: Tensor[S, S; f32], k: i32 = (1)) -> (Tensor[S; f32], i32) where (S) > 0 {
    let a = reshape(g(x, (k + 1) * 2), [S, max(S, 1)])
    var b[i] = sum[j] exp(a[i, j]) * cast<f32>(k)
    while b(0) { b = if (k > 0) { f(b) } else { some(b) } }
    return match h(b) { some(v) => (v, k)  none => q<[S]>(b) }
}
const next = 1
"""


def test_a_missing_parenthesis_is_named() -> None:
    """For each `)` taken out: one finding that names it, in words a writer knows."""
    good(SAMPLE)
    internal = re.compile(r"__|\b[A-Z]{3,}|\$END|ANON")
    tokens = lex(SourceFile("", SAMPLE), Sink()).tokens
    closers = [token for token in tokens if token.text == ")"]
    assert len(closers) == 18
    for token in closers:
        found = only(SAMPLE[: token.start] + SAMPLE[token.end :])
        assert "`)`" in found.message and found.span is not None
        assert not internal.search(found.message + (found.help or ""))


def test_no_error_shows_an_internal_name() -> None:
    """For each token taken out or doubled."""
    internal = re.compile(r"__|\$END|ANON|\b(?:RPAR|LSQB|NAME|BINARY|LANGLE|STAR|REDUCE|TENSOR)\b")
    for token in lex(SourceFile("", SAMPLE), Sink()).tokens:
        for text in (
            SAMPLE[: token.start] + " " + SAMPLE[token.end :],
            SAMPLE[: token.end] + " " + SAMPLE[token.start :],
        ):
            for found in parsed(text)[1]:
                assert not internal.search(found.message + (found.help or ""))


def test_a_reserved_word_is_reported_once_an_item() -> None:
    assert codes(in_body("let ref = 1 let a = ref return ref + a")) == ["E1004"]
    assert codes("module m const mut = 1 const yield = 2") == ["E1004", "E1004"]


def test_bad_text_costs_no_second_report() -> None:
    assert codes(in_body("let a = 1 @ 2 return a")) == ["E1001"]
    assert codes(in_body("let await = async x return 1")) == ["E1004", "E1004"]
    assert codes("module m const x = # 1") == ["E1001"]


@pytest.mark.parametrize("hidden", ["\r", "\x00", "\u202e", "\u2066"])
@pytest.mark.parametrize("around", ["// {}x", "/* {} */", 'const s = "{}x"'])
def test_what_does_not_show_is_no_part_of_a_comment_or_a_string(hidden: str, around: str) -> None:
    """A lone carriage return would comment out a line that a reader sees as code."""
    found = only("module m\n" + around.format(hidden) + "\nconst x = 1")
    assert found.code == "E1001" and found.span is not None and found.span.text == hidden
    good("module m\r\n" + around.format("") + "\r\nconst x = 1\r\n")


def test_a_name_that_was_declared_in_what_could_not_be_read_is_known() -> None:
    module = parsed("""module m
        use a.b::{c, d as e; f}
        fn g( -> i32 { let inner = 1 return ) }
        const N = = 3
        block B { param w: Tensor[3 f32] fn h() -> f32 { return ( } }
        extern fn x() -> i32
        def y(z): return z
    """)[0]
    assert module is not None
    known = {"c", "d", "e", "f", "g", "N", "w", "h", "x", "y"}
    assert module.lost >= known and not module.lost & {"B", "inner", "z"}


BODIES = [
    ('let y = f"a {x}"', '"a {x}"', "there are no strings among the values"),
    ("let y[b] = sum(h) x[b, h]\n    return y", "x", "write `sum[h] x...`"),
    ("let y[b] = (sum(h, s) x[b, h, s]) * 2.0", "x", "write `sum[h, s] x...`"),
    ("let y = (f32) n\n    return y", "n", "write `cast<f32>(n)`"),
    ("let y = (f32) n * 2.0\n    return y", "n", "write `cast<f32>(n)`"),
    ("return (float) n", "n", "write `cast<f32>(n)`"),
    ("return exp((f32) n)", "n", "write `cast<f32>(n)`"),
    ("return 2 n", "n", "two values stand side by side"),
    ("let y = n\n    n + 1", "+", "there are no expression statements"),
    (
        "let y = reshape(x, [B, H // 2])\n    return y",
        "return",
        "`//` begins a comment; `/` divides",
    ),
    ("let y = f(x, n // the heads, all\n    return y", "return", None),
]


@pytest.mark.parametrize(("text", "at", "help"), BODIES, ids=[b[0] for b in BODIES])
def test_what_python_and_c_write_in_a_body(text: str, at: str, help: str | None) -> None:
    found = only(in_body(text))
    assert found.code == "E1101"
    assert found.span is not None and found.span.text == at
    assert found.help is None if help is None else help in (found.help or "")


@pytest.mark.parametrize(
    ("text", "at", "help"),
    [
        ("fn f(x: Optional[f32]) -> f32 { return x }", "[", "written `f32?`"),
        ("fn f(x: Optional[Tensor[N; f32]]) -> f32 { return x }", "[", "written `Tensor[N; f32]?`"),
        ("fn f(x: List[f32]) -> f32 { return x }", "[", "written `Tensor[N; f32]`"),
        ("fn f(x: f32[N]) -> f32 { return x }", "[", "written `Tensor[N; f32]`"),
        ("fn f(x: f32) -> Tuple[f32, i32] { return x }", "[", "written `(f32, i32)`"),
        ("fn f(x: Tensor[?; f32]) -> f32 { return x }", "?", "as a generic: `<N: Dim>`"),
        ("fn f(x: Tensor[B, ?; f32]) -> f32 { return x }", "?", "as a generic: `<N: Dim>`"),
        ("block B { fn __init__(h: i32) { w = 0 } }", "{", "declared, and not built"),
        ("block B { def __init__(self, h): self.w = h }", "def", "declared, and not built"),
    ],
)
def test_what_python_declares(text: str, at: str, help: str) -> None:
    found = only(f"module m\n{text}")
    assert found.code == "E1101"
    assert found.span is not None and found.span.text == at
    assert help in (found.help or "")
