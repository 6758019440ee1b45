"""What a first user meets: the code, the place and the way out of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths

GENERICS = "<N: Dim, D: Dim, K: Dim, B: Dim, C: Dim, H: Dim, W: Dim>"
IMAGE = "x: Tensor[B, C, H, W; f32]"
WHERE = "if it always holds, state it: `where "
LINEAR = "use std.nn.linear::{Linear}\nblock M<In: Dim, Out: Dim> {"
CALL = "fn run<B: Dim>(x: Tensor[B, In; f32]) -> Tensor[B, Out; f32] { return "

# Parameters and a statement, what gets the blame, and the help.
STATEMENTS = [
    # Axes in the wrong place: no `where` makes that right.
    (f"{IMAGE}, b: Tensor[C; f32]", "let _y = x + b", "E2207", "+", "`reshape(b, [1, C, 1, 1])`"),
    (
        f"{IMAGE}, b: Tensor[C; f32]",
        "let _y = max(b, x)",
        "E2207",
        "max(b, x)",
        "(b, [1, C, 1, 1])",
    ),
    (f"{IMAGE}, b: Tensor[B, H; f32]", "let _y = x * b", "E2207", "*", "(b, [B, 1, H, 1])"),
    (
        "x: Tensor[N, D; f32], y: Tensor[D, N; f32]",
        "let _z = x + y",
        "E2207",
        "+",
        "the axes stand in another order: `permute(y, [1, 0])`",
    ),
    (
        "x: Tensor[N, D, H; f32]",
        "let _y: Tensor[H, N, D; f32] = x",
        "E2202",
        "x",
        "its axes stand in another order: `permute(x, [2, 0, 1])`",
    ),
    (
        "x: Tensor[N, D * H; f32]",
        "let _y: Tensor[N, D, H; f32] = x",
        "E2202",
        "x",
        "it has as many elements: `reshape(x, [N, D, H])`",
    ),
    (
        "x: Tensor[N, D; f32], w: Tensor[K, D; f32]",
        "let _y[n, k] = sum[d] x[n, d] * w[d, k]",
        "E2201",
        "d",
        "its axes stand in another order: `w[k, d]`",
    ),
    (
        "x: Tensor[N, D; f32], w: Tensor[N; f32]",
        "let _y: Tensor[D; f32] = w",
        "E2202",
        "w",
        "`N` and `D` are two sizes of `x`: is one in the other's place?",
    ),
    # Two sizes that nothing tells apart may be one.
    ("x: Tensor[N; f32], y: Tensor[D; f32]", "let _z = x + y", "E2207", "+", f"{WHERE}N == D`"),
    # What to state is the least from which it follows.
    (
        "x: Tensor[H; f32]",
        "let _y = reshape(x, [2, H / 2])",
        "E2203",
        "[2, H / 2]",
        "`where H % 2 == 0`",
    ),
    (
        "x: Tensor[N, H; f32]",
        "let _y = reshape(x, [N, 2, H / 2])",
        "E2203",
        "[N, 2, H / 2]",
        f"{WHERE}H % 2 == 0`",
    ),
    (
        "x: Tensor[H, W; f32]",
        "let _y = reshape(x, [H / 2, 2, W / 4, 4])",
        "E2203",
        "[H / 2, 2, W / 4, 4]",
        f"{WHERE}H % 2 == 0, W % 4 == 0`",
    ),
    (
        "x: Tensor[N, H; f32]",
        "let _y = reshape(x, [D, W, N])",
        "E2203",
        "[D, W, N]",
        f"{WHERE}D * W == H`",
    ),
    # Indices.
    (
        "x: Tensor[N, D, H; f32]",
        "let _y[n, d] = x[n, d, h]",
        "E3101",
        "h",
        "sum over it: `sum[h] ...`, or list it on the left",
    ),
    ("x: Tensor[N, D; f32]", "let _y = x[-1]", "E2204", "x[-1]", "`x[N - 1, ...]`"),
    ("x: Tensor[N; f32]", "let _y = x[None, :]", "E2209", "None", "`reshape(x, [1, N])`"),
    ("x: Tensor[N, D; f32]", "let _y = x[None, :]", "E2209", "None", "`reshape(x, [1, N, D])`"),
    ("x: Tensor[N; f32]", "let _y = x[:, none]", "E2209", "none", "`reshape(x, [N, 1])`"),
    ("x: Tensor[N; f32]", "let _y = x[:, np.newaxis]", "E2209", "np.newaxis", "(x, [N, 1])`"),
    ("x: Tensor[N; f32]", "let _y[i] = x[i, None]", "E2209", "None", "leave it out"),
    # The prelude, called as elsewhere.
    (
        "x: Tensor[4; f32]",
        "let _y = concat([x, x], axis = 0)",
        "E2101",
        "[x, x]",
        "write `concat(x, x, axis = 0)`",
    ),
    ("x: Tensor[4; f32]", "let _y = concat((x, x))", "E2101", "(x, x)", "`concat(x, x, axis = 0)`"),
    (
        "x: Tensor[N, D, H; f32]",
        "let _y = permute(x, 1, 0, 2)",
        "E2102",
        "0",
        "`permute(x, [1, 0, 2])`",
    ),
    (
        "x: Tensor[N, D; f32]",
        "let _y = reshape(x, N * D, 1)",
        "E2102",
        "1",
        "`reshape(x, [N * D, 1])`",
    ),
    # Integers and floats.
    ("n: i32", "let _y = 0.5 * n", "E2105", "0.5", "convert the other side: `cast<f32>(n)`"),
    ("n: i32", "let _y = n / 2.0", "E2105", "2.0", "write `2`, or convert the other side"),
    ("n: i32", "let _y = max(n, 0.5)", "E2105", "0.5", "`cast<f32>(n)`"),
    ("n: Tensor[N; i32]", "let _y = exp(n)", "E2104", "n", "it takes floats: `exp(cast<f32>(n))`"),
]


@pytest.mark.parametrize(
    ("params", "statement", "code", "at", "help"), STATEMENTS, ids=[s[1] for s in STATEMENTS]
)
def test_a_statement(
    tmp_path: Path, params: str, statement: str, code: str, at: str, help: str
) -> None:
    text = f"fn f{GENERICS}({params}) -> i32 {{\n    {statement}\n    return 0\n}}\n"
    check(tmp_path, text, code, at, help)


NEED = (
    "fn need<H: Dim, N: Dim>(x: Tensor[N, H; f32]) -> Tensor[N, H; f32]\n"
    "where N > 0, N >= 1, H % N == 0 { return x }\n"
)
ITEMS = [
    (
        f"{LINEAR} sub fc: Linear<In, Out> {CALL} fc.forward(x) }} }}",
        "E2103",
        "x",
        "`bf16` is the default of `Linear`: declare it as `Linear<In, Out, f32>`",
    ),
    (
        "use std.nn.conv\nblock M { sub c: [conv.Conv2d<3, 8, 3>; 2]\n"
        "fn run(x: Tensor[1, 3, 9, 9; f32]) -> i32 {\n"
        "static for b in c { let _y = b.forward(x) }\nreturn 0 } }",
        "E2103",
        "x",
        "declare it as `conv.Conv2d<3, 8, 3, 1, 0, f32>`",
    ),
    (
        f"{LINEAR} sub fc: Linear<In, Out, bf16> {CALL} fc.forward(x) }} }}",
        "E2103",
        "x",
        "convert it: `cast<bf16>(x)`",
    ),
    (
        "fn g<P: Dim, D: Dim, *S: Shape, T: Float>(x: Tensor[P, *S; f32]) -> Tensor[D; T] {\n"
        "return fill<T>([D], 0.0) }\n"
        "fn f<S: Dim>(x: Tensor[S, 2; f32]) -> i32 {\nlet _y = g(x)\nreturn 0 }",
        "E2110",
        "g(x)",
        "write the generic arguments: `g<S, ?, [2], ?>(...)`",
    ),
    # All that is missing, once: `B >= 1` says what `B > 0` does.
    (
        f"{NEED} fn f<A: Dim, B: Dim>(x: Tensor[B, A; f32]) -> Tensor[B, A; f32] {{\n"
        "return need(x) }",
        "E2206",
        "need(x)",
        f"{WHERE}B > 0, A % B == 0`",
    ),
]


@pytest.mark.parametrize(("text", "code", "at", "help"), ITEMS, ids=[i[3] for i in ITEMS])
def test_an_item(tmp_path: Path, text: str, code: str, at: str, help: str) -> None:
    check(tmp_path, text, code, at, help)


def check(folder: Path, text: str, code: str, at: str, help: str) -> None:
    path = folder / "m.linnet"
    path.write_text(f"module m\n{text}")
    (finding,) = [f for f in check_paths([path]).sink if f.severity == "error"]
    assert finding.code == code
    assert finding.span is not None and finding.span.text == at
    assert help in (finding.help or "")


def test_nothing_is_to_be_stated_that_only_no_element_makes_true(tmp_path: Path) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(
        "module m\nfn f<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] {\n"
        "    return concat(x, x, axis = 0)\n}\n"
    )
    (finding,) = check_paths([path]).sink
    assert finding.code == "E2202" and "where" not in (finding.help or "")


def test_a_relation_that_can_never_hold_leaves_nothing_to_state(tmp_path: Path) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(
        f"module m\n{NEED.replace('N >= 1', 'H == 3')}"
        "fn f<N: Dim>(x: Tensor[N, 2; f32]) -> Tensor[N, 2; f32] { return need(x) }"
    )
    (finding,) = check_paths([path]).sink
    assert finding.message.startswith("`N > 0` is required here")
    assert (finding.code, finding.help) == ("E2206", None)
