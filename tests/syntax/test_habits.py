"""What writers of other languages try: one finding, at the place, with the way it is said here."""

from __future__ import annotations

import pytest

from linnet.source.diagnostics import Diagnostic
from linnet.syntax.tokens import KEYWORDS, RESERVED
from tests.syntax.dump import parsed


def only(text: str) -> Diagnostic:
    found = parsed(text)[1]
    assert len(found) == 1, [(f.code, f.message) for f in found]
    return found[0]


def told(finding: Diagnostic, at: str, help: str) -> None:
    assert finding.span is not None and finding.span.text == at
    assert help in (finding.help or "nothing"), finding


@pytest.mark.parametrize(
    ("text", "at", "help"),
    [
        ("let y = x; return y", ";", "no semicolons"),
        ("let y = self.w return y", "self", "bare names"),
        ("for i in 0..4 { y = i } return y", "for", "static for"),
        ("for i in range(4):\n y = i\n return y", "for", "static for"),
        ("let mut y = 1 return y", "mut", "`var`"),
        ("let y := 3 return y", "=", "write `=`"),
        ("y: f32 = 3 return y", ":", "write `let y: ...`"),
        ("let y == 3 return y", "==", "write `=`"),
        ("while c = d { y = 1 } return y", "=", "`==` to compare"),
        ("let y = if c = d { 1 } else { 2 } return y", "=", "`==` to compare"),
        ("return a and b", "and", "&&"),
        ("return a or b", "or", "||"),
        ("return not c", "not", "`!`"),
        ("return ~a", "~", "`x ^ -1`"),
        ("return x ** 2", "**", "no power operator"),
        ("let y = x ** 0.5 return y", "**", "`sqrt`, `rsqrt`"),
        ("let y = where(c, a, b) return y", "where", "`select(c, a, b)`"),
        ("let y = x is not None return y", "is", "some(v) =>"),
        ("let y = x is none return y", "is", "some(v) =>"),
        ("k[:, 0:4] = x return k", ":", "no part of a tensor is assigned: give `k`"),
        ("k[i, :4] = x return k", ":", "no part of a tensor is assigned: give `k`"),
        ("k[0] = x return k", "0", "no part of a tensor is assigned: give `k`"),
        ("k[..., 0] = x return k", "...", "no part of a tensor is assigned: give `k`"),
        ("static for i, l in ls { } return 1", ",", "count in a `var`"),
        ("return x @ w", "@", "sum[k]"),
        ("return lambda a: a", ":", "no closures"),
        ("let f = |a| a return f", "|", "no closures"),
        ("let y = if c { 1 } elif d { 2 } else { 3 } return y", "elif", "else if"),
        ("if c { return 1 } else { return 2 }", "if", "is an expression"),
        ("let y = 1 if c else 2 return y", "if", "is an expression"),
        ("let y = c ? 1 : 2 return y", "?", "if c { a } else { b }"),
        ("match c { A => 1 } return 1", "match", "is an expression"),
        ("return", "}", "returns a value"),
        ("x + 1", "+", "no expression statements"),
        ("f(x) return 1", "(", "no expression statements"),
        ("x[i] return 1", "return", "no expression statements"),
        ("y += 1 return y", "+=", "write `y = y + 1`"),
        ("y++ return y", "+", "write `y = y + 1`"),
        ("let y = x as f32 return y", "as", "cast<f32>(x)"),
        ("let y = a === b return y", "=", "write `==`"),
        ("let y = a <> b return y", ">", "write `!=`"),
        ("let y = a << 2 return y", "<", "shl(x, n)"),
        ("let y = a >> 2 return y", ">", "shr(x, n)"),
        ("let y = &a return y", "&", "no references"),
        ("let y = a::b return y", "::", "by a dot"),
        ("let y = f::<f32>(x) return y", "::", "f<A>(x)"),
        ("let y = match o { Some(v) => v, None => 0 } return y", "Some", "`some`"),
        ("let y = match o { some(v): v, none: 0 } return y", ":", "pattern => value"),
        ("let y = match o { some(v) -> v none -> 0 } return y", "->", "pattern => value"),
        ("let y = match o { 1 => 1 2 => 3 } return y", "1", "an `if` compares"),
        ("let y = match o { true => 1 false => 0 } return y", "true", "an `if` compares"),
        ("let y = match o { P.A => 1 P.B => 2 } return y", ".", "by its name alone"),
        ("loop { } return 1", "{", "the loops are"),
        ("while c { break } return 1", "}", "no `break`"),
        ("while c: y = 1 return y", ":", "in braces"),
        ("let x, y = f(a) return x", ",", "let (a, b)"),
        ("let [a, b] = f(x) return a", "[", "let (a, b)"),
        ("const N = 3 return N", "const", "outside of functions"),
        ("static for i in 0..=4 { } return 1", "=", "leaves its end out"),
        ("static for (i, l) in ls { } return 1", "(", "one name"),
        ("static while c { } return 1", "while", "write `while`"),
        ("while KV { a: c }.a { x = 2 } return x", ":", "parenthesize the value"),
        ("return if x == KV { a: 1 } { 1 } else { 2 }", ":", "parenthesize the value"),
        ("return g<h<3>>(x)", ">", "generic arguments are"),
        ("let x: KV<Tensor[3; f32]> = y return x", "Tensor", "generic arguments are"),
        ("return state + 1", "state", "is a keyword"),
        ("let y = g(a, block = 1) return y", "block", "is a keyword"),
        ("state = 1 return y", "state", "is a keyword"),
        ("let y = if c { let a = 1 a } else { 2 } return y", "let", "one expression"),
        ("x.y = 2 return x", ".", "cannot be assigned"),
        ("x[i + 1] = 2 return x", "+", "are names"),
        ("let x[i, j + 1] = 2 return x", "+", "are names"),
        ("let y = sum[k + 1] x[k] return y", "+", "are names"),
        ("return 1..2", "..", "static for"),
        ("return .5", ".", "`0.5`"),
        ("return 1.", "1.", "`1.0`"),
        ("return 1.e5", "1.e5", "`1.0e5`"),
        ("return 2.0f32", "2.0f32", "cast<f32>(2.0)"),
        ("return 1_i64", "1_i64", "cast<i64>(1)"),
        ("return 3 × 4", "×", "write `*`"),
        ("return 3 − 4", "−", "write `-`"),
        ("return f(“a”)", "“a”", "double quotes"),
        ("return `a`", "`a`", "without quotes"),
        ("y -= a return y", "-=", "write `y = y - a`"),
        ("y *= a + b return y", "*=", "write `y = y * (a + b)`"),
        ("y /= -a let b = y return b", "/=", "write `y = y / (-a)`"),
        ("y *= if c { a } else { b } return y", "*=", "* (if c { a } else { b })`"),
        ("y[i] += a[i] return y", "+=", "write `y[i] = y[i] + a[i]`"),
        ("x.y += 2 return x", ".", "cannot be assigned"),
        ("var a, b = g() return a", ",", "`let (a, b) = ...`"),
        ("var (a, b) = g() return a", "(", "`let (a, b) = ...`"),
        ("a, b = g() return a", ",", "`let (a, b) = ...`"),
        ("(a, b) = g() return a", "(", "`let (a, b) = ...`"),
        ("a, b", ",", "no expression statements"),
        ("(a + b)", "(", "no expression statements"),
        ("return match o { some(v) => { v } none => 0 }", "{", "before the `match`"),
        ("lett y = 1 return y", "lett", "`let`"),
        ("vra y = 1 return y", "vra", "`var`"),
        ("let y = 1 retrun y", "retrun", "`return`"),
        ("let y = 1 returnx y", "returnx", "`return`"),
        ("let y = 1 returny", "returny", "`return y`"),
        ("whlie c { y = 1 } return y", "whlie", "`while`"),
        ("statc for i in 0..3 { } return 1", "statc", "`static`"),
        ("let y = iff c { 1 } else { 2 } return y", "iff", "`if`"),
        ("let y = iff c > 1 { 1 } else { 2 } return y", "iff", "`if`"),
        ("let y = if c { 1 } esle { 2 } return y", "esle", "`else`"),
        ("return mtach o { some(v) => v none => 0 }", "mtach", "`match`"),
        ("let mat = 1 return mat o", "o", "side by side"),
    ],
)  # fmt: skip
def test_in_a_function(text: str, at: str, help: str) -> None:
    told(only(f"module m fn f() -> i32 {{ {text} }}"), at, help)


