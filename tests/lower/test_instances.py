"""The parameters, entries and `where` clauses of a model under numbers; what numbers break."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.lower.instances import entries, obligations, parameters, signature, violations
from linnet.lower.module import lower_entry, lower_function
from linnet.source.errors import LinnetError
from tests.lower.lowering import Source, source

TEXT = """
block Norm<H: Dim, T: Float> { param weight: Tensor[H; T]
    pub fn go(x: Tensor[H; T]) -> Tensor[H; T] { return x * weight } }
block Layer<H: Dim, Half: Dim, T: Float>
where H == 2 * Half, Half > 0 {
    param first: Tensor[Half, H; T]
    sub norm: Norm<H, T>
    param bias: Tensor[Half; f32]? = none
    state cache: Tensor[H; i32]
    pub fn go(x: Tensor[H; T]) -> Tensor[H; T] { return norm.go(x) }
}
block Model<H: Dim, Layers: Dim, T: Float = bf16>
where H % 2 == 0, H > 0 {
    sub layers: [Layer<H, H / 2, T>; Layers - 1]
    param scale: T
    sub extra: Norm<H / 2, f32>? = none
    pub entry go<S: Dim>(x: Tensor[S, H; T], at: i32) -> (Tensor[H; T], Tensor[S, H / 2; T]?)
    where S > 0 {
        var y = x[0, :]
        static for layer in layers { y = layer.go(y) }
        return (y, none)
    }
    fn hidden() -> i32 { return 3 }
    pub entry other() -> i32 { return hidden() }
}
fn halves<A: Dim, B: Dim, T: Float>(x: Tensor[A; T], y: Tensor[B; T]) -> Tensor[A / B; T]
where B > 0 { return fill<T>([A / B], 0.0) }
fn less<A: Dim, B: Dim>(x: Tensor[A; f32], y: Tensor[B; f32]) -> Tensor[A - B; f32]
where A >= B { return fill<f32>([A - B], 0.0) }
fn small<N: Dim>() -> i8 { return N }
fn share<N: Dim, G: Dim, D: Dim = N / G>() -> i64 where G > 0 { return D }
fn before<N: Dim, D: Dim = N - 1>() -> i64 { return D }
"""


@pytest.fixture
def made(tmp_path: Path) -> Source:
    return source(tmp_path, TEXT)


def code(error: pytest.ExceptionInfo[LinnetError]) -> str:
    (finding,) = error.value.diagnostics
    return finding.code


def test_parameters_in_order_of_declaration(made: Source) -> None:
    found = parameters(made.program, "m::Model", {"H": 6, "Layers": 3})
    rows = [(i.path, i.kind, i.shape, i.dtype, i.optional, i.holder) for i in found]
    layers = [
        (f"layers.{k}.{name}", kind, shape, dtype, name == "bias", None)
        for k in range(2)
        for name, kind, shape, dtype in (
            ("first", "param", (3, 6), "bf16"),
            ("norm.weight", "param", (6,), "bf16"),
            ("bias", "param", (3,), "f32"),
            ("cache", "state", (6,), "i32"),
        )
    ]
    assert rows == [
        *layers,
        ("scale", "param", (), "bf16", False, None),
        ("extra.weight", "param", (3,), "f32", False, "extra"),
    ]
    assert found[0].span.text == "first"


def test_entries_and_signatures(made: Source) -> None:
    program = made.program
    assert entries(program, "m::Model") == ["go", "other"]
    assert signature(program, "m::Model", {"H": 6, "Layers": 3}, "go") == (
        "go<S>(x: Tensor[S, 6; bf16], at: i32) -> (Tensor[6; bf16], Tensor[S, 3; bf16]?)"
    )
    assert signature(program, "m::Model", {"T": "f32"}, "go") == (
        "go<S>(x: Tensor[S, H; f32], at: i32) -> (Tensor[H; f32], Tensor[S, H / 2; f32]?)"
    )
    assert signature(program, "m::Model", {}, "other") == "other() -> i32"


def test_where_clauses_under_numbers(made: Source) -> None:
    program = made.program
    assert violations(program, "m::Model", {"H": 6, "Layers": 3}) == []
    found = violations(program, "m::Model", {"H": 7, "Layers": 3})
    assert [(v.path, v.block, str(v.relation), v.values) for v in found] == [
        ("", "m::Model", "H % 2 == 0", "H = 7")
    ]
    found = violations(program, "m::Layer", {"H": 5, "Half": 2, "T": "f32"})
    assert [(str(v.relation), v.values) for v in found] == [("H == 2 * Half", "H = 5, Half = 2")]


def test_an_array_is_checked_once(tmp_path: Path) -> None:
    text = """
