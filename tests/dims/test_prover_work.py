"""Questions made to be hard end in "unknown", within an amount of work that is counted."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

import pytest

from linnet.dims.counts import product
from linnet.dims.dims import Dim, Symbol, dim_max, dim_min
from linnet.dims.prover import Facts, Relation
from tests.syntax.test_robustness import calls_made

# Calls of Python and C functions, in all: a few seconds.
MOST_CALLS = 20_000_000
# What a question of everyday size takes, with the facts still to be read.
EVERYDAY_CALLS = 60_000

Question = tuple[list[Relation], Relation]
ZERO = Dim.of(0)


def symbols(count: int) -> list[Dim]:
    return [Dim.of(Symbol(f"X{i}")) for i in range(count)]


def total(dims: list[Dim]) -> Dim:
    return sum(dims, ZERO)


def chain(count: int, step: Callable[[Dim], Dim]) -> Question:
    """Each symbol is made of the one before."""
    x = symbols(count + 1)
    facts = [Relation("==", x[i + 1], step(x[i])) for i in range(count)]
    return facts, Relation("==", x[-1], x[0])


def nested(count: int, step: Callable[[Dim], Dim]) -> Dim:
    dim = Dim.of(Symbol("N"))
    for _ in range(count):
        dim = step(dim)
    return dim


def deep(count: int, step: Callable[[Dim], Dim]) -> Question:
    return [], Relation("<=", nested(count, step), Dim.of(Symbol("M")))


def circle_of_inequalities() -> Question:
    x = symbols(400)
    return [Relation("<=", x[i], x[i + 1]) for i in range(399)], Relation("<=", x[-1], x[0])


def sums_of_minima() -> Question:
    x, y = symbols(30), symbols(30)
    return [], Relation(">=", total(list(map(dim_min, x, y))), total(x))


def one_minimum_of_many() -> Question:
    return [], Relation(">=", dim_min(*symbols(40)), dim_max(*symbols(40)))


def minima_of_minima() -> Question:
    facts: list[Relation] = []
    x = symbols(60)
    for i in range(58):
        facts.append(Relation("==", x[i + 2], dim_min(x[i], x[i + 1] + 1)))
    return facts, Relation("<", x[-1], x[0])


def minima_within_maxima() -> Question:
    dim = Dim.of(Symbol("N"))
    for first, second in zip(symbols(12), symbols(12), strict=True):
        dim = dim_max(dim_min(dim + first, second), second - first)
    return [], Relation("<=", dim, Dim.of(Symbol("M")))


def product_of_sums() -> Question:
    x, y = symbols(60), symbols(60)
    return [], Relation("==", product(a + b for a, b in zip(x, y, strict=True)), Dim.of(1))


def power_of_a_sum() -> Question:
    a, b = symbols(2)
    return [], Relation(">=", product([a + b + 1] * 80), a * b * 7 + 2)


def product_of_many() -> Question:
    x = symbols(20)
    return [Relation(">", d, ZERO) for d in x], Relation(">=", product(x), total(x))


def dense_inequalities() -> Question:
    x, drawn = symbols(40), random.Random(0)
    facts: list[Relation] = []
    for _ in x:
        left = total([d * drawn.randint(-9, 9) for d in x])
        facts.append(Relation("<=", left, Dim.of(drawn.randint(1, 99))))
    return facts, Relation("<=", x[0], ZERO)


def many_remainders() -> Question:
    x = symbols(30)
    return [], Relation("==", total([d // 2 + (d + 1) // 2 for d in x]), total(x) + 1)


def many_multiples() -> Question:
    x = symbols(20)
    facts = [Relation("==", d % (i + 2), ZERO) for i, d in enumerate(x)]
    return facts, Relation("==", product(x) % 1009, ZERO)


def equations_of_products() -> Question:
    x = symbols(30)
    facts = [Relation("==", x[i] * x[i + 1], x[(i + 2) % 30] * x[i] + 1) for i in range(len(x) - 1)]
    return facts, Relation("==", x[0], x[1])


def all_different() -> Question:
    x = symbols(20)
    facts = [Relation("!=", a, b) for i, a in enumerate(x) for b in x[:i]]
    return facts, Relation("!=", x[0] + x[1], x[2] * 2)


Y = Dim.of(Symbol("Y"))
QUESTIONS: dict[str, Callable[[], Question]] = {
    "circle of inequalities": circle_of_inequalities,
    "sums of minima": sums_of_minima,
    "one minimum of many": one_minimum_of_many,
    "minima of minima": minima_of_minima,
    "minima within maxima": minima_within_maxima,
    "product of sums": product_of_sums,
    "power of a sum": power_of_a_sum,
    "product of many": product_of_many,
    "dense inequalities": dense_inequalities,
    "many remainders": many_remainders,
    "many multiples": many_multiples,
    "equations of products": equations_of_products,
    "all different": all_different,
    "squares of squares": lambda: chain(200, lambda d: d * d),
    "halves of halves": lambda: chain(200, lambda d: (d + 1) // 2),
    "quotients of quotients": lambda: chain(200, lambda d: (d + 1) // Y),
    "minima in a chain": lambda: chain(200, lambda d: dim_min(d + 1, Y * d)),
    "deep quotients": lambda: deep(2000, lambda d: d // Y),
    "deep halves": lambda: deep(2000, lambda d: (d + 1) // 2),
    "deep remainders": lambda: deep(2000, lambda d: (d + 1) % Y),
    "deep extremes": lambda: deep(1000, lambda d: dim_min(dim_max(d - 1, Y) + 2, d * 2)),
    "deep squares": lambda: deep(300, lambda d: d * d + 1),
    "as deep as is looked at": lambda: deep(24, lambda d: dim_max(d // Y, (d + 1) // 2)),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_hard_question_ends_unanswered(name: str) -> None:
    found: list[str] = []

    def ask() -> None:
        facts, goal = QUESTIONS[name]()
        found.append(Facts(facts).prove(goal).verdict)

    assert calls_made(ask) < MOST_CALLS
    assert found == ["unknown"]


def test_literals_of_literals_end() -> None:
    facts, goal = chain(200, lambda d: d * d)
    facts.insert(0, Relation("==", goal.right, Dim.of(1000)))
    assert calls_made(lambda: Facts(facts).prove(goal)) < MOST_CALLS


def divided(dim: Dim) -> Dim:
    return dim // Y


def mixed(dim: Dim) -> Dim:
    return dim_max(dim - 1, Y) * 2 % (Y + 1)


@pytest.mark.parametrize("step", [divided, mixed])
def test_deep_dimensions_of_one_kind_are_equal(step: Callable[[Dim], Dim]) -> None:
    first = Dim.of(Symbol("N"))
    second = first
    for _ in range(500):
        first = step(first)
    for _ in range(500):
        second = step(second)
    assert first == second and hash(first) == hash(second)
    assert first.key == second.key and first != second + 1
    assert Facts().equal(first, second)
    assert first.symbols() == second.symbols()


def test_an_everyday_question_takes_little() -> None:
    h, k, p, s = symbols(4)

    def ask() -> None:
        facts = Facts([Relation(">", s, ZERO), Relation(">=", h + 2 * p, k)])
        out = (h + 2 * p - k) // s + 1
        assert facts.implies(Relation("<=", (out - 1) * s + k, h + 2 * p))

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # Python's own, which libraries raise
    try:
        ask()
    finally:
        sys.setrecursionlimit(before)
    assert calls_made(ask) < EVERYDAY_CALLS
