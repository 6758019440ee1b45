"""What the language demands of dimensions and their proofs, a test for each demand.

The demands are those of the section "Dimensions, constraints, proof" of the language's design,
in its order. Soundness, the first of them, has `test_prover_soundness.py` to itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.dims.evaluate import evaluate
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic

from .reading import Scope, answer


def proves(facts: str, *goals: str) -> bool:
    return all(answer(facts, goal).proven for goal in goals)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("A", 11),
        ("A + B", 14),
        ("A - B", 8),
        ("A * B", 33),
        ("A / B", 3),
        ("A % B", 2),
        ("min(A, B)", 3),
        ("max(A, B)", 11),
        ("(B - A) / 3", -3),
        ("(B - A) % 3", 1),
    ],
)
def test_a_dimension_is_a_literal_symbol_sum_difference_product_floor_division_or_extreme(
    text: str, value: int
) -> None:
    scope = Scope()
    dim = scope.dim(text)
    numbers = {"A": 11, "B": 3}
    assert evaluate(dim, {s: numbers[name] for name, s in scope.symbols.items()}) == value


@pytest.mark.parametrize("op", ["==", "!=", "<", "<=", ">", ">="])
def test_where_lists_relations_of_six_kinds(op: str) -> None:
    assert not proves("", f"A {op} B")
    assert proves(f"A {op} B", f"A {op} B", f"A + C {op} B + C")


def test_polynomial_identities() -> None:
    assert proves("", "B * S * (N * D) == B * S * N * D", "(A + B) * N == A * N + B * N")


def test_any_order_of_factors() -> None:
    assert proves("", "B * S * N * D == D * N * S * B", "N * (D * B) - B * N * D == 0")


def test_literals_are_folded() -> None:
    assert proves(
        "", "2 * 3 * H == 6 * H", "H + 2 + 3 == H + 5", "4 * H / 2 == 2 * H", "7 / 2 == 3"
    )


def test_exact_division() -> None:
    assert proves("H % N == 0, N > 0", "N * (H / N) == H", "H / N * N == H")
    assert proves("D % 2 == 0", "2 * (D / 2) == D")


def test_sums_of_exact_quotients() -> None:
    assert proves("D % 2 == 0", "D / 2 + D / 2 == D")
    assert proves("D % 4 == 0", "D / 4 + D / 4 + D / 2 == D", "D - D / 4 == 3 * (D / 4)")


def test_inexact_division_is_not_taken_for_exact() -> None:
    assert not proves("N > 0", "N * (H / N) == H")
    assert not proves("", "D / 2 + D / 2 == D")


def test_stated_equalities_are_read_in_both_directions() -> None:
    assert proves("H == Blocks * 32", "Blocks * 32 == H", "H / 32 == Blocks", "H % 32 == 0")
    assert proves("Blocks * 32 == H", "H == Blocks * 32", "H / 32 == Blocks", "H % 32 == 0")


def test_stated_equalities_are_used_inside_larger_expressions() -> None:
    assert proves(
        "H == Blocks * 32", "2 * H / 32 == 2 * Blocks", "B * (H + S) == 32 * B * Blocks + B * S"
    )
    assert proves("A * B == C", "2 * A * B * D == 2 * D * C", "A * B / 4 == C / 4")


def test_every_dim_is_at_least_zero() -> None:
    assert proves("", "S >= 0", "S + 1 > 0", "S != 0 - 1")
    assert not proves("", "S > 0")


def test_a_positive_dim_less_one_is_within_it() -> None:
    assert proves("S > 0", "0 <= S - 1", "S - 1 < S")


def test_a_sum_is_at_least_its_parts() -> None:
    assert proves("", "P <= P + B", "B <= P + B", "P < P + B + 1")


def test_products_and_sums_of_naturals_are_natural() -> None:
    assert proves("", "A * B * C + D >= 0", "A * (B + C * D) >= 0", "A * B + 1 > 0")


def test_bounds_of_minimum_and_maximum() -> None:
    assert proves("", "min(A, B) <= A", "min(A, B) <= B", "max(A, B) >= A", "max(A, B) >= B")
    assert proves("C <= A, C <= B", "C <= min(A, B)")
    assert proves("A <= C, B <= C", "max(A, B) <= C")


def test_transitivity_through_the_stated_inequalities() -> None:
    assert proves("A <= B, B <= C, C <= D", "A <= D")
    assert proves("A < B, B <= C, C == D", "A < D", "A + 1 <= D")


def program(folder: Path, where: str, body: str, result: str = "f32") -> list[Diagnostic]:
    """What is found of a function of two tensors, `x` of `N` and `y` of `M` elements."""
    path = folder / "m.linnet"
    path.write_text(
        f"""