@pytest.mark.parametrize(
    ("text", "at", "help"),
    [
        ("def f(x): return x", "def", "`fn`"),
        ("class B: pass", "class", "`block`"),
        ("from a import b", "from", "use a.b::{name}"),
        ("import a.b", "import", "use a.b::{name}"),
        ("use a::b::c", "b", "use a.b::{name}"),
        ("use a.b.{c}", "{", "use a.b::{name}"),
        ("use a.b::c", "c", "use a.b::{name}"),
        ("use a.b::{self}", "self", "`use a.b`"),
        ("use a.b.*", "*", "by name"),
        ("use a.b as c", "as", "can be renamed"),
        ("use a/b", "/", "`a.b`"),
        ("pub use a.b::{c}", "pub", "passed on"),
        ("pub(crate) fn f() -> i32 { return 1 }", "pub", "public or private"),
        ("let N = 3", "let", "`const`"),
        ("@jit\nfn f() -> i32 { return 1 }", "@", "no decorators"),
        ("#[inline]\nfn f() -> i32 { return 1 }", "#", "no attributes"),
        ("fn f(x: f32) { return x }", "{", "follows `->`"),
        ("fn f(x: f32): f32 { return x }", ":", "follows `->`"),
        ("fn f() where N > 0 -> i32 { return 1 }", "where", "follows `->`"),
        ("fn f(x: f32) -> () { return x }", ")", "returns a value"),
        ("fn f(x) -> f32 { return x }", ")", "`x: f32`"),
        ("fn f(f32 x) -> f32 { return x }", "x", "a colon"),
        ("fn f(self, x: f32) -> f32 { return x }", "self", "bare names"),
        ("fn f(mut x: f32) -> f32 { return x }", "mut", "`var`"),
        ("fn f<T>(x: T) -> T { return x }", ">", "has a kind"),
        ("fn f<A: Dim, T>(x: T) -> T { return x }", ">", "has a kind"),
        ("fn f<const N: Dim>() -> i32 { return 1 }", "const", "is a keyword"),
        ("fn f(x: f32[2]) -> f32 { return x }", "[", "`Tensor[N; f32]`"),
        ("fn f(x: Tensor[3, f32]) -> f32 { return x }", "]", "a semicolon"),
        ("fn f(x: Tensor[; f32]) -> f32 { return x }", ";", "dtype alone"),
        ("fn f(x: Tensor[*; f32]) -> f32 { return x }", ";", "name the pack"),
        ("fn f(x: &f32) -> f32 { return x }", "&", "no references"),
        ("fn f() -> i32 = 1", "=", "in braces"),
        ("fn f() -> i32 where N: Dim { return 1 }", ":", "`<N: Dim>`"),
        ("fn f() -> i32 where N = 3 { return 1 }", "=", "`==`"),
        ("struct S { pub x: i32 }", "pub", "no `pub` of their own"),
        ("struct S(i32)", "(", "`struct S { ... }`"),
        ("enum E { A(i32), B }", "(", "without values"),
        ("enum E { A = 1, B }", "=", "without values"),
        ("fnn f() -> i32 { return 1 }", "fnn", "`fn`"),
        ("pub fnn f() -> i32 { return 1 }", "fnn", "`fn`"),
        ("strct S { a: i32 }", "strct", "`struct`"),
        ("cosnt N = 1", "cosnt", "`const`"),
        ("block B { parm w: f32 }", "parm", "`param`"),
        ("block B { pub fnn f() -> i32 { return 1 } }", "fnn", "`fn`"),
        ("fn f(x: i32) -> i32 wher N > 0 { return 1 }", "wher", "`where`"),
        ("fn f(x: Tensr[N; f32]) -> f32 { return x }", "Tensr", "`Tensor`"),
        ("enum E [A, B]", "[", "`enum E { ... }`"),
        ("block B(Module) { }", "(", "`block B { ... }`"),
        ("block B { param w: f32, param b: f32 }", ",", "without a comma"),
        ("block B { pub param w: f32 }", "pub", "members have no `pub`"),
        ("block B { w: f32 }", "w", "`param`"),
        ("block B { sub l: Linear<In = 3, Out = 4> }", "=", "have no names"),
        ("*/", "*", "no `/*` is open"),
    ],
)
def test_outside_of_functions(text: str, at: str, help: str) -> None:
    told(only(f"module m\n{text}"), at, help)


