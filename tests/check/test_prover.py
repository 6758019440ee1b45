"""What the prover must prove, must refute, and must leave open."""

from __future__ import annotations

import re

import pytest

from linnet.check.dims import Dim, Symbol, dim_max, dim_min
from linnet.check.prover import Answer, Facts, Relation


class Scope:
    """Reads dimensions and relations; every capitalised word is a symbol."""

    def __init__(self) -> None:
        self.symbols: dict[str, Symbol] = {}

    def dim(self, text: str) -> Dim:
        names = re.findall(r"[A-Z]\w*", text)
        known = {name: Dim.of(self.symbols.setdefault(name, Symbol(name))) for name in names}
        functions = {"min": dim_min, "max": dim_max}
        return Dim.of(eval(text.replace("/", "//"), {**functions, **known}))

    def relation(self, text: str) -> Relation:
        found = re.fullmatch(r"(.+?) (==|!=|<=|>=|<|>) (.+)", text)
        assert found is not None
        op = found[2]
        assert op in ("==", "!=", "<=", ">=", "<", ">")
        return Relation(op, self.dim(found[1]), self.dim(found[3]))

    def facts(self, text: str) -> Facts:
        return Facts(self.relation(part) for part in text.split(", ") if part)


def answer(facts: str, goal: str) -> Answer:
    scope = Scope()
    return scope.facts(facts).prove(scope.relation(goal))


