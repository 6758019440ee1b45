"""Programs with the codes they get: `//~ E2103` stands on the line that is to blame.

`tests/golden/check/E2103_mixed.linnet` must get exactly the findings it marks,
and a file named `E2103_ok_*.linnet`, a near-miss, none. Several marks may
follow each other on a line: `//~ E2103 E2101`. A folder there is a package,
or a folder of packages, that is checked as a whole.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.codes import CODES
from linnet.source.render import render_text

CASES = Path(__file__).parent / "check"
MARK = re.compile(r"//~((?:[ \t]+[EW]\d{4})+)[ \t]*$")
Finding = tuple[str, int, str]

# These cannot be caused by a source file alone; tests of cards and checkpoints cause them.
ELSEWHERE = {"E5001", "E5002", "E5003", "E5004"}


def cases() -> list[Path]:
    return sorted(p for p in CASES.iterdir() if p.is_dir() or p.suffix == ".linnet")


def sources(case: Path) -> list[Path]:
    return sorted(case.rglob("*.linnet")) if case.is_dir() else [case]


def marked(case: Path) -> list[Finding]:
    """What the case says it gets: file, line, code."""
    found: list[Finding] = []
    for path in sources(case):
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").split("\n"), 1):
            mark = MARK.search(line.rstrip("\r"))
            if mark:
                found.extend((path.name, number, code) for code in mark[1].split())
    return sorted(found)


@pytest.mark.parametrize("case", cases(), ids=lambda p: p.stem)
def test_gets_the_codes_it_marks(case: Path) -> None:
    result = check_paths([case])
    found: list[Finding] = []
    for finding in result.sink:
        assert finding.span is not None, finding
        file = finding.span.file
        line = file.position(finding.span.start).line
        found.append((Path(file.path).name, line, finding.code))
        assert finding.message and not finding.message.endswith("."), finding
    assert sorted(found) == marked(case), "\n" + "\n".join(render_text(d) for d in result.sink)


def test_the_name_of_a_case_says_what_it_gets() -> None:
    for case in cases():
        code, _, rest = case.stem.partition("_")
        assert code in CODES, f"{case.name}: a case is named after its code"
        codes = {code for _, _, code in marked(case)}
        assert codes == (set() if rest.startswith("ok") else {code}), case.name


@pytest.mark.parametrize("code", sorted(set(CODES) - ELSEWHERE))
def test_every_code_has_a_program_and_a_near_miss(code: str) -> None:
    names = [case.stem for case in cases()]
    near = [n for n in names if n.startswith(f"{code}_ok")]
    wrong = [n for n in names if n.startswith(f"{code}_") and n not in near]
    assert wrong, f"no program gets {code}"
    assert near, f"no near-miss of {code}"
