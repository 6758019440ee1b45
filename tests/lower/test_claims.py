"""Whatever a random program claims of its shapes: what the checker accepts holds for all numbers.

Accepted programs run in the interpreter, with their generics open and bound, and give what
Python says; numbers that are refused are refused with findings.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings

from linnet.lower.module import lower_function
from linnet.pipeline import check_paths
from linnet.source.errors import LinnetError
from linnet.source.render import render_text
from tests.backends.each import HERE, run
from tests.lower.claims import AbsentError, Env, Program, programs
from tests.lower.lowering import Source

ENVS: list[Env] = [
    dict(zip("ABC", numbers, strict=True)) for numbers in product((0, 1, 2, 3, 4, 6), repeat=3)
]


def outcome(program: Program, env: Env) -> np.ndarray | None:
    """What the program gives; None where it is refused."""
    try:
        return program.outcome(env)
    except AbsentError:
        return None


def computed(
    made: Source, program: Program, env: Env, generics: Env | None, backend: str
) -> np.ndarray:
    module = lower_function(made.program, "m::f", generics)
    symbols = {s: env[s.name] for s in module.symbols}
    (result,) = run(backend, module, program.arguments(env), symbols=symbols)
    return result


def accepted(program: Program, folder: Path) -> Source | None:
    """The checked program; None, after findings that can be shown, if it is refused."""
    path = folder / "m.linnet"
    path.write_text("module m\n" + program.text)
    result = check_paths([path])
    if result.sink.errors:
        assert all(d.span is not None and render_text(d) for d in result.sink)
        return None
    return Source(result.program)


def holds(made: Source, program: Program) -> None:
    expected = [(env, outcome(program, env)) for env in ENVS]  # raises `WrongError` where one is
    for env, value in [pair for pair in expected if pair[1] is not None][::9]:
        for generics, backend in product((None, env), HERE):
            found = computed(made, program, env, generics, backend)
            np.testing.assert_array_equal(found, value)
    for env, _ in [pair for pair in expected if pair[1] is None][::29]:
        try:
            lower_function(made.program, "m::f", env)
        except LinnetError as error:
            assert error.diagnostics


def test_what_is_accepted_holds(tmp_path: Path) -> None:
    verdicts = Counter[bool]()

    @settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(program=programs())
    def check(program: Program) -> None:
        made = accepted(program, tmp_path)
        verdicts[made is not None] += 1
        if made is not None:
            holds(made, program)

    check()
    assert min(verdicts[True], verdicts[False]) >= 10, verdicts
