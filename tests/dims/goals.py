"""Reads `goals.txt`: what the prover must prove, and what it is known to leave open."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("goals.txt")


@dataclass(frozen=True)
class Goal:
    """A relation that follows from the facts of a case; whether the prover sees it."""

    case: str
    facts: str
    text: str
    proved: bool

    def __str__(self) -> str:
        return f"{self.case}: {self.text}"


def read() -> list[Goal]:
    """Every goal of the file, in order."""
    found: list[Goal] = []
    case = facts = ""
    for line in FILE.read_text("utf-8").split("\n\n", 1)[1].splitlines():
        if line.startswith("    "):
            text = line.strip()
            found.append(Goal(case, facts, text.removeprefix("? "), not text.startswith("? ")))
        elif line.startswith("  given "):
            facts = line.removeprefix("  given ").replace("nothing", "")
        elif line:
            case = line
    return found
