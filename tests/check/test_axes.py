"""Axes that do not fit: where each mistake is reported, in which words, with which way out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.render import render_text


@pytest.fixture
def said(tmp_path: Path, request: pytest.FixtureRequest) -> list[str]:
    """What the program that the test gives as its parameter gets, a text for each finding."""
    file = tmp_path / "m.linnet"
    file.write_text("module m\n\n" + request.param, "utf-8")
    return [render_text(d) for d in check_paths([file]).sink]


def program(text: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("said", [text], indirect=True, ids=[""])


# --- an axis has one name ----------------------------------------------------


@program("""\
pub fn f(w: Tensor[3, 2; f32], x: Tensor[2; f32]) -> Tensor[3; f32] {
    let y[rows] = sum[inner] w[rows, inner] * x[iner]
    return y
}
""")
def test_a_misspelt_axis(said: list[str]) -> None:
    (text,) = said
    assert text.startswith("error[E3101]: the index `iner` is neither")
    assert "m.linnet:4:49" in text
    assert "did you mean `inner`?" in text


@program("""\
pub fn f(w: Tensor[3, 2; f32], x: Tensor[2; f32]) -> Tensor[3; f32] {
    let y[rows] = w[rows, inner] * x[inner]
    return y
}
""")
def test_a_contraction_is_written_out(said: list[str]) -> None:
    (text,) = said
    assert text.startswith("error[E3101]: the index `inner` is neither")
    assert "sum over it: `sum[inner] ...`" in text


SWAPPED = """\
fn f<Batch: Dim, Other: Dim>(x: Tensor[Batch; f32], y: Tensor[Other; f32]) -> Tensor[Batch; f32] {
    return x
}

pub fn g<Batch: Dim, Other: Dim>(x: Tensor[Batch; f32], y: Tensor[Other; f32]) -> Tensor[Batch; f32]
where
    Batch == 4,
    Other == 4
{
    return f(y, x)
}

pub fn h<Batch: Dim, Other: Dim>(x: Tensor[Batch; f32], y: Tensor[Other; f32]) -> Tensor[Batch; f32]
{
    return f(y, x)
}
"""


@program(SWAPPED)
def test_axes_are_equal_only_where_that_is_stated(said: list[str]) -> None:
    (text,) = said
    assert text.startswith("error[E2202]: the returned value is `Tensor[Other; f32]`")
    assert "m.linnet:17:12" in text
    assert "`Other == Batch` is not provable" in text
    assert "it is false when Batch = 1, Other = 2" in text


# --- division ----------------------------------------------------------------

HALVES = """\
pub fn halves<W: Dim>(x: Tensor[W; f32]) -> Tensor[W / 2, 2; f32]{where} {{
    return reshape(x, [W / 2, 2])
}}
"""


@program(HALVES.format(where=""))
def test_divisibility_that_nobody_states(said: list[str]) -> None:
    (text,) = said
    assert text.startswith("error[E2203]: ")
    assert "m.linnet:4:23" in text
    assert "is false when W = 1" in text
    assert "if it always holds, state it: `where W % 2 == 0`" in text


@program(HALVES.format(where="\nwhere W == 2 * (W / 2)"))
def test_the_way_out_is_one(said: list[str]) -> None:
    assert said == []


CALLS = """
pub fn fits(x: Tensor[174; f32]) -> Tensor[87, 2; f32] {
    return halves(x)
}

pub fn odd(x: Tensor[173; f32]) -> Tensor[86, 2; f32] {
    return halves(x)
}