PROVEN = {
    "polynomials": (
        "",
        "B * S * (N * D) == N * D * S * B",
        "(B + S) * N == N * S + B * N",
        "2 * 3 * H == 6 * H",
        "(A + B) * (A - B) == A * A - B * B",
        "B * S * H - H * S * B == 0",
    ),
    "naturals": (
        "",
        "S >= 0",
        "P <= P + B",
        "B * S * H >= 0",
        "P * B <= P * B + S",
        "S + 1 > 0",
        "S + 1 != 0",
        "S / 4 >= 0",
        "S / 4 <= S",
        "min(S, B) <= S",
        "min(S, B) <= S + B",
        "max(S, B) >= B",
        "max(S, B) <= S + B",
        "min(S, B) + max(S, B) == S + B",
        "min(S, B) * 2 <= S + B",
        "2 * S != 2 * B + 1",
        "(S - 1) / 2 + 1 == (S + 1) / 2",
        "(S + 31) / 32 * 32 >= S",
        "(S + 31) / 32 * 32 < S + 32",
        "S / 4 / 8 == S / 32",
        "4 * S / 6 == 2 * S / 3",
        "S % 32 + S / 32 * 32 == S",
        "S % 32 < 32",
        "S % 32 % 32 == S % 32",
    ),
    "positive": ("S > 0", "0 <= S - 1", "S - 1 < S", "S >= 1", "S != 0", "S * S > 0", "S * S >= S"),
    "not zero": ("S != 0", "S > 0", "S >= 1", "2 * S != 0", "S * B / S == B"),
    "products": (
        "M > 0, N > 0",
        "(M - 1) * (N - 1) >= 0",
        "M * N > 0",
        "M * N >= M",
        "M * N >= M + N - 1",
        "M * N * K >= K",
        "M * M * N > 0",
        "M * H / (M * N) == H / N",
    ),
    "exact division": (
        "H % N == 0, N > 0",
        "N * (H / N) == H",
        "H / N * N == H",
        "B * (H / N) * N == H * B",
        "2 * H / N == 2 * (H / N)",
        "(H + N) / N == H / N + 1",
        "H / N <= H",
        "(H + N) % N == 0",
        "B * H % N == 0",
    ),
    "halves": (
        "D % 2 == 0",
        "2 * (D / 2) == D",
        "D / 2 + D / 2 == D",
        "D / 2 <= D",
        "(D + 1) / 2 == D / 2",
        "D - D / 2 == D / 2",
        "D * B % 2 == 0",
    ),
    "an odd size": ("K % 2 == 1", "2 * (K / 2) + 1 == K", "K > 0", "(K - 1) / 2 == K / 2"),
    "both directions": (
        "H == Blocks * 32",
        "2 * H / 32 == 2 * Blocks",
        "H / 32 == Blocks",
        "H % 32 == 0",
        "Blocks * 32 == H",
        "H / 2 == 16 * Blocks",
        "B * H == B * Blocks * 32",
        "(H + 31) / 32 == Blocks",
        "Blocks <= H",
    ),
    "a stated quotient": (
        "Blocks == H / 32, H % 32 == 0",
        "Blocks * 32 == H",
        "H / 2 == Blocks * 16",
    ),
    "a divisor that is a product": (
        "H % (N * 32) == 0, N > 0",
        "H / (N * 32) * N * 32 == H",
        "H % 32 == 0",
        "H % N == 0",
        "H / 32 % N == 0",
        "H / N / 32 == H / (N * 32)",
    ),
    "a dividend that is a product": (
        "Heads * D % Shards == 0, Shards > 0",
        "Heads * D / Shards * Shards == Heads * D",
        "2 * D * Heads / Shards == 2 * (Heads * D / Shards)",
    ),
    "a dividend that is a sum": (
        "(A + B) % N == 0, N > 0",
        "(A + B) / N * N == A + B",
        "N * ((B + A) / N) - A == B",
        "(A + B + N) / N == (A + B) / N + 1",
    ),
    "two divisors": ("H % 4 == 0, H % 6 == 0", "H % 12 == 0", "H / 4 * 4 == H / 6 * 6"),
    "a symbolic and a literal divisor": (
        "H % N == 0, N > 0, H % 32 == 0",
        "H / N * N == H",
        "H / 32 * 32 == H",
        "3 * H / N == 3 * (H / N)",
    ),
    "a chain of divisors": (
        "H % N == 0, N % G == 0, G > 0, N > 0",
        "H / N * (N / G) == H / G",
        "H % G == 0",
        "H / G / (N / G) == H / N",
    ),
    "quotients and remainders": (
        "N > 0",
        "0 <= X % N",
        "X % N < N",
        "N * (X / N) <= X",
        "X < N * (X / N) + N",
        "X / N <= X",
        "X / N * N + X % N == X",
        "(X + N - 1) / N * N >= X",
        "(N * X + N - 1) / N == X",
        "X % N / N == 0",
        "0 / N == 0",
        "X / N <= (X + 1) / N",
    ),
    "monotone quotients": ("N > 0, X <= Y", "X / N <= Y / N", "X / 3 <= Y / 3"),
    "a small dividend": ("X < N", "X / N == 0", "X % N == X"),
    "order": (
        "A < B, B <= C, C < D",
        "A < C",
        "A + 2 <= D",
        "A != D",
        "A * 2 < B + C",
        "D > 0",
        "D - A >= 2",
    ),
    "antisymmetry": ("A <= B, B <= A", "A == B", "A * H == H * B"),
    "one value": ("N == 5", "N >= 1", "N - 1 == 4", "(N + 3) / 2 == 4", "N * H == 5 * H"),
    "lower bound": ("D >= 4, D % 2 == 0", "D / 2 >= 2", "D / 2 > 0", "D - 2 > 0"),
    "equal symbols": ("A == B, B == C", "A == C", "A * H / 2 == C * H / 2", "min(A, B) == C"),
    "a difference": ("K - Q >= 0, P == K - Q", "P + Q == K", "Q <= K", "K - P == Q"),
    "contradiction": ("S > 3, S < 3", "S == 17", "S < 0"),
    "a false fact": ("1 == 2", "S == 17"),
    "clamps": (
        "W > 0, S > 0",
        "min(S, W) > 0",
        "max(S - W, 0) <= S",
        "S - max(S - W, 0) == min(S, W)",
        "min(S, W) * B <= S * B",
        "max(0, S - W) + W >= S",
    ),
    # From here on, goals as programs pose them.
    "grouped heads": (
        "Hq > 0, Hk > 0, Hq % Hk == 0",
        "Hq / Hk > 0",
        "Hk * (Hq / Hk) * D == Hq * D",
        "B * S * Hk * (Hq / Hk) * D == B * S * (Hq * D)",
        "Hk <= Hq",
        "Hq / Hk <= Hq",
    ),
    "query, key, value in one": (
        "Qkv == (Heads + 2 * Kv) * D, Heads % Kv == 0, Kv > 0",
        "Heads * D <= Qkv",
        "(Heads + Kv) * D <= Qkv",
        "Qkv - (Heads + Kv) * D == Kv * D",
        "Heads * D + Kv * D + Kv * D == Qkv",
        "Kv * (Heads / Kv) * D == Heads * D",
    ),
    "rotary halves": ("R % 2 == 0, R <= D", "R / 2 + R / 2 == R", "R / 2 <= D", "D - R >= 0"),
    "packed nibbles": (
        "In % 2 == 0",
        "In / 2 * 2 == In",
        "Out * (In / 2) * 2 == Out * In",
        "Experts * Out * (In / 2) * 2 == Experts * Out * In",
    ),
    "block quantisation": (
        "In == Blocks * 32",
        "Blocks * 16 * 2 == In",
        "Out * Blocks * 32 == Out * In",
        "In / 2 == Blocks * 16",
        "In / 32 * 16 * 2 == In",
        "(In + 31) / 32 == Blocks",
    ),
    "blocks of any size": (
        "Block > 0, In % Block == 0",
        "In / Block * Block == In",
        "(In + Block - 1) / Block == In / Block",
        "Out * (In / Block) * Block == In * Out",
    ),
    "a whole pack": (
        "Prod > 0, In % 32 == 0",
        "Prod * In == In * Prod",
        "Prod * (In / 32) * 32 == Prod * In",
        "Prod * In >= In",
    ),
    "convolution": (
        "Stride > 0, Kernel > 0, H + 2 * P >= Kernel",
        "(H + 2 * P - Kernel) / Stride + 1 > 0",
        "(H + 2 * P - Kernel) / Stride + 1 <= H + 2 * P",
        "(H + 2 * P - Kernel) / Stride * Stride + Kernel <= H + 2 * P",
    ),
    "a convolution that keeps the size": (
        "Kernel % 2 == 1",
        "H + 2 * (Kernel / 2) - Kernel + 1 == H",
        "(H + 2 * (Kernel / 2) - Kernel) / 1 + 1 == H",
    ),
    "patches": (
        "P > 0, H % P == 0, W % P == 0",
        "(H - P) / P + 1 == H / P",
        "H / P * P * (W / P * P) == H * W",
        "H / P * (W / P) * (P * P) == H * W",
        "B * (H / P) * (W / P) * (P * P * C) == B * C * H * W",
    ),
    "pooling by two": ("H % 2 == 0, H > 0", "(H - 2) / 2 + 1 == H / 2", "H / 2 > 0", "H / 2 < H"),
    "sharding": (
        "Shards > 0, Heads % Shards == 0, H == Heads * D",
        "H / Shards == Heads / Shards * D",
        "Heads / Shards * D * Shards == H",
        "H % Shards == 0",
        "Heads / Shards * Shards == Heads",
    ),
    "a cache": (
        "Past + S <= Capacity, S > 0",
        "Past < Capacity",
        "Past + S - 1 < Capacity",
        "Capacity - Past >= S",
        "Capacity > 0",
        "S <= Capacity",
        "min(Past + S, Capacity) == Past + S",
    ),
    "a window": (
        "W > 0, Past + S == T",
        "max(T - W, 0) <= T",
        "T - max(T - W, 0) <= W",
        "T - max(T - W, 0) == min(T, W)",
        "Past <= T",
        "T - S == Past",
    ),
    "a slice": ("From <= To, To <= S", "To - From <= S", "From <= S", "S - To >= 0"),
    "experts": (
        "TopK <= Experts, TopK > 0",
        "Experts > 0",
        "Experts != 0",
        "B * TopK <= B * Experts",
        "TopK - 1 < Experts",
    ),
    "a fused gate": (
        "GateUp == 2 * Inner, Inner % 32 == 0",
        "GateUp / 2 == Inner",
        "Inner + Inner == GateUp",
        "GateUp / 32 == 2 * (Inner / 32)",
        "GateUp - Inner == Inner",
        "Inner / 32 * 64 == GateUp",
    ),
}

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


@pytest.mark.parametrize(
    ("facts", "goal"),
    [(facts, goal) for facts, *goals in PROVEN.values() for goal in goals],
    ids=[f"{name}: {goal}" for name, (_, *goals) in PROVEN.items() for goal in goals],
)
def test_proven(facts: str, goal: str) -> None:
    assert answer(facts, goal) == Answer("proven")


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
