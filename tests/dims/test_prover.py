"""What the prover must refute and must leave open; test_goals.py has what it must prove."""

from __future__ import annotations

import pytest

from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Answer, Facts, Relation

from .reading import Scope, answer

REFUTED = [
    ("", "3 == 4"),
    ("", "S + 1 == S"),
    ("", "S < 0"),
    ("", "S + 1 <= 0"),
    ("", "2 * S == 2 * B + 1"),
    ("S > 0", "S == 0"),
    ("A < B, B < C", "C < A"),
    ("A < B", "A == B"),
    ("H == Blocks * 32", "H % 32 == 1"),
    ("H % 2 == 0", "H % 2 == 1"),
    ("N > 0", "X % N >= N"),
    ("N == 5", "N == 6"),
    ("Hq > 0, Hk > 0, Hq % Hk == 0", "Hq / Hk == 0"),
    ("W > 0", "min(S, W) > S"),
]

UNKNOWN = [
    ("", "S > 0"),
    ("", "S == B"),
    ("", "S - 1 >= 0"),
    ("", "2 * (S / 2) == S"),
    ("N > 0", "N * (H / N) == H"),
    ("H % N == 0, N > 0", "H > 0"),
    ("H % N == 0, N > 0", "N <= H"),
    ("D % 2 == 0", "D / 2 * 4 == D"),
    ("D % 2 == 0", "D % 4 == 0"),
    ("H == Blocks * 32", "H / 64 * 64 == H"),
    ("A < B, B <= C", "C <= A + 1"),
    ("A < B", "A + 1 == B"),
    ("A != B", "A < B"),
    ("A * B == C * D", "A == C"),
    ("Past + S <= Capacity", "Past < Capacity"),
    ("W > 0", "min(S, W) > 0"),
    ("W > 0", "T - W >= 0"),
    ("Stride > 0", "(H - Kernel) / Stride + 1 > 0"),
    ("Stride > 0, H >= Kernel", "(H - Kernel) / Stride * Stride + Kernel == H"),
    ("Heads % Kv == 0, Kv > 0", "Heads / Kv * D == Heads"),
    ("K % 2 == 1", "H + K - 1 == H"),
]


@pytest.mark.parametrize(("facts", "goal"), REFUTED)
def test_refuted(facts: str, goal: str) -> None:
    assert answer(facts, goal).verdict == "refuted"


@pytest.mark.parametrize(("facts", "goal"), UNKNOWN)
def test_unknown_comes_with_a_counterexample(facts: str, goal: str) -> None:
    scope = Scope()
    assumed, wanted = scope.facts(facts), scope.relation(goal)
    found = assumed.prove(wanted)
    assert found.verdict == "unknown"
    assert found.counterexample is not None
    assert all(fact.holds(found.counterexample) for fact in assumed.relations)
    assert not wanted.holds(found.counterexample)


@pytest.mark.parametrize(
    ("facts", "goal", "values"),
    [
        ("", "S > 0", {"S": 0}),
        ("", "S == B", {"B": 1, "S": 2}),
        ("H == Blocks * 32", "H / 64 * 64 == H", {"Blocks": 1, "H": 32}),
        ("D % 2 == 0", "D % 4 == 0", {"D": 2}),
        ("S > 0", "S == 0", {"S": 1}),
        ("", "3 == 4", {}),
    ],
)
def test_the_counterexample_is_small(facts: str, goal: str, values: dict[str, int]) -> None:
    found = answer(facts, goal).counterexample
    assert found is not None
    assert {s.name: value for s, value in found.items()} == values


def test_a_divisor_that_may_be_zero_stays_opaque() -> None:
    assert answer("", "S * N / N == S").verdict == "unknown"
    assert answer("", "N / N == 1").verdict == "unknown"
    assert answer("", "0 / N == 0").verdict == "unknown"
    # No numbers break it, but what division by zero would give is anybody's guess.
    assert answer("", "S / N <= S") == Answer("unknown")
    assert answer("N > 0", "N / N == 1").verdict == "proven"
    # Taken apart by its remainder, `C` makes the divisor a literal zero.
    assert answer("A > 0", "C / 2 == A / (C % 2)").verdict == "unknown"


def test_a_body_dimension_may_be_negative() -> None:
    assert answer("", "K - Q >= 0").verdict == "unknown"
    assert answer("", "min(K - Q, 0) <= 0").verdict == "proven"
    assert answer("", "(K - Q) / 2 >= 0").verdict == "unknown"
    assert answer("Q <= K", "(K - Q) / 2 >= 0").verdict == "proven"
    assert answer("", "(K - Q) % 2 >= 0").verdict == "proven"


def test_same_names_are_different_symbols() -> None:
    s, other = Dim.of(Symbol("S")), Dim.of(Symbol("S"))
    assert not Facts().equal(s, other)
    assert Facts([Relation("==", s, other)]).equal(s, other)


def test_adding_keeps_the_old_facts() -> None:
    scope = Scope()
    first = scope.facts("A < B")
    second = first.adding([scope.relation("B < C")])
    goal = scope.relation("A < C")
    assert first.prove(goal).verdict == "unknown"
    assert second.prove(goal).verdict == "proven"
    assert [str(r) for r in second.relations] == ["A < B", "B < C"]


def test_mentions() -> None:
    scope = Scope()
    facts = scope.facts("A < B, H % N == 0, N > 0")
    named = facts.mentions([scope.symbols["N"]])
    assert [str(r) for r in named] == ["H % N == 0", "N > 0"]
    assert facts.mentions([]) == ()


def test_normalize() -> None:
    scope = Scope()
    facts = scope.facts("H == Blocks * 32, N == 4")
    assert facts.normalize(scope.dim("2 * H / 32")) == scope.dim("2 * Blocks")
    assert facts.normalize(scope.dim("N * S + N")) == scope.dim("4 * S + 4")
    assert facts.normalize(scope.dim("S")) == scope.dim("S")


def test_equal() -> None:
    scope = Scope()
    facts = scope.facts("D % 2 == 0")
    assert facts.equal(scope.dim("D / 2 + D / 2"), scope.dim("D"))
    assert not facts.equal(scope.dim("D / 2"), scope.dim("D"))


def test_relations() -> None:
    scope = Scope()
    relation = scope.relation("H % N == 0")
    h, n = scope.symbols["H"], scope.symbols["N"]
    assert str(relation) == "H % N == 0"
    assert str(relation.negated()) == "H % N != 0"
    assert relation.negated().negated() == relation
    assert relation.holds({h: 6, n: 3})
    assert not relation.holds({h: 7, n: 3})
    assert str(relation.substitute({h: scope.dim("2 * K")})) == "2 * K % N == 0"
    assert [scope.relation(f"A {op} B").negated().op for op in ("<", "<=", ">", ">=", "!=")] == [
        ">=",
        ">",
        "<=",
        "<",
        "==",
    ]
