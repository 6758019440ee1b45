"""Programs with what `linnet lint` says of them: `lint/W2001_generic.linnet` gets exactly the
findings it marks, and `W2001_ok_generic.linnet`, a near-miss, none."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.lint.lint import LINTS, lint
from linnet.pipeline import check_paths
from linnet.source.codes import CODES
from linnet.source.render import render_text
from tests.golden.marks import MARK, marked, marks_of, write_marks
from tests.golden.test_check import FEW, cases, codes_of, distance

CASES = sorted((Path(__file__).parent / "lint").glob("*.linnet"))
OURS = [code for code in CODES if code.startswith("W2")]


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.stem)
def test_gets_what_it_marks(case: Path) -> None:
    result = check_paths([case])
    every = [*result.sink, *lint(result.graph.modules, result.program)]
    found = marks_of(every)
    write_marks(case, found)
    assert found == marked(case), "\n" + "\n".join(map(render_text, every))
    for finding in every:
        assert finding.message and not finding.message.endswith("."), finding


def test_the_name_of_a_case_says_what_it_gets() -> None:
    for case in CASES:
        code, _, rest = case.stem.partition("_")
        assert codes_of(case) == (set() if rest.startswith("ok") else {code}), case.name


@pytest.mark.parametrize("code", OURS)
def test_every_code_has_a_program_and_a_near_miss(code: str) -> None:
    mine = [case for case in CASES if case.stem.startswith(f"{code}_")]
    near = [case for case in mine if case.stem.startswith(f"{code}_ok")]
    wrong = [case for case in mine if case not in near]
    assert wrong and near
    assert min(distance(w, n) for w in wrong for n in near) <= FEW


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.stem.startswith("W2010")], ids=lambda p: p.stem
)
def test_a_relation_that_follows_is_not_needed(case: Path, tmp_path: Path) -> None:
    """Without the relations that W2010 marks, all that was proven is proven."""
    lines = case.read_text("utf-8").splitlines(keepends=True)
    shorter = tmp_path / case.name
    shorter.write_text("".join(line for line in lines if MARK not in line), "utf-8")
    result = check_paths([shorter])
    assert list(result.sink) == lint(result.graph.modules, result.program) == []


def test_there_is_a_lint_for_each_code() -> None:
    assert len(LINTS) == len(set(LINTS)) == len(OURS)


def test_every_program_of_the_check_may_be_linted() -> None:
    """Whatever is right gets findings at most, each at a place in a text of its own."""
    linted = 0
    for case in cases():
        result = check_paths([case])
        if result.sink.errors:
            continue
        linted += 1
        own = {module.file for module in result.graph.roots}
        for finding in lint(result.graph.modules, result.program):
            assert finding.code in OURS
            assert finding.span is not None and finding.span.file in own, case.name
    assert linted > 100