pub fn open<V: Dim>(x: Tensor[V; f32]) -> Tensor[V / 2, 2; f32] {
    return halves(x)
}
"""


@program(HALVES.format(where="\nwhere W % 2 == 0") + CALLS)
def test_divisibility_at_a_call(said: list[str]) -> None:
    odd, open_ = said
    message = "error[E2206]: `W % 2 == 0` is required here for W = 173: `1 == 0` is not provable"
    assert odd.startswith(message)
    assert "m.linnet:13:12" in odd
    assert open_.startswith("error[E2206]: `W % 2 == 0` is required here: `V % 2 == 0` is not")
    assert "m.linnet:17:12" in open_
    assert "state it: `where V % 2 == 0`" in open_


# --- broadcasting ------------------------------------------------------------


@program("""\
pub fn grid<N: Dim>(a: Tensor[N; f32], b: Tensor[N, 1; f32]) -> Tensor[N, N; f32] {
    return a + b
}
""")
def test_a_literal_one_broadcasts(said: list[str]) -> None:
    assert said == []


RESULT = "pub fn f<N: Dim>(a: Tensor[N; f32], b: Tensor[N, 1; f32]) -> Tensor[N; f32] {\n"


@pytest.mark.parametrize(
    "said",
    [
        RESULT + "    return a + b\n}\n",
        RESULT + "    let c: Tensor[N; f32] = a + b\n    return c\n}\n",
        "fn g<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] {\n    return x\n}\n"
        + RESULT
        + "    return g<N>(a + b)\n}\n",
    ],
    indirect=True,
    ids=["result", "annotation", "argument"],
)
def test_a_vector_is_asked_for_and_a_grid_comes_out(said: list[str]) -> None:
    (text,) = said
    assert re.match(r"error\[E2202\]: .* is `Tensor\[N, N; f32\]`, `Tensor\[N; f32\]` is", text)
    assert "- this is `Tensor[N; f32]`\n" in text
    assert "- this is `Tensor[N, 1; f32]`\n" in text


@pytest.mark.parametrize(
    ("said", "way_out"),
    [
        (
            "pub fn f<N: Dim, M: Dim>(a: Tensor[N; f32], b: Tensor[M; f32]) -> Tensor[N; f32] {\n"
            "    return a + b\n}\n",
            "`where (N == M|M == N)`",
        ),
        (
            "pub fn f<N: Dim, M: Dim>(\n    a: Tensor[N; f32], b: Tensor[N, M; f32]\n"
            ") -> Tensor[N, N; f32] {\n    return a + b\n}\n",
            re.escape("`reshape(a, [N, 1])`"),
        ),
    ],
    indirect=["said"],
    ids=["two lengths", "no literal"],
)
def test_an_axis_that_might_be_one_does_not_broadcast(said: list[str], way_out: str) -> None:
    (text,) = said
    assert text.startswith("error[E2207]: ")
    assert re.search(r"`(N == M|M == N)` is not provable", text)
    assert re.search(way_out, text)


# --- dimensions that are computed --------------------------------------------

SHORTER = """\
fn f<N: Dim>(x: Tensor[N; f32], y: Tensor[N - 1; f32]) -> Tensor[N - 1; f32]
where N >= 1 {
    return y
}
"""


def called(x: int, y: int, result: int) -> str:
    return SHORTER + (
        f"pub fn g(x: Tensor[{x}; f32], y: Tensor[{y}; f32]) -> Tensor[{result}; f32] {{\n"
        "    return f(x, y)\n}\n"
    )


FIVE = """\
pub fn g<N: Dim>(x: Tensor[N; f32], y: Tensor[4; f32]) -> Tensor[4; f32]
where N == 5 {
    return f(x, y)
}

pub fn h<N: Dim>(x: Tensor[N - 1; f32]) -> Tensor[4; f32]
where N == 5 {
    return x
}
"""


@pytest.mark.parametrize(
    "said",
    [called(5, 4, 4), called(1, 0, 0), SHORTER + FIVE],
    indirect=True,
    ids=["5", "1", "an equation gives the condition"],
)
def test_one_less(said: list[str]) -> None:
    assert said == []


@program(called(5, 5, 4))
def test_not_one_less(said: list[str]) -> None:
    (text,) = said
    assert text.startswith("error[E2202]: the argument `y` is `Tensor[5; f32]`, `Tensor[4; f32]`")
    assert "`5 == 4` can never hold" in text


@program(called(0, 4, 4))
def test_nothing_is_less_than_zero(said: list[str]) -> None:
    (text,) = said
    assert text.startswith("error[E2206]: `N >= 1` is required here for N = 0")


CEIL = """\
fn blocks<D: Dim>(x: Tensor[D; f32]) -> Tensor[(D + 31) / 32; f32] {{
    return fill<f32>([(D + 31) / 32], 0.0)
}}

pub fn g(x: Tensor[{d}; f32]) -> Tensor[{n}; f32] {{
    return blocks(x)
}}
"""


@pytest.mark.parametrize(
    ("said", "good"),
    [
        (CEIL.format(d=d, n=n), good)
        for d, n, good in [
            (64, 2, True), (65, 3, True), (33, 2, True), (0, 0, True),
            (64, 3, False), (65, 2, False), (33, 1, False), (0, 1, False),
        ]
    ],
    indirect=["said"],
    ids=["64", "65", "33", "0", "not 64", "not 65", "not 33", "not 0"],
)  # fmt: skip
def test_rounded_up_division(said: list[str], good: bool) -> None:
    assert [text[:12] for text in said] == ([] if good else ["error[E2202]"])
