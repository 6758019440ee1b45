"""The prover must never prove a falsehood, nor refute what may be true."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given, settings

from linnet.dims import dims
from linnet.dims.dims import Symbol
from linnet.dims.prover import Facts
from linnet.dims.relations import Comparison

from .questions import SYMBOLS, Claim, questions, related
from .z3_answers import refuting

A, B, C, N = SYMBOLS
SMALL: list[dict[Symbol, int]] = [
    dict(zip(SYMBOLS, values, strict=True)) for values in product(range(6), repeat=4)
]
LARGE: list[dict[Symbol, int]] = [
    dict(zip(SYMBOLS, values, strict=True)) for values in product([7, 12, 30, 64], repeat=4)
]
NEGATION: dict[Comparison, Comparison] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}
Question = tuple[tuple[Claim, ...], Claim]

# `A - B` is a multiple of `N` that may be negative.
SIGNED = (Claim("==", ("%", ("-", A, B), N), 0), Claim(">", N, 0))
FALSEHOODS: list[Question] = [
    ((), Claim(">=", ("min", A, ("-", B, C)), 0)),
    (SIGNED, Claim("==", ("min", A, B), B)),
    (SIGNED, Claim("==", ("max", A, B), A)),
    (SIGNED, Claim(">=", ("min", ("/", ("-", A, B), N), 0), 0)),
]


def check(question: Question) -> None:
    """Every assignment of small numbers, and of some larger ones, agrees with the answer."""
    assumed, goal = question
    asked = related(assumed, goal)
    if asked is None:
        return
    found = Facts(asked[0]).prove(asked[1])
    if found.verdict != "unknown":
        for env in (*SMALL, *LARGE):
            if all(fact.holds(env) for fact in assumed):
                assert goal.holds(env) in (None, found.verdict == "proven"), env
    if found.counterexample is not None:
        # Symbols that cancel out, as in `A / A - A / A`, have no value there.
        env = {**dict.fromkeys(SYMBOLS, 0), **found.counterexample}
        assert all(fact.holds(env) is not False for fact in assumed)
        assert goal.holds(env) is not True


@given(questions())
@settings(max_examples=500, deadline=None)
def test_brute_force_agrees(question: Question) -> None:
    check(question)


@given(questions())
@settings(max_examples=150, deadline=None)
def test_brute_force_agrees_where_few_products_are_written_out(question: Question) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dims, "_MOST_TERMS", 1)
        patch.setattr(dims, "_HIGHEST_DEGREE", 2)
        check(question)


@given(questions())
@example(FALSEHOODS[1])
@settings(max_examples=200, deadline=None)
def test_z3_agrees(question: Question) -> None:
    assumed, goal = question
    asked = related(assumed, goal)
    verdict = "unknown" if asked is None else Facts(asked[0]).prove(asked[1]).verdict
    if verdict == "unknown":
        return
    against = Claim(NEGATION[goal.op], goal.left, goal.right) if verdict == "proven" else goal
    assert refuting(assumed, against, milliseconds=300) is None


@pytest.mark.parametrize("question", FALSEHOODS)
def test_a_falsehood_is_not_proven(question: Question) -> None:
    assumed, goal = question
    assert any(
        all(fact.holds(env) for fact in assumed) and goal.holds(env) is False for env in SMALL
    )
    asked = related(assumed, goal)
    assert asked is not None
    assert Facts(asked[0]).prove(asked[1]).verdict == "unknown"
    check(question)
