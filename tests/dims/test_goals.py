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
CASES = list(dict.fromkeys((goal.case, goal.facts) for goal in GOALS))
PAGE = Path(__file__).parents[2] / "docs" / "prover.md"
# How many assignments must at least be tried, where the facts admit fewer than five.
LEAST = {"one value": 1, "a product that is small": 2, "contradiction": 0, "a false fact": 0}


@pytest.mark.parametrize(("case", "facts"), CASES, ids=[case for case, _ in CASES])
def test_goals_are_true(case: str, facts: str) -> None:
    goals = [(g.text, compiled(g.text)) for g in GOALS if g.case == case]
    count = 0
    for env in assignments(facts, " ".join(text for text, _ in goals)):
        assert [text for text, holds in goals if not holds(env)] == [], env
        count += 1
    assert count >= LEAST.get(case, 5)


@pytest.mark.parametrize(
    ("facts", "goal"),
    [
        ("N > 0", "N * (H / N) == H"),
        ("In % 32 == 0, I < In", "I / 32 < In / 32 - 1"),
        ("W > 0, Past + S == T", "T - max(T - W, 0) < W"),
        ("C > 0, S > 0, Chunks == (S + C - 1) / C, I < Chunks", "I * C + C <= S"),
        ("St > 0, H >= K, O == (H - K) / St + 1", "(O - 1) * St + K == H"),
    ],
)
def test_a_false_goal_would_be_noticed(facts: str, goal: str) -> None:
    assert not all(compiled(goal)(env) for env in assignments(facts, goal))


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
    assert len(GOALS) > 1100
    assert len({case for case, _ in CASES}) == len(CASES)
    assert GOALS[0] == Goal("polynomials", "", "B * S * (N * D) == N * D * S * B", True)


def test_the_page_lists_what_is_left_open() -> None:
    shown = re.findall(r"^    (.+?)  given (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    left_open = [(g.text, g.facts or "nothing") for g in GOALS if not g.proved]
    assert [(text.strip(), facts) for text, facts in shown] == left_open
