"""The accepted programs of `check` run, and give the values that they say (`values.py`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linnet.check.typed import Program
from linnet.packages.modules import LoadedModule
from linnet.pipeline import check_paths
from tests.backends.each import BACKENDS
from tests.golden.test_check import cases
from tests.golden.values import run, said_in

ACCEPTED = [case for case in cases() if case.stem.partition("_")[2].startswith("ok")]

# What has nothing that could run, and why.
NOTHING_RUNS = {
    "E1003_ok_comment": "a constant alone",
    "E2122_ok_order": "constants alone",
}


def runnable(program: Program, module: LoadedModule) -> set[str]:
    """The public functions and the entries of a module."""
    found: set[str] = set()
    for key, function in program.functions.items():
        home, _, name = key.partition("::")
        outside = function.block is None and function.public
        if home == module.key and (outside or function.kind == "entry"):
            found.add(name)
    return found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", ACCEPTED, ids=lambda p: p.stem)
def test_gives_what_it_says(case: Path, backend: str) -> None:
    result = check_paths([case])
    assert not list(result.sink)
    runs = 0
    for module in result.graph.roots:
        every = said_in(Path(module.file.path))
        assert {said.runs for said in every} == runnable(result.program, module)
        for said in every:
            found, told = run(result.program, module.key, said, backend)
            for got, wanted in zip(found, told, strict=True):
                assert got.shape == wanted.shape, said.line
                np.testing.assert_array_equal(got, wanted, said.line)
        runs += len(every)
    assert (runs == 0) == (case.stem in NOTHING_RUNS)


def test_what_does_not_run_is_there() -> None:
    assert {*NOTHING_RUNS} < {case.stem for case in ACCEPTED}