NAMED = [
    "fn {} () -> i32 {{ return 1 }}", "fn f({}: i32) -> i32 {{ return 1 }}",
    "fn f<{}: Dim>() -> i32 {{ return 1 }}", "fn f() -> i32 {{ let {} = 1 return 1 }}",
    "fn f() -> i32 {{ let (a, {}) = g() return 1 }}", "struct S {{ {}: i32 }}",
    "fn f() -> i32 {{ static for {} in 0..3 {{ }} return 1 }}", "enum E {{ A, {} }}",
    "fn f() -> i32 {{ let y[{}] = x[0] return 1 }}", "fn f() -> i32 {{ return x.{} }}",
    "fn f() -> i32 {{ return S {{ {}: 1 }} }}", "enum {} {{ A }}", "struct {} {{ a: i32 }}",
    "block {} {{ param a: i32 }}", "block B {{ param {}: i32 }}", "const {} = 1",
    "block B {{ pub fn {}() -> i32 {{ return 1 }} }}", "type {} = i32",
    "fn f(x: {}) -> i32 {{ return 1 }}", "use a.b::{{c as {}}}", "use a.b::{{{}}}",
    "fn f() -> i32 {{ return match x {{ some({}) => 1 none => 2 }} }}",
]  # fmt: skip


@pytest.mark.parametrize("form", NAMED)
def test_a_word_of_the_language_as_a_name(form: str) -> None:
    """One finding for each keyword and reserved word, and nothing around it is lost."""
    # `random` stands behind a dot in `std.random`; what has no such part is reported later.
    words = KEYWORDS | RESERVED if ".{}" not in form else KEYWORDS | RESERVED - {"random"}
    for word in sorted(words):
        around = "module m\nfn first() -> i32 {{ return 1 }}\n{}\nconst after = 1\n"
        module, found = parsed(around.format(form.format(word)))
        assert module is not None and len(found) == 1, (word, [f.message for f in found])
        assert f"`{word}`" in found[0].message or word in "some match if"
        assert [i.name.text for i in module.items][:: len(module.items) - 1] == ["first", "after"]
