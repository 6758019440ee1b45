"""Programs with the findings they get: `//~ E2103 `+`` ends the line that is to blame
(`marks.py`).

`tests/golden/check/E2103_mixed.linnet` must get exactly the findings it marks, at exactly those
places, and a file named `E2103_ok_*.linnet`, a near-miss, none. A folder there is a package, or a
folder of packages, that is checked as a whole.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.codes import CODES
from linnet.source.render import render_text
from tests.golden.marks import marked, marks_of, sources, text_of, without_mark, write_marks

CASES = Path(__file__).parent / "check"
FEW = 2

# No check of a source file alone gives these: `tests/nest/test_codes.py` and `test_lint.py` have
# their pairs.
ELSEWHERE = {code for code in CODES if code.startswith(("E5", "W2"))}

# What is wrong here, one sees at once; what to do, one may not: these name a way out.
HELPED = {
    *("E2102", "E2105", "E2107", "E2108", "E2109", "E2120"),
    *("E2202", "E2204", "E2205", "E2209", "E2210"),
}


def cases() -> list[Path]:
    return sorted(p for p in CASES.iterdir() if p.is_dir() or p.suffix == ".linnet")


def codes_of(case: Path) -> set[str]:
    """The codes that a case marks."""
    return {code for *_, mark in marked(case) for code in re.findall(r"([EW]\d{4}) `", mark)}


@pytest.mark.parametrize("case", cases(), ids=lambda p: p.stem)
def test_gets_what_it_marks(case: Path) -> None:
    sink = check_paths([case]).sink
    found = marks_of(sink)
    write_marks(case, found)
    assert found == marked(case), "\n" + "\n".join(render_text(d) for d in sink)
    for finding in sink:
        assert finding.message and not finding.message.endswith("."), finding
        assert finding.help or finding.code not in HELPED, finding


def test_the_name_of_a_case_says_what_it_gets() -> None:
    for case in cases():
        code, _, rest = case.stem.partition("_")
        assert code in CODES, f"{case.name}: a case is named after its code"
        assert codes_of(case) == (set() if rest.startswith("ok") else {code}), case.name


def lines(case: Path) -> list[str]:
    """The lines of all files of a case, named, without the marks and what else is no program."""
    found: list[str] = []
    for path in sources(case):
        name = path.relative_to(case).as_posix() if case.is_dir() else ""
        for line in text_of(path).splitlines():
            text = without_mark(line).rstrip()
            if text and not text.lstrip().startswith("//"):
                found.append(f"{name}: {text}")
    return found


def distance(wrong: Path, near: Path) -> int:
    """How many lines of a program change to make the other."""
    matcher = SequenceMatcher(None, lines(wrong), lines(near), autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")


@pytest.mark.parametrize("code", sorted(set(CODES) - ELSEWHERE))
def test_every_code_has_a_program_and_a_near_miss(code: str) -> None:
    """A near-miss is near: it says that the finding is due to the few lines that differ."""
    mine = [case for case in cases() if case.stem.startswith(f"{code}_")]
    near = [case for case in mine if case.stem.startswith(f"{code}_ok")]
    wrong = [case for case in mine if case not in near]
    assert wrong, f"no program gets {code}"
    assert near, f"no near-miss of {code}"
    least = min(distance(w, n) for w in wrong for n in near)
    assert least <= FEW, f"the nearest of {code} is {least} lines away"