module m

fn first<A: Dim>(x: Tensor[A; f32]) -> f32 where A > 0 {{ return x[0] }}

pub fn f<N: Dim, M: Dim>(x: Tensor[N; f32], y: Tensor[M; f32]) -> {result}
{where}
{{
    {body}
}}
""",
        "utf-8",
    )
    return list(check_paths([path]).sink)


def test_a_divisor_is_positive(tmp_path: Path) -> None:
    body = "return reshape(x, [N / M, M])"
    (found,) = program(tmp_path, "", body, "Tensor[N / M, M; f32]")
    assert found.code == "E2205"
    assert not program(tmp_path, "where M > 0, N % M == 0", body, "Tensor[N / M, M; f32]")


def test_a_slice_bound_is_within_its_axis(tmp_path: Path) -> None:
    (found,) = program(tmp_path, "", "return x[:M]", "Tensor[M; f32]")
    assert found.code == "E2209"
    assert not program(tmp_path, "where M <= N", "return x[:M]", "Tensor[M; f32]")
    assert not program(tmp_path, "", "return x[:N]", "Tensor[N; f32]")


def test_relations_are_assumptions_inside_and_obligations_at_a_call(tmp_path: Path) -> None:
    (found,) = program(tmp_path, "", "return first(x)")
    assert found.code == "E2206"
    assert not program(tmp_path, "where N > 1", "return first(x)")


def test_relations_are_obligations_at_a_sub(tmp_path: Path) -> None:
    path = tmp_path / "m.linnet"
    text = """
module m

block Inner<A: Dim> where A > 1 {
    param w: Tensor[A; f32]
    pub fn second() -> f32 { return w[1] }
}

pub block Outer<B: Dim> WHERE {
    sub inner: Inner<B>
    pub entry run() -> f32 { return inner.second() }
}
"""
    path.write_text(text.replace("WHERE", ""), "utf-8")
    assert [found.code for found in check_paths([path]).sink] == ["E2206"]
    path.write_text(text.replace("WHERE", "where B > 2"), "utf-8")
    assert not list(check_paths([path]).sink)


def test_an_unprovable_obligation_names_relation_assumptions_and_way_out(tmp_path: Path) -> None:
    (found,) = program(tmp_path, "where M > 3, N != 7", "return first(x)")
    said = "\n".join((found.message, *found.notes))
    assert "`N > 0` is not provable" in said
    assert "assumed here: N != 7" in said and "M > 3" not in said
    assert found.help == "if it always holds, state it: `where N > 0`"


def test_a_relation_that_is_false_says_so(tmp_path: Path) -> None:
    (found,) = program(tmp_path, "where N == 0", "return first(x)")
    assert "`N > 0` can never hold" in "\n".join((found.message, *found.notes))


def test_a_relation_that_may_be_false_has_a_cheap_counterexample(tmp_path: Path) -> None:
    (found,) = program(tmp_path, "", "return first(x)")
    assert "it is false when N = 0" in found.notes


@pytest.mark.parametrize(
    ("left", "right", "whole"),
    [
        ("A, B", "A, B", "A, B"),
        ("A, B", "B", "A, B"),
        ("A, 1", "A, B", "A, B"),
        ("1, B", "A, 1", "A, B"),
        ("A, B", "B, A", None),
        ("A, B", "A", None),
        ("A, 2", "A, 4", None),
    ],
)
def test_broadcasting_is_right_aligned_of_equal_pairs_or_a_literal_one(
    tmp_path: Path, left: str, right: str, whole: str | None
) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(
        f"""
module m

pub fn f<A: Dim, B: Dim>(x: Tensor[{left}; f32], y: Tensor[{right}; f32])
    -> Tensor[{whole or left}; f32]
{{
    return x + y
}}
""",
        "utf-8",
    )
    assert [found.code for found in check_paths([path]).sink] == ([] if whole else ["E2207"])


def test_a_pair_of_which_one_may_be_one_does_not_broadcast(tmp_path: Path) -> None:
    (found,) = program(tmp_path, "where M <= 1", "return x + y", "Tensor[N; f32]")
    assert found.code == "E2207"
    assert not program(tmp_path, "where M == N", "return x + y", "Tensor[N; f32]")
