"""What the prover must prove, and what it is known to leave open: strict in both directions."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from linnet.dims.prover import Answer

from .goals import Goal, read
from .reading import answer, assignments, compiled

GOALS = read()
PAGE = Path(__file__).parents[2] / "docs" / "prover.md"
# How many assignments must at least be tried, where the facts admit fewer than five.
LEAST = {"one value": 1, "contradiction": 0, "a false fact": 0}


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_goal_is_true(goal: Goal) -> None:
    holds = compiled(goal.text)
    count = 0
    for env in assignments(goal.facts, goal.text):
        assert holds(env), env
        count += 1
    assert count >= LEAST.get(goal.case, 5)


@pytest.mark.parametrize("goal", [g for g in GOALS if g.proved], ids=str)
def test_goal_is_proved(goal: Goal) -> None:
    assert answer(goal.facts, goal.text) == Answer("proven")


@pytest.mark.parametrize("goal", [g for g in GOALS if not g.proved], ids=str)
def test_goal_is_left_open(goal: Goal) -> None:
    """Whoever makes one of these provable takes the `?` away from its line."""
    assert answer(goal.facts, goal.text) == Answer("unknown")


def test_every_goal_is_read_and_stands_once() -> None:
    lines = [f"{g.facts} |- {g.text}" for g in GOALS]
    assert [line for line, count in Counter(lines).items() if count > 1] == []
    assert len(GOALS) > 700
    assert GOALS[0] == Goal("polynomials", "", "B * S * (N * D) == N * D * S * B", True)


def test_the_page_lists_what_is_left_open() -> None:
    shown = re.findall(r"^    (.+?)  given (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    left_open = [(g.text, g.facts or "nothing") for g in GOALS if not g.proved]
    assert [(text.strip(), facts) for text, facts in shown] == left_open