block Odd<N: Dim> where N % 2 == 1 { param w: Tensor[N; f32] }
block Pair<N: Dim> where N % 2 == 1 { sub odd: Odd<N> }
block Many<N: Dim> where N % 2 == 1 { sub pairs: [Pair<N>; 3]  sub odd: Odd<N> }
"""
    program = source(tmp_path, text).program
    program.blocks["m::Many"].facts = ()  # as if the checker had not asked for it
    found = violations(program, "m::Many", {"N": 4})
    assert [v.path for v in found] == ["pairs.0", "pairs.0.odd", "odd"]


def test_obligations_of_a_call(made: Source) -> None:
    numbers = {"H": 6, "Layers": 3}
    module = lower_entry(made.program, "m::Model", numbers, "go", lambda _: False)
    (relation,) = obligations(made.program, "m::Model", numbers, "go")
    assert str(relation) == "S > 0"
    assert [relation.holds({module.symbols[0]: n}) for n in (0, 1)] == [False, True]
    assert obligations(made.program, "m::Model", numbers, "other") == ()


@pytest.mark.parametrize(
    ("generics", "expected"),
    [
        ({"H": 6}, "E2111"),  # no number of layers
        ({"H": 6, "Layers": 3, "Depth": 1}, "E2111"),  # no such generic
        ({"H": -6, "Layers": 3}, "E2111"),
        ({"H": "f32", "Layers": 3}, "E2111"),
        ({"H": True, "Layers": 3}, "E2111"),
        ({"H": 6, "Layers": 3, "T": "f99"}, "E2111"),
        ({"H": 6, "Layers": 3, "T": 4}, "E2111"),
        ({"H": 6, "Layers": 3, "T": "i32"}, "E2112"),
        ({"H": 6, "Layers": 0}, "E2208"),  # -1 layers
    ],
)
def test_numbers_that_do_not_fit(made: Source, generics: dict[str, int], expected: str) -> None:
    with pytest.raises(LinnetError) as caught:
        parameters(made.program, "m::Model", generics)
    assert code(caught) == expected


def test_lowering_refuses_the_same_numbers(made: Source) -> None:
    for generics, expected in (
        ({"Layers": 0}, "E2208"),
        ({"Depth": 1}, "E2111"),
        ({"T": "bool"}, "E2112"),
    ):
        with pytest.raises(LinnetError) as caught:
            lower_entry(made.program, "m::Model", generics, "go", lambda _: True)
        assert code(caught) == expected
    with pytest.raises(LinnetError) as caught:
        lower_entry(made.program, "m::Model", {}, "hidden", lambda _: True)
    assert code(caught) == "E2107"
    assert caught.value.diagnostics[0].notes == ("it has go, other",)


@pytest.mark.parametrize(
    ("function", "generics", "expected"),
    [
        ("halves", {"A": 4, "B": 0, "T": "f32"}, "E2205"),
        ("less", {"A": 2, "B": 3}, "E2208"),
        ("small", {"N": 128}, "E2105"),
        ("share", {"N": 4, "G": 0}, "E2205"),
        ("before", {"N": 0}, "E2208"),
    ],
)
def test_dimensions_that_turn_out_wrong(
    made: Source, function: str, generics: dict[str, int], expected: str
) -> None:
    with pytest.raises(LinnetError) as caught:
        lower_function(made.program, f"m::{function}", generics)
    assert code(caught) == expected
    assert caught.value.diagnostics[0].span is not None


def test_a_pack_must_be_given(tmp_path: Path) -> None:
    made = source(tmp_path, "fn f<*S: Shape>(x: Tensor[*S; f32]) -> Tensor[*S; f32] { return x }")
    with pytest.raises(LinnetError) as caught:
        lower_function(made.program, "m::f")
    assert code(caught) == "E2111"


def test_blocks_may_be_nested_deeper_than_the_stack(tmp_path: Path) -> None:
    count = 1200
    text = f"""
block B0 {{ param w: f32? = none
    pub fn go(x: f32) -> f32 {{ return match w {{ some(v) => x + v  none => x }} }} }}
block Model {{ sub b: B{count}
    pub entry go(x: f32) -> f32 {{ return b.go(x) }} }}
"""
    for k in range(count):
        text += (
            f"block B{k + 1} {{ sub s: B{k}\n    pub fn go(x: f32) -> f32 {{ return s.go(x) }} }}"
        )
        text += "\n"
    program = source(tmp_path, text).program
    (found,) = parameters(program, "m::Model", {})
    assert found.path == "b" + count * ".s" + ".w"
    assert violations(program, "m::Model", {}) == []
    module = lower_entry(program, "m::Model", {}, "go", {found.path}.__contains__)
    assert len(module.functions) == count + 2
    last = module.functions["m::B0.go"].body
    assert [op.name for op in last] == ["param", "add"]
